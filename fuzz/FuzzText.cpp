//===- FuzzText.cpp - Tokenizers encode any bytes -------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Tokenizer.h"

#include <cstdlib>

using namespace mmx::runtime;

static void check(const Tokenizer &tokenizer, std::string_view text) {
  if (tokenizer.decode(tokenizer.encode(text)) != text)
    std::abort();
  // Text is text in one piece or in two.
  TextPiece whole{text, /*control=*/false};
  TextPiece halves[] = {{text.substr(0, text.size() / 2), false},
                        {text.substr(text.size() / 2), false}};
  std::vector<int32_t> ids = tokenizer.encode({&whole, 1});
  if (tokenizer.decode(ids) != text || tokenizer.encode(halves) != ids)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Tokenizer byteLevel(MMX_FUZZ_TOKENIZERS "/bpe1k_tokenizer.json"),
      split(MMX_FUZZ_TOKENIZERS "/bpe1k_split_tokenizer.json");
  std::string_view text(reinterpret_cast<const char *>(data), size);
  check(byteLevel, text);
  check(split, text);
  return 0;
}
