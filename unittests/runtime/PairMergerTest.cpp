//===- PairMergerTest.cpp - Tests of merges -------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlainMerges.h"

#include "runtime/support/Random.h"
#include "runtime/tokenizer/PairMerger.h"

#include <gtest/gtest.h>

using namespace mmx;
using namespace mmx::runtime;

TEST(PairMerger, FirstLearnedThenLeftmost) {
  PairMerger merger;
  EXPECT_TRUE(merger.add(1, 2, 12));
  EXPECT_TRUE(merger.add(0, 1, 10));
  EXPECT_FALSE(merger.add(1, 2, 13));
  std::vector<int32_t> ids = {7, 0, 1, 2, 0, 1};
  merger.merge(ids, 1);
  EXPECT_EQ(ids, (std::vector<int32_t>{7, 0, 12, 10}));
  merger.add(5, 5, 55);
  ids = {5, 5, 5};
  merger.merge(ids, 0);
  EXPECT_EQ(ids, (std::vector<int32_t>{55, 5}));
}

TEST(PairMerger, NothingToMerge) {
  PairMerger merger;
  std::vector<int32_t> ids = {3};
  merger.merge(ids, 1);
  merger.merge(ids, 0);
  EXPECT_EQ(ids, std::vector<int32_t>{3});
}

/// Random merges of few ids, so that they build on each other, and random
/// texts on both sides of the length at which the method changes.
TEST(PairMerger, AgreesWithTheDefinition) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    PairMerger merger;
    test::PlainMerges plain;
    int32_t letters = 1 + int32_t(random.below(4)), next = letters;
    for (uint64_t i = 0, count = random.below(200); i < count; ++i) {
      int32_t left = random.below(next), right = random.below(next);
      bool isNew = merger.add(left, right, next);
      ASSERT_EQ(plain.add(left, right, next), isNew);
      next += isNew;
    }
    for (uint64_t length : {2, 5, 20, 63, 64, 65, 300}) {
      std::vector<int32_t> ids(length);
      for (int32_t &id : ids)
        id = random.below(letters);
      std::vector<int32_t> expected = plain.merge(ids);
      merger.merge(ids, 0);
      ASSERT_EQ(ids, expected) << "seed " << seed << ", length " << length;
    }
  }
}

/// n squared steps would take minutes.
TEST(PairMerger, MillionIds) {
  PairMerger merger;
  for (int32_t i = 0; i < 10; ++i)
    merger.add(i, i, i + 1);
  std::vector<int32_t> ids(1 << 20, 0);
  merger.merge(ids, 0);
  EXPECT_EQ(ids, std::vector<int32_t>(1 << 10, 10));
}
