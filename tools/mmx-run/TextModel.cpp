//===- TextModel.cpp - The text half of a model ---------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextModel.h"

#include "runtime/chat/Chat.h"
#include "runtime/support/Error.h"
#include "runtime/support/JsonText.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace mmx::runtime;
using namespace mmx::tool;
using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

static Tokenizer openTokenizer(const std::string &directory) {
  if (!fs::exists(fs::path(directory) / "tokenizer.json"))
    fail(directory, ": expected a tokenizer.json, to read and write text; "
                    "put the model's there, or use --ids");
  return Tokenizer::open(directory);
}

TextModel::TextModel(const std::string &directory)
    : directory(directory), theTokenizer(openTokenizer(directory)) {}

bool mmx::tool::hasTextPrompts(const GenerateOptions &options) {
  return !options.texts.empty() || !options.promptFiles.empty() ||
         !options.chat.empty() || !options.system.empty();
}

std::string mmx::tool::readText(const std::string &file) {
  if (file == "-")
    return {std::istreambuf_iterator<char>(std::cin), {}};
  if (!fs::is_regular_file(file))
    fail(file, ": expected a file");
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream)
    fail(file, ": cannot be read");
  return text;
}

/// The length of the UTF-8 character that `text` begins with; 0: there is none.
static size_t characterLength(std::string_view text) {
  auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  unsigned lead = byte(0);
  if (lead < 0x80)
    return 1;
  size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (length == 0 || lead > 0xf4)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  // Longer than needed, surrogates, beyond U+10FFFF.
  bool wrong =
      (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) ||
      (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f);
  return wrong ? 0 : length;
}

void mmx::tool::checkUtf8(std::string_view text, const std::string &what) {
  for (size_t at = 0; at < text.size();) {
    size_t length = characterLength(text.substr(at));
    if (length == 0)
      fail(what, ": expected UTF-8, but byte ", at, " is part of no ",
           "character; convert the text first, with iconv for example");
    at += length;
  }
}

std::vector<int32_t>
TextModel::chatPrompt(const GenerateOptions &options) const {
  json conversation = json::array();
  if (!options.chat.empty()) {
    std::string text = readText(options.chat);
    checkUtf8(text, options.chat);
    refuseDeepJson(text, options.chat);
    try {
      conversation = json::parse(text);
    } catch (const json::exception &error) {
      fail(options.chat, ": ", error.what());
    }
  }
  json system = {{"role", "system"}, {"content", options.system}};
  json *messages = conversation.is_object() && conversation.contains("messages")
                       ? &conversation["messages"]
                       : &conversation;
  if (!options.system.empty() && messages->is_array())
    messages->insert(messages->begin(), system);
  // --system makes of a prompt the user's part of a conversation.
  for (const std::string &text : options.texts)
    if (messages->is_array())
      messages->push_back({{"role", "user"}, {"content", text}});
  std::string config = readText((fs::path(directory) / "config.json").string());
  return encodeChat(
      theTokenizer,
      renderChat(chatFormatOf(config), conversation.dump(), /*answer=*/true),
      options.controlInMessages);
}

std::vector<std::vector<int32_t>>
TextModel::prompts(const GenerateOptions &options) const {
  for (const std::string &text : options.texts)
    checkUtf8(text, "--prompt");
  checkUtf8(options.system, "--system");
  if (!options.chat.empty() || !options.system.empty())
    return {chatPrompt(options)};
  std::vector<std::vector<int32_t>> result;
  for (const std::string &text : options.texts)
    result.push_back(theTokenizer.encode(text));
  for (const std::string &file : options.promptFiles) {
    std::string text = readText(file);
    checkUtf8(text, file);
    result.push_back(theTokenizer.encode(text));
  }
  return result;
}

/// An object; null if the file is missing.
static json readConfig(const fs::path &file) {
  if (!fs::exists(file))
    return nullptr;
  std::string text = readText(file.string());
  refuseDeepJson(text, file.string());
  json config = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object())
    fail(file.string(), ": expected a JSON object");
  return config;
}

std::vector<int32_t> TextModel::stopIds() const {
  std::vector<int32_t> ids;
  auto add = [&](const json &id) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 ||
        id.get<int64_t>() > INT32_MAX)
      fail(directory,
           "/generation_config.json: expected eos_token_id as an id "
           "or a list of ids, but got ",
           shortJson(id));
    ids.push_back(id.get<int32_t>());
  };
  json generation = readConfig(fs::path(directory) / "generation_config.json");
  if (generation.is_object() && generation.contains("eos_token_id")) {
    const json &eos = generation["eos_token_id"];
    if (eos.is_array())
      for (const json &id : eos)
        add(id);
    else if (!eos.is_null())
      add(eos);
  }
  if (!ids.empty())
    return ids;
  json config = readConfig(fs::path(directory) / "tokenizer_config.json");
  std::string token = "<end_of_sentence>";
  if (config.is_object() && config.contains("eos_token")) {
    const json &eos = config["eos_token"];
    if (eos.is_string())
      token = eos;
    else if (eos.is_object() && eos.contains("content") &&
             eos["content"].is_string())
      token = eos["content"];
  }
  if (auto id = theTokenizer.find(token))
    ids.push_back(*id);
  return ids;
}
