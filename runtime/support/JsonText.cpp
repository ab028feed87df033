//===- JsonText.cpp - JSON that strangers wrote ---------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/JsonText.h"

#include "runtime/support/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace mmx::runtime;

static constexpr int64_t maxLevels = 64;

void mmx::runtime::refuseDeepJson(std::string_view text,
                                  std::string_view name) {
  int64_t level = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++level);
    } else if (c == ']' || c == '}') {
      --level;
    }
  }
  if (deepest > maxLevels)
    fail(name, name.empty() ? "" : ": ", "expected JSON nested at most ",
         maxLevels, " levels deep, but got ", deepest);
}

std::string mmx::runtime::shortJson(const nlohmann::json &value) {
  std::string text =
      value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() <= 60)
    return text;
  // Not inside a character.
  size_t length = 57;
  while ((text[length] & 0xc0) == 0x80)
    --length;
  return text.substr(0, length) + "...";
}
