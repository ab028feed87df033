//===- InvarianceTest.cpp - What must not change the answer ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled golden checkpoints, run in many ways that mean the same: chunks,
// batches, slots, threads, block lengths, on the CPU or a GPU (TestDevice.h).
// Where the kernels do the same operations, results are equal bit for bit;
// where the cut of a prompt moves (chunks, prefill against decode, block
// lengths), within rounding.
//
//===----------------------------------------------------------------------===//

#include "ModelRunner.h"
#include "TestDevice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mmx::runtime;
using namespace mmx::test;

class Invariance : public testing::TestWithParam<const char *> {};

INSTANTIATE_TEST_SUITE_P(Golden, Invariance, testing::ValuesIn(goldenModels),
                         [](const auto &info) { return testName(info.param); });

TEST_P(Invariance, ChunkLength) {
  Runner runner(GetParam());
  std::vector<int32_t> ids = runner.ids(600);
  runner.setChunk(600);
  Answer whole = runner.alone(ids);
  for (int64_t chunk : {1, 7, 255, 256, 257}) {
    SCOPED_TRACE(chunk);
    runner.setChunk(chunk);
    expectClose(runner.alone(ids), whole);
  }
}

TEST_P(Invariance, BatchOfNine) {
  constexpr int64_t lengths[] = {1, 2, 31, 32, 33, 64, 100, 257, 300};
  Runner runner(GetParam(), 9, 150);
  std::vector<std::vector<int32_t>> prompts;
  std::vector<Answer> alone;
  for (int64_t length : lengths) {
    prompts.push_back(runner.ids(length, uint32_t(length)));
    alone.push_back(runner.alone(prompts.back()));
  }
  std::vector<Feed> feeds;
  for (const std::vector<int32_t> &prompt : prompts)
    feeds.push_back({runner.session->open(), prompt, Want::All});
  std::vector<Answer> together = runner.feed(feeds);
  for (size_t i = 0; i < together.size(); ++i) {
    SCOPED_TRACE(lengths[i]);
    expectSame(together[i], alone[i]);
  }
}

// The batch decodes while each sequence decodes alone.
TEST_P(Invariance, BatchOfNineDecodes) {
  Runner runner(GetParam(), 9), single(GetParam());
  std::vector<std::vector<int32_t>> prompts;
  std::vector<Feed> feeds;
  for (int64_t i = 0; i < 9; ++i)
    prompts.push_back(runner.ids(60 + i, uint32_t(i + 1)));
  for (const std::vector<int32_t> &prompt : prompts)
    feeds.push_back({runner.session->open(), prompt, Want::Last});
  runner.feed(feeds);
  std::vector<int32_t> next = runner.ids(5, 99);
  std::vector<Answer> together;
  for (size_t step = 0; step < next.size(); ++step) {
    for (Feed &feed : feeds)
      feed.ids = std::span(next).subspan(step, 1);
    together = runner.feed(feeds);
  }
  for (size_t i = 0; i < prompts.size(); ++i) {
    SCOPED_TRACE(i);
    int64_t sequence = single.session->open();
    single.feed({{sequence, prompts[i], Want::Last}});
    Answer answer;
    for (size_t step = 0; step < next.size(); ++step)
      answer = single.feed({{sequence, std::span(next).subspan(step, 1)}})[0];
    single.session->close(sequence);
    expectSame(together[i], answer);
  }
}

TEST_P(Invariance, DecodeContinuesPrefill) {
  Runner runner(GetParam());
  for (int64_t boundary : {1, 2, 16, 32, 64, 128, 256, 512}) {
    for (int64_t n : {boundary - 1, boundary, boundary + 1}) {
      if (n < 1)
        continue;
      SCOPED_TRACE(n);
      std::vector<int32_t> ids = runner.ids(n + 1, 7);
      runner.setChunk(n + 1);
      Answer whole = runner.alone(ids, Want::Last);
      int64_t sequence = runner.session->open();
      runner.feed({{sequence, std::span(ids).first(n), Want::None}});
      Answer step = runner.feed({{sequence, std::span(ids).last(1)}})[0];
      runner.session->close(sequence);
      expectClose(step, whole);
    }
  }
}

TEST_P(Invariance, RunsThreadsAndEngines) {
  Runner one(GetParam(), 1, 512, 0, 1), four(GetParam(), 1, 512, 0, 4);
  std::vector<int32_t> ids = one.ids(200);
  Answer first = one.alone(ids);
  expectSame(one.alone(ids), first);
  expectSame(four.alone(ids), first);
  expectSame(four.alone(ids), first);
}

TEST_P(Invariance, TwentyRuns) {
  Runner runner(GetParam());
  std::vector<int32_t> ids = runner.ids(130);
  Answer first = runner.alone(ids);
  for (int run = 1; run < 20; ++run)
    expectSame(runner.alone(ids), first);
}

// Decode steps that repeat their sizes are recorded where the device can;
// each must do what its launches do one by one.
TEST_P(Invariance, RecordedDecodeSteps) {
  Runner recorded(GetParam(), 3), plain(GetParam(), 3, 512, 0, 2, false);
  std::vector<int32_t> prompt = plain.ids(60), next = plain.ids(10, 99);
  std::vector<Feed> feeds[2];
  Runner *runners[] = {&recorded, &plain};
  for (int i = 0; i < 2; ++i) {
    for (int64_t length : {3, 60, 17})
      feeds[i].push_back({runners[i]->session->open(),
                          std::span(prompt).first(length), Want::Last});
    runners[i]->feed(feeds[i]);
  }
  for (size_t step = 0; step < next.size(); ++step) {
    SCOPED_TRACE(step);
    std::vector<Answer> answers[2];
    for (int i = 0; i < 2; ++i) {
      for (Feed &feed : feeds[i])
        feed.ids = std::span(next).subspan(step, 1);
      answers[i] = runners[i]->feed(feeds[i]);
    }
    for (size_t sequence = 0; sequence < feeds[0].size(); ++sequence)
      expectSame(answers[0][sequence], answers[1][sequence]);
  }
}

TEST_P(Invariance, ReusedSlot) {
  Runner fresh(GetParam()), used(GetParam());
  std::vector<int32_t> ids = fresh.ids(150, 3);
  used.alone(used.ids(600, 4));
  expectSame(used.alone(ids), fresh.alone(ids));
}

/// Makes every state of a sequence NaN.
static void poisonStates(Runner &runner, int64_t sequence) {
  const ModelInfo &model = runner.engine->model();
  for (int32_t layer : model.lightningLayers)
    runner.engine->writeState(
        layer, runner.session->slot(sequence),
        std::vector<float>(model.heads * model.headDim * model.headDim,
                           std::numeric_limits<float>::quiet_NaN()));
}

// Sequences before and after in the batch compute NaN, and so do the pages
// and the slot that the next sequence takes over.
TEST_P(Invariance, PoisonedNeighbours) {
  Runner fresh(GetParam()), runner(GetParam(), 3);
  for (int64_t length : {1, 5, 33, 100}) {
    SCOPED_TRACE(length);
    std::vector<int32_t> ids = fresh.ids(length, 3), others = fresh.ids(70, 9);
    Answer expected = fresh.alone(ids);
    int64_t before = runner.session->open(), middle = runner.session->open(),
            after = runner.session->open();
    poisonStates(runner, before);
    poisonStates(runner, after);
    std::vector<Answer> answers = runner.feed({{before, others, Want::All},
                                               {middle, ids, Want::All},
                                               {after, others, Want::All}});
    EXPECT_TRUE(std::isnan(answers[0].logits.back()));
    EXPECT_TRUE(std::isnan(answers[2].logits.back()));
    expectSame(answers[1], expected);
    for (int64_t sequence : {before, middle, after})
      runner.session->close(sequence);
    // The slot and the pages of `before` come first.
    expectSame(runner.alone(ids), expected);
  }
}

TEST_P(Invariance, BlockLength) {
  if (!canCompile())
    GTEST_SKIP() << "packages have the block length they were compiled with";
  std::vector<Answer> answers;
  for (int64_t block : {16, 32, 64, 128, 256}) {
    SCOPED_TRACE(block);
    Runner runner(GetParam(), 1, 600, block);
    answers.push_back(runner.alone(runner.ids(600)));
    expectClose(answers.back(), answers.front());
  }
}
