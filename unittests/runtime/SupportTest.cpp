//===- SupportTest.cpp - Tests of runtime/support, progress, sampling -----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/package/CpuFeatures.h"
#include "runtime/package/Element.h"
#include "runtime/progress/Progress.h"
#include "runtime/progress/StageTable.h"
#include "runtime/session/Greedy.h"
#include "runtime/session/PagePool.h"
#include "runtime/session/Sampler.h"
#include "runtime/support/Error.h"
#include "runtime/support/Random.h"
#include "runtime/support/Sha256.h"
#include "runtime/weights/ElementConversion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

using namespace mmx::runtime;

static std::string digestOf(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return toHex(hash.finish());
}

// The examples of FIPS 180-4.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(digestOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495"
                          "991b7852b855");
  EXPECT_EQ(digestOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb"
                             "410ff61f20015ad");
  EXPECT_EQ(digestOf(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, AnyCutGivesTheSameDigest) {
  std::string text(200, 'x');
  for (size_t length = 0; length <= text.size(); ++length) {
    std::string_view part = std::string_view(text).substr(0, length);
    Sha256 hash;
    hash.update(part.substr(0, length / 3));
    hash.update(part.substr(length / 3));
    EXPECT_EQ(toHex(hash.finish()), digestOf(part)) << length;
  }
}

TEST(Elements, Bf16RoundsToNearestEven) {
  EXPECT_EQ(bf16FromFloat(1.0f), 0x3f80);
  EXPECT_EQ(bf16FromFloat(1.00390625f), 0x3f80); // tie, even below
  EXPECT_EQ(bf16FromFloat(1.01171875f), 0x3f82); // tie, even above
  EXPECT_EQ(bf16FromFloat(std::numeric_limits<float>::infinity()), 0x7f80);
  EXPECT_TRUE(std::isnan(floatFromBf16(bf16FromFloat(std::nanf("")))));
}

TEST(Elements, F16) {
  EXPECT_EQ(floatFromF16(0x3c00), 1.0f);
  EXPECT_EQ(floatFromF16(0xc000), -2.0f);
  EXPECT_EQ(floatFromF16(0x0001), 0x1p-24f);
  EXPECT_EQ(floatFromF16(0x7bff), 65504.0f);
  EXPECT_TRUE(std::isinf(floatFromF16(0xfc00)));
  EXPECT_TRUE(std::isnan(floatFromF16(0x7e00)));
}

TEST(CpuFeatures, ReadsTheFlagsOfTheFirstProcessor) {
  auto features = parseCpuFeatures("processor : 0\nflags\t\t: fpu avx2 fma\n"
                                   "processor : 1\nflags : fpu\n");
  EXPECT_EQ(features.size(), 3u);
  EXPECT_TRUE(features.contains("avx2"));
  EXPECT_TRUE(parseCpuFeatures("nothing here").empty());
}

TEST(Greedy, TakesTheLargestAndOnTiesTheFirst) {
  float logits[] = {1, 5, 5, 2};
  EXPECT_EQ(bestId(logits, {}), 1);
}

TEST(Greedy, MaskedIdsNeverWin) {
  float logits[] = {-1, 0, -2, 0};
  int32_t masked[] = {1, 3};
  EXPECT_EQ(bestId(logits, masked), 0);
}

TEST(Greedy, RefusesNaNAndNothing) {
  float logits[] = {1, std::nanf("")};
  EXPECT_THROW(bestId(logits, {}), Error);
  int32_t masked[] = {0};
  EXPECT_THROW(bestId(std::span(logits).first(1), masked), Error);
}

static std::vector<int> drawn(Sampler::Options options,
                              std::span<const float> logits, int count) {
  Sampler sampler(options);
  std::vector<int> counts(logits.size());
  const std::vector<int32_t> masked = {1};
  for (int i = 0; i < count; ++i)
    ++counts[sampler.next(logits, masked, /*position=*/i)];
  return counts;
}

TEST(Sampler, DrawsByProbability) {
  // Probabilities 1/7, masked, 2/7, 4/7 at temperature 1.
  const std::vector<float> logits = {0, 9, std::log(2.0f), std::log(4.0f)};
  EXPECT_EQ(drawn({}, logits, 7), std::vector({0, 0, 0, 7}));
  std::vector<int> counts = drawn({1, 1, 3}, logits, 7000);
  EXPECT_NEAR(counts[0], 1000, 120);
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[2], 2000, 150);
  // Temperature 1/2 squares the odds: 1/21, 4/21, 16/21.
  EXPECT_NEAR(drawn({0.5, 1, 3}, logits, 21000)[3], 16000, 300);
  // The two likeliest hold 6/7.
  EXPECT_EQ(drawn({1, 0.8, 3}, logits, 1000)[0], 0);
  EXPECT_EQ(drawn({1, 0.5, 3}, logits, 100)[3], 100);
  EXPECT_EQ(drawn({1, 1, 5}, logits, 50), drawn({1, 1, 5}, logits, 50));
}

// The known answers of the authors' library (Random123, kat_vectors).
TEST(Random, Philox) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            Block({0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            Block({0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            Block({0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, UnitAtIsEvenAndDiffersByEveryNumber) {
  std::vector<int> counts(8);
  for (uint64_t i = 0; i < 80; ++i)
    for (uint64_t j = 0; j < 100; ++j)
      ++counts[int(unitAt(3, i, j) * 8)];
  for (int count : counts)
    EXPECT_NEAR(count, 1000, 120);
  constexpr uint64_t high = uint64_t(1) << 32;
  std::set<double> different = {unitAt(1, 1, 1),    unitAt(2, 1, 1),
                                unitAt(1, 2, 1),    unitAt(1, 1, 2),
                                unitAt(high, 1, 1), unitAt(1, high, 1),
                                unitAt(1, 1, high)};
  EXPECT_EQ(different.size(), 7u);
}

// One position more or less, or asked in another order, is all the same.
TEST(Sampler, DependsOnThePositionOnly) {
  const std::vector<float> logits = {0.5, 0.25, 0, 0.75, 0.125};
  Sampler forward({.temperature = 1, .seed = 7, .sequence = 2}),
      backward({.temperature = 1, .seed = 7, .sequence = 2}),
      other({.temperature = 1, .seed = 7, .sequence = 3});
  std::vector<int32_t> ids, reversed, others;
  for (int64_t i = 0; i < 50; ++i) {
    ids.push_back(forward.next(logits, {}, i));
    others.push_back(other.next(logits, {}, i));
  }
  for (int64_t i = 49; i >= 0; i -= 1)
    reversed.insert(reversed.begin(), backward.next(logits, {}, i));
  EXPECT_EQ(ids, reversed);
  EXPECT_NE(ids, others);
}

TEST(PagePool, LowestFreePageFirst) {
  PagePool pool(3);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
  pool.giveBack(0);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 2);
  EXPECT_EQ(pool.free(), 0);
  EXPECT_THROW(pool.take(), Error);
}

TEST(PagePool, RefusesPagesThatAreNotTaken) {
  PagePool pool(2);
  EXPECT_THROW(pool.giveBack(0), Error);
  EXPECT_THROW(pool.giveBack(2), Error);
  EXPECT_THROW(pool.giveBack(-1), Error);
}

TEST(StageTable, StagesAddUpToTheTotal) {
  StageTable stages;
  stages.enter("first");
  stages.enter("second");
  stages.note("first", "a note");
  double sum = 0;
  for (const StageTable::Row &row : stages.rows())
    sum += row.seconds;
  EXPECT_GE(sum, 0);
  EXPECT_EQ(stages.rows().size(), 3u);
  EXPECT_NE(stages.text().find("a note"), std::string::npos);
  EXPECT_NE(stages.text().find("total"), std::string::npos);
}

TEST(Progress, WritesJsonLines) {
  char *text = nullptr;
  size_t size = 0;
  std::FILE *stream = ::open_memstream(&text, &size);
  {
    Progress progress(Progress::Mode::Json, stream);
    progress.update("weights", 0, 2);
    progress.update("weights", 2, 2);
  }
  std::fclose(stream);
  std::string written(text, size);
  std::free(text);
  EXPECT_NE(written.find("\"stage\":\"weights\""), std::string::npos);
  EXPECT_EQ(std::ranges::count(written, '\n'), 2);
}
