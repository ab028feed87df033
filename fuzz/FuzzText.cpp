//===- FuzzText.cpp - A tokenizer encodes any bytes -----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Tokenizer.h"

#include <cstdlib>

using namespace mmx::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Tokenizer tokenizer(MMX_FUZZ_TOKENIZER);
  std::string_view text(reinterpret_cast<const char *>(data), size);
  if (tokenizer.decode(tokenizer.encode(text)) != text)
    std::abort();
  return 0;
}
