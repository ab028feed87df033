//===- TextModel.h - The text half of a model -------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokenizer, chat format, stop ids and sampling of a model, from the files that
// its package carries, else from those beside its weights. Errors: Error.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_MMXRUN_TEXTMODEL_H
#define MMX_TOOLS_MMXRUN_TEXTMODEL_H

#include "Commands.h"

#include "runtime/chat/Chat.h"
#include "runtime/chat/GenerationConfig.h"
#include "runtime/package/Package.h"
#include "runtime/session/Sampler.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <memory>

namespace mmx::tool {

/// The text files of a model by name.
class TextFiles {
public:
  /// Of the package, which may be null, and of the folder.
  TextFiles(std::shared_ptr<const runtime::Package> package, std::string folder)
      : package(std::move(package)), theFolder(std::move(folder)) {}

  /// The file `name`, if there is one.
  std::optional<std::string> find(const std::string &name) const;
  /// The same; an error if there is none.
  std::string read(const std::string &name) const;
  /// Where that file stands or should stand, for messages.
  std::string where(const std::string &name) const;
  /// Where files stand that the package does not carry.
  const std::string &folder() const { return theFolder; }

private:
  std::shared_ptr<const runtime::Package> package;
  std::string theFolder;
};

class TextModel {
public:
  explicit TextModel(TextFiles files);

  const runtime::Tokenizer &tokenizer() const { return theTokenizer; }
  runtime::ChatFormat chatFormat() const;

  /// The prompts that the options give as text, files and conversations.
  std::vector<std::vector<int32_t>>
  prompts(const GenerateOptions &options) const;

  /// The ids that end an answer: those of generation_config.json, else of
  /// tokenizer_config.json, else <end_of_sentence>; empty if there are none.
  std::vector<int32_t> stopIds() const;

private:
  std::vector<int32_t> chatPrompt(const GenerateOptions &options) const;

  TextFiles files;
  runtime::Tokenizer theTokenizer;
};

/// What generation_config.json says; all defaults without one.
runtime::GenerationConfig generationConfig(const TextFiles &files);

/// How ids are drawn: as the options say, else as the model's authors do.
runtime::Sampler::Options samplingFor(const AnswerOptions &options,
                                      const runtime::GenerationConfig &config);

/// Whether the options give prompts as text.
bool hasTextPrompts(const GenerateOptions &options);

/// The bytes of a file, or of standard input for "-".
std::string readText(const std::string &file);

/// Fails unless `text` is UTF-8; `what` names it.
void checkUtf8(std::string_view text, const std::string &what);

} // namespace mmx::tool

#endif // MMX_TOOLS_MMXRUN_TEXTMODEL_H
