//===- TileValuesTest.cpp - Layouts, rounding and widths of values --------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/TileValues.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

using namespace mmx::tile;

namespace {

TEST(HostArray, RowMajorOffsets) {
  HostArray array({2, 3, 4}, ElementKind::F32);
  EXPECT_EQ(array.getStorageSize(), 96);
  EXPECT_EQ(array.getOffset({0, 0, 3}), 3);
  EXPECT_EQ(array.getOffset({1, 2, 3}), 23);
  EXPECT_EQ(array.getOffset({1, 3, 0}), -1);
  EXPECT_EQ(array.getOffset({-1, 0, 0}), -1);
}

TEST(HostArray, PanelsAlongTheFirstDimension) {
  // 5 x 3 in panels of 4 is 2 x 3 x 4 in memory.
  HostArray array({5, 3}, ElementKind::BF16, /*panel=*/4, /*along=*/0);
  EXPECT_EQ(array.getNumElements(), 15);
  EXPECT_EQ(array.getNumStored(), 24);
  EXPECT_EQ(array.getOffset({0, 0}), 0);
  EXPECT_EQ(array.getOffset({3, 0}), 3);
  EXPECT_EQ(array.getOffset({0, 1}), 4);
  EXPECT_EQ(array.getOffset({4, 2}), 12 + 8);
}

TEST(HostArray, PanelsAlongAnInnerDimension) {
  // 2 x 5 x 3 in panels of 2 along 1 is 2 x 3 x 3 x 2 in memory.
  HostArray array({2, 5, 3}, ElementKind::I8, /*panel=*/2, /*along=*/1);
  EXPECT_EQ(array.getNumStored(), 36);
  EXPECT_EQ(array.getOffset({0, 1, 0}), 1);
  EXPECT_EQ(array.getOffset({0, 0, 1}), 2);
  EXPECT_EQ(array.getOffset({0, 2, 0}), 6);
  EXPECT_EQ(array.getOffset({1, 3, 2}), 18 + 6 + 4 + 1);
}

TEST(HostArray, OffsetsAreDistinctAndInvertible) {
  for (int64_t along = 0; along < 3; ++along) {
    HostArray array({3, 5, 2}, ElementKind::F32, /*panel=*/4, along);
    std::set<int64_t> seen;
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 5; ++j)
        for (int64_t k = 0; k < 2; ++k) {
          int64_t offset = array.getOffset({i, j, k});
          EXPECT_GE(offset, 0);
          EXPECT_LT(offset, array.getNumStored());
          EXPECT_TRUE(seen.insert(offset).second);
          EXPECT_EQ(array.getIndices(offset),
                    (llvm::SmallVector<int64_t>{i, j, k}));
        }
  }
}

TEST(HostArray, StoresRoundToTheElementType) {
  HostArray array({2}, ElementKind::BF16);
  array.store(0, {.f = 257.0f}, ElementKind::F32);
  array.store(1, {.f = -259.0f}, ElementKind::F32);
  EXPECT_EQ(array.load(0).f, 256.0f);
  EXPECT_EQ(array.load(1).f, -260.0f);
  HostArray bytes({1}, ElementKind::I8);
  bytes.store(0, {.i = -128}, ElementKind::I8);
  EXPECT_EQ(bytes.load(0).i, -128);
}

TEST(HostArray, BorrowedMemoryIsShared) {
  float memory[4] = {1, 2, 3, 4};
  HostArray array(memory, {2, 2}, ElementKind::F32);
  HostArray copy = array.clone();
  array.store(3, {.f = 9.0f}, ElementKind::F32);
  EXPECT_EQ(memory[3], 9.0f);
  EXPECT_EQ(copy.load(3).f, 4.0f);
}

TEST(BF16, RoundsToNearestEven) {
  EXPECT_EQ(roundToBF16(1.0f), 1.0f);
  EXPECT_EQ(roundToBF16(1.00390625f), 1.0f);      // half way, to even
  EXPECT_EQ(roundToBF16(1.01171875f), 1.015625f); // half way, to even
  EXPECT_EQ(roundToBF16(1.0040f), 1.0078125f);
  EXPECT_EQ(roundToBF16(std::numeric_limits<float>::max()), INFINITY);
  EXPECT_EQ(roundToBF16(-INFINITY), -INFINITY);
  EXPECT_TRUE(std::isnan(roundToBF16(NAN)));
  EXPECT_TRUE(std::signbit(roundToBF16(-0.0f)));
}

TEST(Integers, WrapToTheirWidth) {
  EXPECT_EQ(wrapInteger(128, ElementKind::I8), -128);
  EXPECT_EQ(wrapInteger(-129, ElementKind::I8), 127);
  EXPECT_EQ(wrapInteger(3, ElementKind::I1), 1);
  EXPECT_EQ(wrapInteger(int64_t(1) << 31, ElementKind::I32),
            -(int64_t(1) << 31));
  EXPECT_EQ(wrapInteger(int64_t(1) << 40, ElementKind::Index), int64_t(1)
                                                                   << 40);
}

} // namespace
