//===- TextModel.h - The text half of a model -------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokenizer, chat format and stop ids of a checkpoint directory. Errors: Error.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_MMXRUN_TEXTMODEL_H
#define MMX_TOOLS_MMXRUN_TEXTMODEL_H

#include "Commands.h"

#include "runtime/tokenizer/Tokenizer.h"

namespace mmx::tool {

class TextModel {
public:
  explicit TextModel(const std::string &directory);

  const runtime::Tokenizer &tokenizer() const { return theTokenizer; }

  /// The prompts that the options give as text, files and conversations.
  std::vector<std::vector<int32_t>>
  prompts(const GenerateOptions &options) const;

  /// The ids that end an answer: those of generation_config.json, else of
  /// tokenizer_config.json, else <end_of_sentence>; empty if there are none.
  std::vector<int32_t> stopIds() const;

private:
  std::vector<int32_t> chatPrompt(const GenerateOptions &options) const;

  std::string directory;
  runtime::Tokenizer theTokenizer;
};

/// Whether the options give prompts as text.
bool hasTextPrompts(const GenerateOptions &options);

/// The bytes of a file, or of standard input for "-".
std::string readText(const std::string &file);

/// Fails unless `text` is UTF-8; `what` names it.
void checkUtf8(std::string_view text, const std::string &what);

} // namespace mmx::tool

#endif // MMX_TOOLS_MMXRUN_TEXTMODEL_H
