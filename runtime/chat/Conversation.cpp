//===- Conversation.cpp - A conversation as ids ---------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/chat/Conversation.h"

#include "runtime/support/Error.h"

#include <nlohmann/json.hpp>

using namespace mmx::runtime;
using json = nlohmann::ordered_json;

/// The text with U+FFFD for what is not UTF-8: an answer may end anywhere.
static std::string replaceInvalid(const std::string &text) {
  return json::parse(
      json(text).dump(-1, ' ', false, json::error_handler_t::replace));
}

/// The pieces without the first `count` bytes.
static std::vector<ChatPiece> dropBytes(std::vector<ChatPiece> pieces,
                                        size_t count) {
  size_t number = 0;
  while (number < pieces.size() && count >= pieces[number].text.size())
    count -= pieces[number++].text.size();
  pieces.erase(pieces.begin(), pieces.begin() + number);
  if (count > 0)
    pieces.front().text.erase(0, count);
  return pieces;
}

void Conversation::add(std::string role, std::string text) {
  messages.push_back({std::move(role), std::move(text)});
  try {
    json(messages.back().text).dump();
  } catch (const json::exception &) {
    messages.pop_back();
    fail("expected a message in UTF-8");
  }
}

void Conversation::clear() {
  messages.clear();
  knownText.clear();
  knownIds.clear();
}

std::vector<ChatPiece> Conversation::render() const {
  json list = json::array();
  for (const Message &message : messages)
    list.push_back({{"role", message.role}, {"content", message.text}});
  return renderChat(format, list.dump(), /*answer=*/true);
}

std::vector<int32_t>
Conversation::idsOf(const std::vector<ChatPiece> &pieces) const {
  return encodeChat(tokenizer, pieces, controlInMessages);
}

std::vector<int32_t> Conversation::prompt() const {
  std::vector<ChatPiece> pieces = render();
  // A message of the system may change what stands before.
  if (knownText.empty() || !chatText(pieces).starts_with(knownText))
    return idsOf(pieces);
  std::vector<int32_t> ids = knownIds,
                       rest = idsOf(dropBytes(pieces, knownText.size()));
  ids.insert(ids.end(), rest.begin(), rest.end());
  return ids;
}

void Conversation::addAnswer(std::span<const int32_t> ids) {
  keep(ids, replaceInvalid(tokenizer.decode(ids)));
}

void Conversation::addAnswer(std::string text) {
  text = replaceInvalid(text);
  TextPiece piece{text, controlInMessages};
  keep(tokenizer.encode({&piece, 1}), std::move(text));
}

void Conversation::keep(std::span<const int32_t> ids, std::string text) {
  // After the answer stands the token that ends a turn: text on both sides of
  // it is cut into ids apart.
  std::vector<int32_t> known = prompt();
  known.insert(known.end(), ids.begin(), ids.end());
  knownText = chatText(render()) + text;
  knownIds = std::move(known);
  messages.push_back({"assistant", std::move(text)});
}
