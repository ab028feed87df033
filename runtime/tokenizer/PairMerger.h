//===- PairMerger.h - Merges of neighbouring tokens -------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Byte-pair encoding (Sennrich et al. 2016, "Neural Machine Translation of Rare
// Words with Subword Units", algorithm 1): of all pairs of neighbours that have
// a merge, the one learned first is merged, the leftmost among equals, until
// none is left. Any number of threads may merge while none adds.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_TOKENIZER_PAIRMERGER_H
#define MMX_RUNTIME_TOKENIZER_PAIRMERGER_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mmx::runtime {

class PairMerger {
public:
  /// The merge of `left` and `right` to `whole`, learned after those that were
  /// added before. Returns whether the pair had none.
  bool add(int32_t left, int32_t right, int32_t whole);

  /// Merges the tokens from index `begin` of `ids` on. n tokens take
  /// O(n log n) steps.
  void merge(std::vector<int32_t> &ids, size_t begin) const;

private:
  struct Slot {
    int32_t left = -1, right = -1; ///< left -1: empty
    int32_t rank = none, whole = -1;
  };
  static constexpr int32_t none = INT32_MAX; ///< no merge: the last rank

  /// The slot of a pair, an empty one if it has no merge.
  const Slot &find(int32_t left, int32_t right) const;
  void mergeFew(int32_t *ids, size_t &count) const;
  void mergeMany(std::vector<int32_t> &ids, size_t begin) const;

  /// A hash table with open addresses, at most half full; a power of two.
  std::vector<Slot> slots = std::vector<Slot>(16);
  int32_t count = 0;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_TOKENIZER_PAIRMERGER_H
