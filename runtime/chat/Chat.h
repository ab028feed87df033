//===- Chat.h - Conversations as the text a model was trained on -*- C++
//-*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pure functions. Errors: Error, for messages that are not understood; it
// names the message by its number.
//
// A rendered conversation keeps apart what the format writes and what people
// and tools wrote, so that a control token inside a message stays text.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_CHAT_CHAT_H
#define MMX_RUNTIME_CHAT_CHAT_H

#include "runtime/tokenizer/Tokenizer.h"

#include <string>
#include <string_view>
#include <vector>

namespace mmx::runtime {

/// Text01: published with MiniMax-Text-01. M1: the template of MiniMax-M1.
enum class ChatFormat { Text01, M1 };

/// The format of the model that a config.json (as text) describes.
ChatFormat chatFormatOf(const std::string &config);

/// A part of a rendered conversation.
struct ChatPiece {
  bool control; ///< written by the format: control tokens are recognised
  std::string text;
};

/// Renders a conversation in JSON: a list of messages {role, content}, or an
/// object {messages, tools}. Content is a string or a list of parts
/// {type: "text", text}. `answer`: ends where the assistant's answer begins.
std::vector<ChatPiece> renderChat(ChatFormat format,
                                  std::string_view conversation, bool answer);

/// The pieces as one text.
std::string chatText(const std::vector<ChatPiece> &pieces);

/// The pieces as ids. `controlInMessages`: control tokens are recognised
/// inside messages as well; only for messages that are trusted.
std::vector<int32_t> encodeChat(const Tokenizer &tokenizer,
                                const std::vector<ChatPiece> &pieces,
                                bool controlInMessages = false);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_CHAT_CHAT_H
