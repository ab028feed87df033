//===- SessionTest.cpp - Tests of sequences on an engine ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "runtime/device/CpuDevice.h"
#include "runtime/engine/PackageEngine.h"
#include "runtime/session/Greedy.h"
#include "runtime/session/Session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mmx;
using namespace mmx::runtime;
using namespace mmx::test;

class SessionTest : public testing::Test {
protected:
  void makeEngine(int64_t slots, int64_t context) {
    auto package = Package::parse(makeTestPackage(), "test.mmx");
    ModelInfo info(*(*package)->model());
    engine = std::make_unique<PackageEngine>(
        package, device, testWeights(),
        PackageEngine::Options{.limits = limitsFor(info, slots, context),
                               .poison = true});
  }
  /// Logits of all positions of one feed.
  static std::vector<float> logitsOf(Session &session, int64_t sequence,
                                     std::span<const int32_t> ids) {
    std::vector<float> all;
    Feed feed = {sequence, ids, Want::All};
    session.feed({&feed, 1}, [&](int64_t, int64_t, std::span<const float> row) {
      all.insert(all.end(), row.begin(), row.end());
    });
    return all;
  }
  static std::vector<int32_t> someIds(int64_t count, int64_t seed = 1) {
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < count; ++i)
      ids.push_back(int32_t((i * i * 3 + i * seed + seed) % 10));
    return ids;
  }

  CpuDevice device{2};
  std::unique_ptr<PackageEngine> engine;
};

// Rows of the cache are named by 32-bit numbers.
TEST_F(SessionTest, RefusesACacheWithTooManyRows) {
  makeEngine(1, 20);
  ModelInfo model = engine->model();
  EXPECT_EQ(limitsFor(model, 1, 1 << 30).cacheRows, int64_t(1) << 30);
  EXPECT_THROW(limitsFor(model, 2, 1 << 30), Error);
}

TEST_F(SessionTest, AnyChunkLengthGivesTheSame) {
  makeEngine(1, 20);
  std::vector<int32_t> ids = someIds(19);
  for (int64_t chunk : {1, 2, 3, 4, 5, 7, 18, 19, 100}) {
    Session session(*engine, {20, chunk, {}});
    EXPECT_EQ(logitsOf(session, session.open(), ids), expectedLogits(ids))
        << chunk;
  }
}

TEST_F(SessionTest, OneTokenStepsRunTheDecodeProgram) {
  makeEngine(2, 20);
  std::vector<std::pair<Phase, int64_t>> steps;
  Session session(*engine, {20, 4, [&](const StepView &step) {
                              steps.emplace_back(step.phase,
                                                 step.inputs.tokens());
                            }});
  std::vector<int32_t> five = someIds(5), one = someIds(1);
  Feed feeds[] = {{session.open(), five, Want::Last},
                  {session.open(), one, Want::Last}};
  session.feed(feeds, [](int64_t, int64_t, std::span<const float>) {});
  std::vector<std::pair<Phase, int64_t>> expected = {
      {Phase::Prefill, 4}, {Phase::Decode, 1}, {Phase::Decode, 1}};
  EXPECT_EQ(steps, expected);
}

TEST_F(SessionTest, SequencesOfABatchDoNotTouchEachOther) {
  makeEngine(9, 20);
  Session session(*engine, {20, 3, {}});
  std::vector<std::vector<int32_t>> prompts;
  std::vector<Feed> feeds;
  for (int64_t i = 0; i < 9; ++i)
    prompts.push_back(someIds(1 + i * 2, i));
  for (const std::vector<int32_t> &prompt : prompts)
    feeds.push_back({session.open(), prompt, Want::All});
  std::map<int64_t, std::vector<float>> logits;
  session.feed(feeds, [&](int64_t sequence, int64_t position,
                          std::span<const float> row) {
    EXPECT_EQ(int64_t(logits[sequence].size()), position * 10);
    logits[sequence].insert(logits[sequence].end(), row.begin(), row.end());
  });
  for (size_t i = 0; i < feeds.size(); ++i)
    EXPECT_EQ(logits[feeds[i].sequence], expectedLogits(prompts[i])) << i;
}

TEST_F(SessionTest, ReusedSlotsAndPagesHoldNothingOld) {
  makeEngine(1, 12);
  Session session(*engine, {12, 5, {}});
  std::vector<int32_t> ids = someIds(12);
  for (int round = 0; round < 3; ++round) {
    int64_t sequence = session.open();
    EXPECT_EQ(logitsOf(session, sequence, ids), expectedLogits(ids));
    EXPECT_EQ(session.freePages(), 0);
    // What the next owner of the slot must not see.
    engine->writeState(
        0, session.slot(sequence),
        std::vector<float>(16, std::numeric_limits<float>::quiet_NaN()));
    session.close(sequence);
    EXPECT_EQ(session.freePages(), 3);
  }
}

TEST_F(SessionTest, PagesAreTakenAsASequenceGrows) {
  makeEngine(2, 8);
  Session session(*engine, {8, 100, {}});
  int64_t a = session.open(), b = session.open();
  EXPECT_EQ(session.freePages(), 4);
  logitsOf(session, a, someIds(4));
  EXPECT_EQ(session.freePages(), 3);
  logitsOf(session, b, someIds(1));
  logitsOf(session, a, someIds(1));
  EXPECT_EQ(session.freePages(), 1);
  EXPECT_EQ(session.length(a), 5);
  session.close(a);
  EXPECT_EQ(session.freePages(), 3);
  EXPECT_NE(session.slot(b), session.slot(session.open()));
}

TEST_F(SessionTest, StatesCanBeSavedAndPutBack) {
  makeEngine(1, 20);
  Session session(*engine, {20, 100, {}});
  int64_t sequence = session.open();
  std::vector<int32_t> ids = someIds(6);
  logitsOf(session, sequence, ids);
  std::vector<float> state = engine->readState(0, session.slot(sequence));
  engine->clearSlot(session.slot(sequence));
  engine->writeState(0, session.slot(sequence), state);
  std::vector<int32_t> more = someIds(3, 5);
  std::vector<int32_t> all = ids;
  all.insert(all.end(), more.begin(), more.end());
  std::vector<float> expected = expectedLogits(all);
  EXPECT_EQ(logitsOf(session, sequence, more),
            std::vector<float>(expected.begin() + 60, expected.end()));
}

TEST_F(SessionTest, ErrorsChangeNothing) {
  makeEngine(1, 8);
  Session session(*engine, {8, 100, {}});
  int64_t sequence = session.open();
  auto errorFor = [&](int64_t number, std::vector<int32_t> ids) {
    return errorOf([&] { logitsOf(session, number, ids); });
  };
  EXPECT_NE(errorFor(sequence, {}).find("the prompt is empty"),
            std::string::npos);
  EXPECT_NE(errorFor(sequence, {1, 10})
                .find("expected ids from 0 to 9, but got 10 at position 1"),
            std::string::npos);
  EXPECT_NE(errorFor(sequence, {-1}), "");
  EXPECT_NE(errorFor(sequence, someIds(9)).find("longer than the context"),
            std::string::npos);
  EXPECT_NE(errorFor(sequence + 1, {1}).find("there is no sequence"),
            std::string::npos);
  EXPECT_EQ(session.length(sequence), 0);
  EXPECT_EQ(session.freePages(), 2);
  EXPECT_THROW(session.open(), Error);
  std::vector<int32_t> ids = {1};
  Feed twice[] = {{sequence, ids, Want::Last}, {sequence, ids, Want::Last}};
  EXPECT_THROW(
      session.feed(twice, [](int64_t, int64_t, std::span<const float>) {}),
      Error);
  session.close(sequence);
  EXPECT_THROW(session.close(sequence), Error);
  EXPECT_THROW(Session(*engine, {100'000, 1, {}}), Error);
  EXPECT_THROW(Session(*engine, {8, 0, {}}), Error);
}

/// Greedy continuation worked out from the definition.
static std::vector<int32_t> expectedIds(std::vector<int32_t> ids,
                                        int64_t count) {
  int32_t masked[] = {7};
  std::vector<int32_t> result;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<float> logits = expectedLogits(ids);
    int32_t best = bestId(std::span(logits).last(10), masked);
    result.push_back(best);
    ids.push_back(best);
    if (best == 9)
      break;
  }
  return result;
}

TEST_F(SessionTest, GeneratesGreedily) {
  makeEngine(3, 40);
  Session session(*engine, {40, 4, {}});
  std::vector<std::vector<int32_t>> prompts = {someIds(5), someIds(1, 2),
                                               someIds(7, 3)};
  auto results = session.generate(prompts, 8, engine->model().stopIds);
  for (size_t i = 0; i < prompts.size(); ++i)
    EXPECT_EQ(results[i], expectedIds(prompts[i], 8)) << i;
  EXPECT_EQ(session.freePages(), 30);
  EXPECT_THROW(session.generate(prompts, 100, {}), Error);
  EXPECT_EQ(session.generate(prompts, 0, {}),
            std::vector<std::vector<int32_t>>(3));
}
