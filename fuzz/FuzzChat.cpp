//===- FuzzChat.cpp - The runtime reads conversations ---------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/chat/Chat.h"
#include "runtime/support/Error.h"

#include <cstdlib>

using namespace mmx::runtime;

static void check(const Tokenizer &tokenizer, ChatFormat format,
                  std::string_view conversation) {
  std::vector<ChatPiece> pieces;
  try {
    pieces = renderChat(format, conversation, /*answer=*/true);
  } catch (const Error &) {
    return;
  }
  std::string text = chatText(pieces);
  for (bool controlInMessages : {false, true})
    if (tokenizer.decode(encodeChat(tokenizer, pieces, controlInMessages)) !=
        text)
      std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Tokenizer tokenizer(MMX_FUZZ_TOKENIZERS
                                   "/bpe1k_split_tokenizer.json");
  std::string_view text(reinterpret_cast<const char *>(data), size);
  check(tokenizer, ChatFormat::Text01, text);
  check(tokenizer, ChatFormat::M1, text);
  try {
    chatFormatOf(std::string(text));
  } catch (const Error &) {
  }
  return 0;
}
