//===- TokenizerFile.h - What a tokenizer.json says -------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors: Error, for files that are not understood or do more than byte-level
// BPE; it names the file and the token, merge or step.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_TOKENIZER_TOKENIZERFILE_H
#define MMX_RUNTIME_TOKENIZER_TOKENIZERFILE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mmx::runtime {

struct TokenizerFile {
  /// Ids are smaller than this.
  static constexpr int64_t idLimit = 1 << 22;

  struct Token {
    std::string text; ///< the bytes it stands for
    int32_t id;
    /// Can come out of merges; else `text` is what the file calls the token,
    /// for decoding only.
    bool isBytes;
  };
  struct Merge {
    std::string left, right; ///< bytes, none of them empty
  };
  struct AddedToken {
    std::string text; ///< not empty
    int32_t id;
    bool special;
  };

  std::vector<Token> vocabulary;
  std::vector<Merge> merges; ///< the one learned first first
  std::vector<AddedToken> added;
  std::vector<std::string> patterns; ///< cut a text, one after the other
  bool ignoreMerges = false;         ///< a piece that is a token is that token
};

/// Takes the text of a file; `name` stands for it in messages.
TokenizerFile parseTokenizerFile(std::string_view text,
                                 const std::string &name);
TokenizerFile readTokenizerFile(const std::string &path);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_TOKENIZER_TOKENIZERFILE_H
