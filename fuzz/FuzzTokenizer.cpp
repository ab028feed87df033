//===- FuzzTokenizer.cpp - The runtime reads a tokenizer.json -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryFile.h"

#include "runtime/support/Error.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <cstdlib>

using namespace mmx::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mmx::fuzz::MemoryFile file;
  file.set(data, size);
  try {
    Tokenizer tokenizer(file.path());
    for (std::string_view text : {"Hello, w\xc3\xb6rld 12345\n", "\xff\xc3"})
      tokenizer.decode(tokenizer.encode(text));
  } catch (const Error &) {
  }
  return 0;
}
