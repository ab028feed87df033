//===- Tokenizer.h - Text to ids and back -----------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Byte-level BPE as described by a Hugging Face tokenizer.json: text is cut at
// added tokens, then by the split pattern, and the bytes of every piece are
// merged, the pair that was learned first going first. Immutable after it was
// opened; any number of threads. Errors: Error, for files that are not
// understood and ids that do not exist; any bytes can be encoded.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_TOKENIZER_TOKENIZER_H
#define MMX_RUNTIME_TOKENIZER_TOKENIZER_H

#include "runtime/tokenizer/PairMerger.h"
#include "runtime/tokenizer/SplitPattern.h"
#include "runtime/tokenizer/TokenTable.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmx::runtime {

struct TokenizerFile;

/// A part of a text.
struct TextPiece {
  std::string_view text;
  bool control; ///< added tokens that start in it are recognised
};

class Tokenizer {
public:
  /// Reads a tokenizer.json.
  explicit Tokenizer(const std::string &file);
  /// Takes the text of a tokenizer.json; `name` stands for it in messages.
  static Tokenizer parse(std::string_view text, const std::string &name);
  /// Reads `directory`/tokenizer.json.
  static Tokenizer open(const std::string &directory);

  /// Added tokens are recognised in the text.
  std::vector<int32_t> encode(std::string_view text) const;

  /// The pieces as one text, in which added tokens are recognised that lie
  /// wholly inside pieces marked `control`; elsewhere they stay text.
  std::vector<int32_t> encode(std::span<const TextPiece> pieces) const;

  /// The bytes of the ids; a character may be cut at either end.
  std::string decode(std::span<const int32_t> ids,
                     bool skipSpecial = false) const;

  /// The id of a token, given as the text it stands for.
  std::optional<int32_t> find(std::string_view token) const;
  /// One more than the largest id.
  int64_t size() const { return tokens.size(); }

private:
  /// Whether the merges make a token of the bytes of a token: known as soon as
  /// a text has these bytes as a piece. Any thread may find out.
  enum class Stability : uint8_t { Unknown, Stable };

  Tokenizer(const std::string &name, const TokenizerFile &contents);
  void build(const TokenizerFile &contents);
  void addMerges(const TokenizerFile &contents);
  void mergeBytes(std::string_view piece, std::vector<int32_t> &ids) const;
  void encodePiece(std::string_view piece, std::vector<int32_t> &ids) const;
  void encodePlain(std::string_view text, std::vector<int32_t> &ids) const;
  /// The longest added token that `text` starts with; null: none.
  const std::pair<const std::string, int32_t> *
  addedAt(std::string_view text) const;

  std::string file;
  TokenTable tokens;
  PairMerger merger;
  std::map<std::string, int32_t, std::less<>> added;
  size_t longestAdded = 0;
  std::vector<bool> special;                             ///< by id
  mutable std::vector<std::atomic<Stability>> stability; ///< by id
  int32_t byteIds[256] = {};
  bool ignoreMerges = false;
  std::vector<SplitPattern> splits;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_TOKENIZER_TOKENIZER_H
