//===- SmallTokenizer.h - A small tokenizer.json ----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_UNITTESTS_RUNTIME_SMALLTOKENIZER_H
#define MMX_UNITTESTS_RUNTIME_SMALLTOKENIZER_H

#include <nlohmann/json.hpp>

#include <string>

namespace mmx::test {

/// A token for every byte, which is its id; "he" 256 and "hel" 257, which are
/// merges; the added token "<s>" 258.
inline nlohmann::json smallTokenizer() {
  nlohmann::json vocabulary;
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    bool visible = (byte >= 0x21 && byte <= 0x7e) ||
                   (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    int character = visible ? byte : next++;
    std::string token(1, char(character));
    if (character >= 0x80)
      token = {char(0xc0 | character >> 6), char(0x80 | (character & 0x3f))};
    vocabulary[token] = byte;
  }
  vocabulary["he"] = 256;
  vocabulary["hel"] = 257;
  return {
      {"model", {{"vocab", vocabulary}, {"merges", {"h e", "he l"}}}},
      {"added_tokens", {{{"id", 258}, {"content", "<s>"}}}},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}}};
}

} // namespace mmx::test

#endif // MMX_UNITTESTS_RUNTIME_SMALLTOKENIZER_H
