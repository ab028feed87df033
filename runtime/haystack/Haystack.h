//===- Haystack.h - Needles hidden in long texts ----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prompts for a test of retrieval: a long text with one sentence in it that
// names a secret number, then the beginning of the same sentence. The wording
// is that of models/tiny/train/tasks.py. A prompt depends on the arguments and
// the tokenizer only, on every machine. Immutable; any number of threads if
// the tokenizer allows it. Errors: Error.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_HAYSTACK_HAYSTACK_H
#define MMX_RUNTIME_HAYSTACK_HAYSTACK_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mmx::runtime {

struct HaystackQuestion {
  std::vector<int32_t> prompt; ///< ids: the text, the needle, the question
  std::vector<int32_t> answer; ///< ids of the number
  std::string word, number;    ///< what the needle says
};

class Haystack {
public:
  using Encode = std::function<std::vector<int32_t>(std::string_view)>;

  /// Hides needles in `text`, repeated as often as needed and begun at a
  /// random line; an empty text stands for sentences made by a small grammar.
  Haystack(Encode encode, std::string text = {});

  /// A prompt of exactly `length` ids whose needle stands at the boundary of
  /// a line or sentence that is nearest to `depth` (0: start, 1: end) of the
  /// text.
  HaystackQuestion question(int64_t length, double depth, uint64_t seed) const;

private:
  /// Whole lines or sentences, at least `tokens` ids in all.
  std::vector<std::vector<int32_t>> pieces(int64_t tokens, uint64_t seed) const;

  Encode encode;
  std::vector<std::string> lines;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_HAYSTACK_HAYSTACK_H
