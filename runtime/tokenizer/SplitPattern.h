//===- SplitPattern.h - Cuts text by a regular expression -------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Immutable; any number of threads. Errors: Error, for a pattern that is not
// understood or that runs out of its limits on a text.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_TOKENIZER_SPLITPATTERN_H
#define MMX_RUNTIME_TOKENIZER_SPLITPATTERN_H

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mmx::runtime {

class SplitPattern {
public:
  /// A regular expression over Unicode characters.
  explicit SplitPattern(const std::string &pattern);

  /// Calls `sink` with every match and with what stands between matches, in
  /// order: the pieces together are the text. Bytes that are not UTF-8 stand
  /// between matches.
  void split(std::string_view text,
             const std::function<void(std::string_view)> &sink) const;

private:
  std::shared_ptr<void> code;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_TOKENIZER_SPLITPATTERN_H
