//===- FuzzMerges.cpp - Merges against their definition -------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/PairMerger.h"
#include "unittests/runtime/PlainMerges.h"

#include <cstdlib>

using namespace mmx;

/// The first byte says how many pairs of bytes are merges; ids follow.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size > 1 + 2 * 255 + 2000)
    return 0;
  runtime::PairMerger merger;
  test::PlainMerges plain;
  size_t at = 1;
  // Wholes follow the single ids, so that later pairs can name them.
  for (int32_t whole = 16; whole < 16 + data[0] && at + 1 < size; at += 2) {
    int32_t left = data[at] % whole, right = data[at + 1] % whole;
    if (merger.add(left, right, whole) != plain.add(left, right, whole))
      std::abort();
    ++whole;
  }
  std::vector<int32_t> ids;
  for (; at < size; ++at)
    ids.push_back(data[at] % 16);
  std::vector<int32_t> expected = plain.merge(ids);
  merger.merge(ids, 0);
  if (ids != expected)
    std::abort();
  return 0;
}
