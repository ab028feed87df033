//===- PlainMerges.h - Byte-pair encoding, as it is defined -----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What runtime/tokenizer/PairMerger.h is compared with: shares no code with it.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_UNITTESTS_RUNTIME_PLAINMERGES_H
#define MMX_UNITTESTS_RUNTIME_PLAINMERGES_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace mmx::test {

class PlainMerges {
public:
  bool add(int32_t left, int32_t right, int32_t whole) {
    int32_t rank = int32_t(merges.size());
    return merges.try_emplace({left, right}, rank, whole).second;
  }

  /// The pair learned first is merged, the leftmost among equals, until no
  /// pair is left: n squared steps.
  std::vector<int32_t> merge(std::vector<int32_t> ids) const {
    for (;;) {
      size_t place = ids.size();
      std::pair<int32_t, int32_t> best; ///< rank, whole
      for (size_t i = 0; i + 1 < ids.size(); ++i) {
        auto found = merges.find({ids[i], ids[i + 1]});
        if (found != merges.end() &&
            (place == ids.size() || found->second.first < best.first))
          place = i, best = found->second;
      }
      if (place == ids.size())
        return ids;
      ids[place] = best.second;
      ids.erase(ids.begin() + place + 1);
    }
  }

private:
  std::map<std::pair<int32_t, int32_t>, std::pair<int32_t, int32_t>> merges;
};

} // namespace mmx::test

#endif // MMX_UNITTESTS_RUNTIME_PLAINMERGES_H
