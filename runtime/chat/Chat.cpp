//===- Chat.cpp - Conversations as the text a model was trained on --------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/chat/Chat.h"

#include "runtime/support/Error.h"
#include "runtime/support/JsonText.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace mmx::runtime;
using json = nlohmann::ordered_json;

static constexpr const char *begin = "<beginning_of_sentence>";
static constexpr const char *end = "<end_of_sentence>\n";

/// JSON as the templates write it: a space after every comma and colon.
static std::string spacedJson(const json &value) {
  if (!value.is_structured())
    return value.dump();
  std::string text;
  for (const auto &[key, inner] : value.items()) {
    text += text.empty() ? "" : ", ";
    if (value.is_object())
      text += json(key).dump() + ": ";
    text += spacedJson(inner);
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

namespace {

struct Part {
  std::string name, text;
};

struct Message {
  std::string role;
  std::vector<Part> parts;
};

/// Collects pieces; neighbours of one kind become one.
class Writer {
public:
  void control(std::string_view text) { add(true, text); }
  void text(std::string_view text) { add(false, text); }
  void turn(std::string_view role, std::string_view content) {
    control(begin);
    control(role);
    control("\n");
    text(content);
    control(end);
  }
  std::vector<ChatPiece> take() { return std::move(pieces); }

private:
  void add(bool control, std::string_view text) {
    if (text.empty())
      return;
    if (pieces.empty() || pieces.back().control != control)
      pieces.push_back({control, ""});
    pieces.back().text += text;
  }
  std::vector<ChatPiece> pieces;
};

} // namespace

static Message readMessage(const json &value, size_t number) {
  auto expect = [&](bool holds, const char *what) {
    if (!holds)
      fail("message ", number, ": expected ", what);
  };
  expect(value.is_object(), "an object with role and content");
  expect(value.contains("role") && value["role"].is_string(), "a role");
  Message message{value["role"], {}};
  static const char *roles[] = {"system", "user", "assistant", "tool"};
  if (std::ranges::find(roles, message.role) == std::end(roles))
    fail("message ", number, ": expected the role system, user, assistant or ",
         "tool, but got ", message.role);
  expect(value.contains("content"), "content");
  const json &content = value["content"];
  if (content.is_string()) {
    std::string name;
    if (value.contains("name") && value["name"].is_string())
      name = value["name"];
    message.parts.push_back({name, content});
    return message;
  }
  expect(content.is_array() && !content.empty(),
         "content that is text or a list of parts");
  for (const json &part : content) {
    expect(part.is_object() && part.contains("type") && part["type"] == "text",
           "parts of type text");
    expect(part.contains("text") && part["text"].is_string(),
           "a part with text");
    Part read{"", part["text"]};
    if (part.contains("name") && part["name"].is_string())
      read.name = part["name"];
    message.parts.push_back(std::move(read));
  }
  return message;
}

static std::string allText(const Message &message) {
  std::string text;
  for (const Part &part : message.parts)
    text += part.text;
  return text;
}

static void writeM1Tools(const json &tools, Writer &writer) {
  writer.control(begin);
  writer.control("system tool_setting=tools\n"
                 "You are provided with these tools:\n<tools>\n");
  for (const json &tool : tools)
    writer.text(spacedJson(tool) + "\n");
  writer.control(
      "</tools>\n\nIf you need to call tools, please respond with "
      "<tool_calls></tool_calls> XML tags, and provide tool-name and "
      "json-object of arguments, following the format below:\n<tool_calls>\n"
      "{name: <tool-name-1>, arguments: <args-json-object-1>}\n...\n"
      "</tool_calls>");
  writer.control(end);
}

/// Of a user's message the template reads the first part.
static void writeM1(const std::vector<Message> &messages, const json &tools,
                    Writer &writer) {
  writer.control("<begin_of_document>");
  std::string system;
  for (const Message &message : messages)
    if (message.role == "system")
      system += message.parts.front().text;
  if (!system.empty())
    writer.turn("system ai_setting=assistant", system);
  if (!tools.empty())
    writeM1Tools(tools, writer);
  for (const Message &message : messages) {
    if (message.role == "user") {
      writer.turn("user name=user", message.parts.front().text);
    } else if (message.role == "assistant") {
      // What the model wrote may hold calls of tools.
      writer.control(begin);
      writer.control("ai name=assistant\n");
      writer.text(allText(message));
      writer.control(end);
    } else if (message.role == "tool") {
      writer.control(begin);
      writer.control("tool name=tools\n");
      for (const Part &part : message.parts) {
        writer.control("tool name: ");
        writer.text(part.name);
        writer.control("\ntool result: ");
        writer.text(part.text);
        writer.control("\n\n");
      }
      writer.control(end);
    }
  }
}

static void writeText01(const std::vector<Message> &messages, const json &tools,
                        Writer &writer) {
  for (const Message &message : messages) {
    if (message.role == "system") {
      writer.turn("system ai_setting=assistant", message.parts.front().text);
    } else if (message.role == "user") {
      writer.turn("user name=user", message.parts.front().text);
    } else if (message.role == "assistant") {
      writer.turn("ai name=assistant", message.parts.front().text);
    } else {
      for (const Part &part : message.parts)
        writer.turn("system function_response=functions",
                    "{\"name\": " + json(part.name).dump() +
                        ", \"response\": " + json(part.text).dump() + "}");
    }
  }
  if (!tools.empty())
    writer.turn("system function_setting=functions", spacedJson(tools));
}

ChatFormat mmx::runtime::chatFormatOf(const std::string &config) {
  refuseDeepJson(config, "config.json");
  json root = json::parse(config, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object())
    fail("config.json: expected an object");
  if (root.contains("model_type") && root["model_type"] == "minimax_m1")
    return ChatFormat::M1;
  if (root.contains("architectures") && root["architectures"].is_array())
    for (const json &name : root["architectures"])
      if (name.is_string() && name.get<std::string>().starts_with("MiniMaxM1"))
        return ChatFormat::M1;
  return ChatFormat::Text01;
}

std::vector<ChatPiece> mmx::runtime::renderChat(ChatFormat format,
                                                std::string_view conversation,
                                                bool answer) {
  json root, tools = json::array();
  refuseDeepJson(conversation, "the conversation");
  try {
    root = json::parse(conversation);
  } catch (const json::exception &error) {
    fail("the conversation is not JSON: ", error.what());
  }
  if (root.is_object()) {
    if (root.contains("tools") && !root["tools"].is_null())
      tools = root["tools"];
    if (!tools.is_array())
      fail("expected tools as a list");
    root = root.contains("messages") ? json(root["messages"]) : json();
  }
  if (!root.is_array() || root.empty())
    fail("expected a list of messages, or an object with messages");
  std::vector<Message> messages;
  for (const json &message : root)
    messages.push_back(readMessage(message, messages.size()));
  Writer writer;
  if (format == ChatFormat::M1)
    writeM1(messages, tools, writer);
  else
    writeText01(messages, tools, writer);
  if (answer) {
    writer.control(begin);
    writer.control("ai name=assistant\n");
  }
  return writer.take();
}

std::string mmx::runtime::chatText(const std::vector<ChatPiece> &pieces) {
  std::string text;
  for (const ChatPiece &piece : pieces)
    text += piece.text;
  return text;
}

std::vector<int32_t>
mmx::runtime::encodeChat(const Tokenizer &tokenizer,
                         const std::vector<ChatPiece> &pieces,
                         bool controlInMessages) {
  if (controlInMessages)
    return tokenizer.encode(chatText(pieces));
  // Text is cut at control tokens only, so that ids are those of the whole
  // text wherever messages hold none.
  std::vector<TextPiece> parts;
  for (const ChatPiece &piece : pieces)
    parts.push_back({piece.text, piece.control});
  return tokenizer.encode(parts);
}
