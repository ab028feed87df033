//===- PrefixReuseTest.cpp - Prompts that begin alike ---------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled golden checkpoints, on the CPU or a GPU (TestDevice.h): sequences
// that go back to a snapshot, and conversations of which only what is new is
// computed. A sequence that went back is, bit for bit, one that never went
// further. Tokens that were decoded and are prefilled in a run without reuse
// are cut differently: there logits agree within rounding, and ids are equal.
//
//===----------------------------------------------------------------------===//

#include "ModelRunner.h"
#include "TestDevice.h"

#include "runtime/session/CachedSequence.h"

#include <gtest/gtest.h>

using namespace mmx::runtime;
using namespace mmx::test;

/// Lengths around the ends of blocks and pages.
static constexpr int64_t boundaries[] = {1,  2,  15, 16,  17,  31,  32,  33,
                                         63, 64, 65, 127, 128, 129, 256, 257};

class PrefixReuse : public testing::TestWithParam<const char *> {};

INSTANTIATE_TEST_SUITE_P(Golden, PrefixReuse, testing::ValuesIn(goldenModels),
                         [](const auto &info) { return testName(info.param); });

// The first run never goes back.
TEST_P(PrefixReuse, GoesBackBitForBit) {
  Runner straight(GetParam()), runner(GetParam(), 2);
  std::vector<int32_t> other = runner.ids(200, 5);
  for (int64_t n : boundaries) {
    SCOPED_TRACE(n);
    std::vector<int32_t> ids = runner.ids(n + 70, uint32_t(n));
    std::span<const int32_t> start = std::span(ids).first(n),
                             rest = std::span(ids).subspan(n);
    int64_t expecting = straight.session->open();
    Answer first = straight.feed({{expecting, start, Want::All}})[0];
    Answer expected = straight.feed({{expecting, rest, Want::All}})[0];
    straight.session->close(expecting);

    // A neighbour takes pages in between.
    int64_t sequence = runner.session->open(),
            neighbour = runner.session->open();
    expectSame(runner.feed({{sequence, start, Want::All}})[0], first);
    runner.session->takeSnapshot(sequence);
    for (int64_t detour : {1, 3, 200}) {
      runner.feed({{sequence, std::span(other).first(detour), Want::None},
                   {neighbour, std::span(other).first(1), Want::None}});
      runner.session->rewind(sequence, n);
    }
    expectSame(runner.feed({{sequence, rest, Want::All}})[0], expected);
    runner.session->rewind(sequence, n);
    expectSame(runner.feed({{sequence, rest, Want::All}})[0], expected);
    runner.session->close(sequence);
    runner.session->close(neighbour);
  }
}

// Decode steps from a snapshot.
TEST_P(PrefixReuse, DecodesBitForBitAfterGoingBack) {
  Runner runner(GetParam());
  std::vector<int32_t> ids = runner.ids(64), next = runner.ids(6, 9);
  int64_t sequence = runner.session->open();
  runner.feed({{sequence, ids, Want::None}});
  runner.session->takeSnapshot(sequence);
  std::vector<Answer> answers[2];
  for (std::vector<Answer> &round : answers) {
    for (const int32_t &id : next)
      round.push_back(runner.feed({{sequence, {&id, 1}, Want::All}})[0]);
    runner.session->rewind(sequence, 64);
  }
  for (size_t step = 0; step < next.size(); ++step)
    expectSame(answers[1][step], answers[0][step]);
}

/// The logits of the last token of a prompt, and all states after it.
static Answer lastOf(Runner &runner, std::span<const int32_t> prompt) {
  return runner.alone(prompt, Want::Last);
}

// Turns as in a chat: prompts of many lengths, answers of many lengths.
TEST_P(PrefixReuse, ConversationsComputeWhatIsNew) {
  Runner runner(GetParam(), 2), whole(GetParam());
  int64_t computed = 0;
  Session session(*runner.engine, {.context = Runner::context,
                                   .chunk = 128,
                                   .observer = [&](const StepView &step) {
                                     computed += step.inputs.tokens();
                                   }});
  CachedSequence sequence(session);
  std::vector<int32_t> prompt;
  int64_t held = 0;
  constexpr std::pair<int64_t, int64_t> turns[] = {
      {1, 1}, {31, 33}, {64, 1}, {3, 64}, {100, 17}, {130, 9}};
  for (auto [added, count] : turns) {
    SCOPED_TRACE(prompt.size());
    std::vector<int32_t> message = runner.ids(added, uint32_t(added));
    prompt.insert(prompt.end(), message.begin(), message.end());
    computed = 0;
    CachedSequence::Answer answer =
        sequence.answer({.prompt = prompt, .count = count});
    EXPECT_EQ(answer.reused, held);
    EXPECT_EQ(answer.prefilled, int64_t(prompt.size()) - held);
    EXPECT_EQ(computed, answer.prefilled + count - 1);
    // Without reuse: the same ids from the whole prompt.
    EXPECT_EQ(answer.ids, whole.session->generate({{prompt}}, count, {})[0]);
    prompt.insert(prompt.end(), answer.ids.begin(), answer.ids.end());
    held = sequence.ids().size();
    EXPECT_EQ(held, int64_t(prompt.size()) - 1);
  }
}

// Of two prompts that part somewhere, the second starts from a snapshot.
TEST_P(PrefixReuse, PromptsThatPart) {
  Runner runner(GetParam()), whole(GetParam());
  CachedSequence sequence(*runner.session);
  std::vector<int32_t> start = runner.ids(97), other = runner.ids(40, 3);
  CachedSequence::Answer first =
      sequence.answer({.prompt = start, .count = 20});
  for (size_t kept : {0, 1, 10, 19, 20}) {
    SCOPED_TRACE(kept);
    std::vector<int32_t> prompt = start;
    prompt.insert(prompt.end(), first.ids.begin(), first.ids.begin() + kept);
    prompt.insert(prompt.end(), other.begin(), other.end());
    CachedSequence::Answer answer =
        sequence.answer({.prompt = prompt, .count = 8});
    EXPECT_EQ(answer.reused, 97);
    EXPECT_EQ(answer.ids, whole.session->generate({{prompt}}, 8, {})[0]);
  }
}

// How far a run with reuse is from one without.
TEST_P(PrefixReuse, LogitsAreCloseToThoseOfTheWhole) {
  Runner runner(GetParam()), whole(GetParam());
  whole.setChunk(Runner::context);
  for (int64_t n : boundaries) {
    SCOPED_TRACE(n);
    std::vector<int32_t> ids = runner.ids(n + 20, uint32_t(n));
    int64_t sequence = runner.session->open();
    runner.feed({{sequence, std::span(ids).first(n), Want::None}});
    runner.session->takeSnapshot(sequence);
    runner.feed({{sequence, runner.ids(30, 2), Want::None}});
    runner.session->rewind(sequence, n);
    Answer reused =
        runner.feed({{sequence, std::span(ids).subspan(n), Want::Last}})[0];
    runner.session->close(sequence);
    expectClose(reused, lastOf(whole, ids));
  }
}

// A cut between two blocks is none: the state there is the same in both.
TEST_P(PrefixReuse, CutsBetweenBlocksBitForBit) {
  if (!canCompile())
    GTEST_SKIP() << "packages have the block length they were compiled with";
  Runner runner(GetParam(), 1, 600, /*block=*/32);
  std::vector<int32_t> ids = runner.ids(330);
  Answer whole = runner.alone(ids);
  for (int64_t chunk : {32, 64, 96, 160, 320}) {
    SCOPED_TRACE(chunk);
    runner.setChunk(chunk);
    expectSame(runner.alone(ids), whole);
  }
}
