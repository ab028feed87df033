//===- FuzzConversation.cpp - Chats add messages and answers --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The first byte chooses the format and whether control tokens in messages
// count. The rest is cut at zeros: messages and answers take turns.
//
//===----------------------------------------------------------------------===//

#include "runtime/chat/Conversation.h"
#include "runtime/support/Error.h"

#include <cstdlib>

using namespace mmx::runtime;

/// The answer `text` as ids: in two halves, as a model may write it.
static std::vector<int32_t> answerIds(const Tokenizer &tokenizer,
                                      std::string_view text) {
  std::vector<int32_t> ids = tokenizer.encode(text.substr(0, text.size() / 2));
  std::vector<int32_t> rest = tokenizer.encode(text.substr(text.size() / 2));
  ids.insert(ids.end(), rest.begin(), rest.end());
  return ids;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Tokenizer tokenizer(MMX_FUZZ_TOKENIZERS
                                   "/bpe1k_split_tokenizer.json");
  if (size == 0)
    return 0;
  Conversation chat(tokenizer,
                    data[0] & 1 ? ChatFormat::M1 : ChatFormat::Text01,
                    /*controlInMessages=*/data[0] & 2);
  std::string_view rest(reinterpret_cast<const char *>(data) + 1, size - 1);
  std::vector<int32_t> before;
  try {
    for (int turn = 0; !rest.empty() && turn < 16; ++turn) {
      size_t end = std::min(rest.find('\0'), rest.size());
      std::string_view text = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (turn % 2 == 0) {
        chat.add("user", std::string(text));
        std::vector<int32_t> prompt = chat.prompt();
        // What has been computed for the last prompt can be used for this one.
        if (prompt.size() < before.size() ||
            !std::equal(before.begin(), before.end(), prompt.begin()))
          std::abort();
        before = prompt;
      } else if (data[0] & 4) {
        chat.addAnswer(std::string(text));
      } else {
        chat.addAnswer(answerIds(tokenizer, text));
      }
    }
  } catch (const Error &) {
  }
  return 0;
}
