//===- TokenTable.h - Tokens by id and by bytes -----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any number of threads may read while none writes.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_TOKENIZER_TOKENTABLE_H
#define MMX_RUNTIME_TOKENIZER_TOKENTABLE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mmx::runtime {

class TokenTable {
public:
  /// Gives `id` to a text; throws Error if the id has another one.
  void set(int32_t id, std::string_view text);

  /// Makes the text of `id` known to find; throws Error if one of this text
  /// is known. `id` was set.
  void makeFindable(int32_t id);

  /// Whether there is a token `id`.
  bool has(int64_t id) const {
    return id >= 0 && id < size() && tokens[id].length != absent;
  }
  /// The text of a token that there is.
  std::string_view text(int32_t id) const {
    return std::string_view(texts).substr(tokens[id].begin, tokens[id].length);
  }
  /// The id of a text that is known, or -1.
  int32_t find(std::string_view text) const;
  /// One more than the largest id.
  int64_t size() const { return int64_t(tokens.size()); }

private:
  static constexpr uint32_t absent = UINT32_MAX;
  struct Token {
    uint64_t begin = 0; ///< in `texts`
    uint32_t length = absent;
  };
  struct Slot {
    uint32_t hash = 0;
    int32_t id = -1; ///< -1: empty
  };
  void insert(uint32_t hash, int32_t id);

  std::string texts; ///< one after the other
  std::vector<Token> tokens;
  /// A hash table with open addresses, at most half full; a power of two.
  std::vector<Slot> slots;
  size_t findable = 0, longest = 0;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_TOKENIZER_TOKENTABLE_H
