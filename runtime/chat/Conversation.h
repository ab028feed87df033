//===- Conversation.h - A conversation as ids -------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages and answers in turn. What the model wrote keeps the ids that it
// wrote, which need not be those of the same text, so that the ids of one
// prompt and its answer begin the next prompt.
//
// The tokenizer is borrowed and must outlive the conversation. One thread at a
// time. Errors: Error, for text that is not UTF-8; nothing changes then.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_CHAT_CONVERSATION_H
#define MMX_RUNTIME_CHAT_CONVERSATION_H

#include "runtime/chat/Chat.h"

namespace mmx::runtime {

class Conversation {
public:
  /// `controlInMessages`: control tokens that people write inside messages
  /// count as such (encodeChat).
  Conversation(const Tokenizer &tokenizer, ChatFormat format,
               bool controlInMessages = false)
      : tokenizer(tokenizer), format(format),
        controlInMessages(controlInMessages) {}

  /// Adds a message of "system" or "user".
  void add(std::string role, std::string text);
  /// Takes the last message back.
  void removeLast() { messages.pop_back(); }
  void clear();
  bool empty() const { return messages.empty(); }

  /// The ids that an answer follows.
  std::vector<int32_t> prompt() const;

  /// Adds the answer to prompt(): the ids that the model wrote, but for one
  /// that ends the turn.
  void addAnswer(std::span<const int32_t> ids);
  /// The same for an answer that was cut within an id: the text that is left.
  void addAnswer(std::string text);

private:
  void keep(std::span<const int32_t> ids, std::string text);
  std::vector<ChatPiece> render() const;
  std::vector<int32_t> idsOf(const std::vector<ChatPiece> &pieces) const;

  struct Message {
    std::string role, text;
  };
  const Tokenizer &tokenizer;
  ChatFormat format;
  bool controlInMessages;
  std::vector<Message> messages;
  /// The start of the rendered conversation whose ids are known.
  std::string knownText;
  std::vector<int32_t> knownIds;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_CHAT_CONVERSATION_H
