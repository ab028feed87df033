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
#include "unittests/runtime/SmallTokenizer.h"

#include <nlohmann/json.hpp>

using namespace mmx::runtime;
using nlohmann::json;

static void check(const std::string &file) {
  Tokenizer tokenizer(file);
  for (std::string_view text :
       {"Hello, w\xc3\xb6rld 12345\n<s>  hell", "\xff\xc3"})
    tokenizer.decode(tokenizer.encode(text));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mmx::fuzz::MemoryFile file;
  static const json good = mmx::test::smallTokenizer();
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
