//===- FuzzTokenizer.cpp - The runtime reads a tokenizer.json -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input is a file, or, after a plus sign, changes (RFC 7396) to a file that is
// good: few random files have a token for every byte.
//
//===----------------------------------------------------------------------===//

#include "MemoryFile.h"

#include "runtime/support/Error.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <nlohmann/json.hpp>

using namespace mmx::runtime;
using nlohmann::json;

/// A token for every byte, and two merges.
static json goodFile() {
  json vocabulary;
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

static void check(const std::string &file) {
  Tokenizer tokenizer(file);
  for (std::string_view text :
       {"Hello, w\xc3\xb6rld 12345\n<s>  hell", "\xff\xc3"})
    tokenizer.decode(tokenizer.encode(text));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mmx::fuzz::MemoryFile file;
  static const json good = goodFile();
  std::string_view text(reinterpret_cast<const char *>(data), size);
  std::string changed;
  if (text.starts_with('+')) {
    json changes = json::parse(text.substr(1), nullptr,
                               /*allow_exceptions=*/false);
    if (changes.is_discarded())
      return 0;
    json root = good;
    root.merge_patch(changes);
    changed = root.dump(-1, ' ', false, json::error_handler_t::replace);
    text = changed;
  }
  file.set(text.data(), text.size());
  try {
    check(file.path());
  } catch (const Error &) {
  }
  return 0;
}
