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

TEST_F(SessionTest, GoesBackToSnapshots) {
  makeEngine(2, 20);
  Session session(*engine, {20, 100, {}});
  int64_t other = session.open(), sequence = session.open();
  logitsOf(session, other, someIds(3));
  std::vector<int32_t> ids = someIds(15);
  std::vector<float> expected = expectedLogits(ids);
  auto after = [&](int64_t length) {
    return std::vector<float>(expected.begin() + length * 10, expected.end());
  };
  auto rest = [&](int64_t length) { return std::span(ids).subspan(length); };
  logitsOf(session, sequence, std::span(ids).first(4));
  session.takeSnapshot(sequence);
  logitsOf(session, sequence, std::span(ids).subspan(4, 2));
  session.takeSnapshot(sequence);
  EXPECT_EQ(session.snapshots(sequence), std::vector<int64_t>({4, 6}));
  EXPECT_EQ(session.snapshots(other), std::vector<int64_t>());
  // What is there only for a while leaves no trace.
  logitsOf(session, sequence, someIds(9, 5));
  EXPECT_EQ(session.freePages(), 5);
  session.rewind(sequence, 6);
  EXPECT_EQ(session.length(sequence), 6);
  EXPECT_EQ(session.freePages(), 7);
  EXPECT_EQ(logitsOf(session, sequence, rest(6)), after(6));
  session.rewind(sequence, 4);
  EXPECT_EQ(session.snapshots(sequence), std::vector<int64_t>({4}));
  EXPECT_EQ(logitsOf(session, sequence, rest(4)), after(4));
  session.rewind(sequence, 0);
  EXPECT_EQ(session.snapshots(sequence), std::vector<int64_t>());
  EXPECT_EQ(logitsOf(session, sequence, ids), expected);
  EXPECT_EQ(session.length(other), 3);
}

TEST_F(SessionTest, RefusesLengthsWithoutASnapshot) {
  makeEngine(1, 20);
  Session session(*engine, {20, 100, {}});
  int64_t sequence = session.open();
  logitsOf(session, sequence, someIds(5));
  session.takeSnapshot(sequence);
  session.dropSnapshot(sequence, 5);
  EXPECT_EQ(errorOf([&] { session.dropSnapshot(sequence, 5); }),
            concat("sequence ", sequence, " has no snapshot at 5 tokens"));
  EXPECT_EQ(errorOf([&] { session.rewind(sequence, 5); }),
            concat("sequence ", sequence, " has no snapshot at 5 tokens"));
  EXPECT_EQ(session.length(sequence), 5);
  EXPECT_THROW(session.takeSnapshot(sequence + 1), Error);
  EXPECT_THROW(session.rewind(sequence + 1, 0), Error);
}

TEST_F(SessionTest, InterruptsBetweenSteps) {
  makeEngine(1, 20);
  int64_t steps = 2;
  Session session(*engine, {.context = 20, .chunk = 3, .interrupted = [&] {
                              return steps-- == 0;
                            }});
  int64_t sequence = session.open();
  std::vector<int32_t> ids = someIds(10);
  EXPECT_THROW(logitsOf(session, sequence, ids), Interrupted);
  EXPECT_EQ(session.length(sequence), 6);
  std::vector<float> expected = expectedLogits(ids);
  EXPECT_EQ(logitsOf(session, sequence, std::span(ids).subspan(6)),
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

// What a sequence draws depends on its number, not on its neighbours, its place
// in the batch, or how its prompt is cut.
TEST_F(SessionTest, DrawsTheSameInAnyBatch) {
  makeEngine(3, 40);
  std::vector<std::vector<int32_t>> prompts = {someIds(5), someIds(1, 2),
                                               someIds(7, 3)};
  Sampler::Options sampling = {.temperature = 2, .seed = 11};
  auto drawn = [&](std::vector<std::vector<int32_t>> some, uint64_t first,
                   int64_t chunk) {
    Session session(*engine, {40, chunk, {}});
    sampling.sequence = first;
    return session.generate(some, 12, {}, {}, sampling);
  };
  auto all = drawn(prompts, 0, 100);
  for (int64_t chunk : {1, 2, 3, 100}) {
    EXPECT_EQ(drawn(prompts, 0, chunk), all) << chunk;
    for (size_t i = 0; i < prompts.size(); ++i)
      EXPECT_EQ(drawn({prompts[i]}, i, chunk).front(), all[i]) << chunk;
    EXPECT_EQ(drawn({prompts[1], prompts[2]}, 1, chunk),
              std::vector(all.begin() + 1, all.end()));
  }
  // Equal prompts are not answered alike.
  auto equal = drawn({prompts[0], prompts[0]}, 0, 100);
  EXPECT_EQ(equal[0], all[0]);
  EXPECT_NE(equal[0], equal[1]);
}
