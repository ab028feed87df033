//===- TextStream.h - Text as ids arrive ------------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the bytes of one id after the other into text: holds back a character
// that is not complete and the possible start of a stop string. One thread.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_TOKENIZER_TEXTSTREAM_H
#define MMX_RUNTIME_TOKENIZER_TEXTSTREAM_H

#include <string>
#include <string_view>
#include <vector>

namespace mmx::runtime {

class TextStream {
public:
  /// The text ends before the one of `stops` that is complete first, of those
  /// the longest; empty ones are ignored.
  explicit TextStream(std::vector<std::string> stops = {});

  /// Takes bytes; returns the text that is certain now.
  std::string push(std::string_view bytes);

  /// The text that was held back, when no more bytes come.
  std::string finish();

  /// Whether a stop string was found; nothing is returned from then on.
  bool stopped() const { return hasStopped; }

private:
  std::vector<std::string> stops;
  std::string held;
  bool hasStopped = false;
};

/// How many bytes at the end of `text` begin a character of UTF-8 and do not
/// complete it: 0 to 3.
size_t unfinishedBytes(std::string_view text);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_TOKENIZER_TEXTSTREAM_H
