//===- AnswerPrinter.h - Answers as they are made ---------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the ids of answers into text, or lists of ids where there is no
// tokenizer, and writes JSON events: one line each, flushed (docs/text.md).
// One thread. Errors: Error, if standard output cannot be written.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_MMXRUN_ANSWERPRINTER_H
#define MMX_TOOLS_MMXRUN_ANSWERPRINTER_H

#include "runtime/tokenizer/TextStream.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <nlohmann/json_fwd.hpp>

namespace mmx::tool {

/// One answer as it grows.
class AnswerText {
public:
  /// Without a tokenizer ids are shown, with commas between them.
  AnswerText(const runtime::Tokenizer *tokenizer,
             const std::vector<std::string> &stops)
      : tokenizer(tokenizer), stream(stops) {}

  /// What one more id adds to the text.
  std::string add(int32_t id);
  /// What is left when no more ids come.
  std::string finish();

  /// Whether the text ended before a stop string.
  bool stopped() const { return stream.stopped(); }
  const std::string &text() const { return all; }
  const std::vector<int32_t> &ids() const { return allIds; }

private:
  const runtime::Tokenizer *tokenizer;
  runtime::TextStream stream;
  std::string all;
  std::vector<int32_t> allIds;
};

/// Writes one event, a line, to standard output. What is not UTF-8 is replaced.
void writeEvent(const nlohmann::ordered_json &event);

/// Writes the parts of an answer to standard output as they come.
void writeText(const std::string &text);

} // namespace mmx::tool

#endif // MMX_TOOLS_MMXRUN_ANSWERPRINTER_H
