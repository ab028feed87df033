//===- CachedSequenceTest.cpp - Tests of prompts that begin alike ---------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "runtime/device/CpuDevice.h"
#include "runtime/engine/PackageEngine.h"
#include "runtime/session/CachedSequence.h"

#include <gtest/gtest.h>

#include <limits>

using namespace mmx;
using namespace mmx::runtime;
using namespace mmx::test;

using End = CachedSequence::End;

class CachedSequenceTest : public testing::Test {
protected:
  CachedSequenceTest() {
    auto package = Package::parse(makeTestPackage(), "test.mmx");
    ModelInfo info(*(*package)->model());
    engine = std::make_unique<PackageEngine>(
        package, device, testWeights(),
        PackageEngine::Options{.limits = limitsFor(info, 1, context),
                               .poison = true});
    session = std::make_unique<Session>(
        *engine,
        Session::Options{.context = context,
                         .chunk = 4,
                         .observer =
                             [this](const StepView &step) {
                               computed += step.inputs.tokens();
                             },
                         .interrupted = [this] { return stepsLeft-- == 0; }});
  }

  static std::vector<int32_t> someIds(int64_t count, int64_t seed = 1) {
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < count; ++i)
      ids.push_back(int32_t((i * i * 3 + i * seed + seed) % 10));
    return ids;
  }

  /// The same prompt in a sequence of its own, by the definition of the model.
  static std::vector<int32_t> expectedIds(std::vector<int32_t> prompt,
                                          int64_t count) {
    int32_t masked[] = {7};
    Sampler sampler(sampling);
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < count; ++i) {
      std::vector<float> logits = expectedLogits(prompt);
      ids.push_back(
          sampler.next(std::span(logits).last(10), masked, prompt.size()));
      prompt.push_back(ids.back());
    }
    return ids;
  }

  /// Expects the right ids, and `reused` tokens of the prompt not computed.
  CachedSequence::Answer ask(CachedSequence &sequence,
                             const std::vector<int32_t> &prompt, int64_t count,
                             int64_t reused) {
    int64_t before = computed;
    auto answer = sequence.answer(
        {.prompt = prompt, .count = count, .sampling = sampling});
    EXPECT_EQ(answer.ids, expectedIds(prompt, count));
    EXPECT_EQ(answer.reused, reused);
    EXPECT_EQ(answer.prefilled, int64_t(prompt.size()) - reused);
    EXPECT_EQ(computed - before, answer.prefilled + count - 1);
    EXPECT_EQ(answer.end, End::Count);
    return answer;
  }

  static constexpr int64_t context = 40;
  static constexpr Sampler::Options sampling = {.temperature = 1, .seed = 3};
  CpuDevice device{2};
  std::unique_ptr<PackageEngine> engine;
  std::unique_ptr<Session> session;
  int64_t computed = 0;   ///< tokens of all steps
  int64_t stepsLeft = -1; ///< until an interrupt; negative: none comes
};

/// All of `parts`, one after the other.
static std::vector<int32_t> joined(std::vector<std::vector<int32_t>> parts) {
  std::vector<int32_t> all;
  for (const std::vector<int32_t> &part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST_F(CachedSequenceTest, ComputesOnlyWhatIsNew) {
  CachedSequence sequence(*session);
  std::vector<int32_t> first = someIds(6);
  auto answer = ask(sequence, first, 4, 0);
  std::vector<int32_t> second = joined({first, answer.ids, someIds(3, 4)});
  // The last id of the answer was not fed yet.
  answer = ask(sequence, second, 5, 9);
  EXPECT_EQ(sequence.ids().size(), second.size() + 4);
  ask(sequence, joined({second, answer.ids, someIds(2, 5)}), 2, 17);
}

TEST_F(CachedSequenceTest, GoesBackToTheLongestCommonSnapshot) {
  CachedSequence sequence(*session);
  std::vector<int32_t> first = someIds(6);
  auto answer = ask(sequence, first, 4, 0);
  std::vector<int32_t> second = joined({first, answer.ids, {1, 2, 3}});
  ask(sequence, second, 4, 9);
  // Another last message: what ends the first answer is kept.
  std::vector<int32_t> other = joined({first, answer.ids, {1, 5}});
  ask(sequence, other, 3, 9);
  // Another answer (7 is never drawn): the first prompt is kept.
  ask(sequence, joined({first, {7, 7, 7}}), 3, 6);
  // The same prompt again: one token at least is computed.
  ask(sequence, first, 2, 0);
  // Nothing in common.
  ask(sequence, {9, 9}, 2, 0);
}

TEST_F(CachedSequenceTest, KeepsTheLatestSnapshots) {
  CachedSequence sequence(*session, /*snapshots=*/2);
  std::vector<int32_t> prompt = someIds(4);
  std::vector<std::vector<int32_t>> prompts;
  for (int turn = 0; turn < 3; ++turn) {
    prompts.push_back(prompt);
    auto answer = ask(sequence, prompt, 2, turn == 0 ? 0 : turn * 4 + 1);
    prompt = joined({prompt, answer.ids, {7, 1}});
  }
  // The end of the second prompt and all before are gone.
  ask(sequence, joined({prompts[2], {7, 7}}), 1, 12);
  ask(sequence, joined({prompts[1], {7, 7}}), 1, 0);
}

TEST_F(CachedSequenceTest, EndsForManyReasons) {
  CachedSequence sequence(*session);
  std::vector<int32_t> prompt = someIds(5);
  std::vector<int32_t> ids = expectedIds(prompt, 35);
  int32_t stop[] = {ids[3]};
  size_t first = std::ranges::find(ids, ids[3]) - ids.begin();
  auto answer = sequence.answer(
      {.prompt = prompt, .count = 30, .stop = stop, .sampling = sampling});
  EXPECT_EQ(answer.ids, std::vector(ids.begin(), ids.begin() + first + 1));
  EXPECT_EQ(answer.end, End::Stop);
  int64_t left = 3;
  answer = sequence.answer({.prompt = prompt,
                            .sampling = sampling,
                            .onId = [&](int32_t) { return --left > 0; }});
  EXPECT_EQ(answer.ids, std::vector(ids.begin(), ids.begin() + 3));
  EXPECT_EQ(answer.end, End::Callback);
  // The id after the last token that there is room for is still known.
  answer = sequence.answer({.prompt = prompt, .sampling = sampling});
  EXPECT_EQ(answer.ids.size(), size_t(context) - 5 + 1);
  EXPECT_EQ(answer.end, End::Context);
}

TEST_F(CachedSequenceTest, IsInterruptedAnywhere) {
  for (int64_t steps : {0, 1, 2, 3, 5}) {
    SCOPED_TRACE(steps);
    CachedSequence sequence(*session);
    std::vector<int32_t> prompt = someIds(10);
    stepsLeft = steps;
    auto answer = sequence.answer({.prompt = prompt, .sampling = sampling});
    stepsLeft = -1;
    EXPECT_EQ(answer.end, End::Interrupted);
    // Three steps of at most four tokens take the prompt.
    EXPECT_EQ(answer.prefilled, std::min<int64_t>(steps * 4, 10));
    EXPECT_EQ(int64_t(answer.ids.size()), std::max<int64_t>(steps - 2, 0));
    EXPECT_EQ(answer.ids, expectedIds(prompt, answer.ids.size()));
    int64_t held = sequence.ids().size();
    EXPECT_EQ(held, steps < 3 ? steps * 4 : 10 + steps - 3);
    ask(sequence, joined({prompt, answer.ids, {1, 2}}), 3, held);
  }
}

TEST_F(CachedSequenceTest, BadPromptsChangeNothing) {
  CachedSequence sequence(*session);
  std::vector<int32_t> prompt = someIds(6);
  auto answer = ask(sequence, prompt, 3, 0);
  auto errorFor = [&](const std::vector<int32_t> &bad) {
    return errorOf([&] { sequence.answer({.prompt = bad, .count = 1}); });
  };
  EXPECT_EQ(errorFor({}), "the prompt is empty");
  EXPECT_EQ(errorFor(std::vector<int32_t>(41, 1)),
            "expected a prompt of at most 40 tokens, but got 41: it is longer "
            "than the context");
  EXPECT_EQ(errorFor({1, 10}),
            "expected ids from 0 to 9, but got 10 at position 1");
  EXPECT_EQ(errorFor({-1}),
            "expected ids from 0 to 9, but got -1 at position 0");
  ask(sequence, joined({prompt, answer.ids, {1}}), 3, 8);
}

TEST_F(CachedSequenceTest, StartsAnewAfterAnError) {
  CachedSequence sequence(*session);
  std::vector<int32_t> prompt = someIds(6);
  ask(sequence, prompt, 3, 0);
  auto thrower = [](int32_t) -> bool { fail("no more"); };
  EXPECT_EQ(
      errorOf([&] { sequence.answer({.prompt = prompt, .onId = thrower}); }),
      "no more");
  EXPECT_EQ(sequence.ids().size(), 0u);
  ask(sequence, prompt, 3, 0);
  // A state that is not a number is found out, and not used again.
  engine->writeState(
      0, 0, std::vector<float>(16, std::numeric_limits<float>::quiet_NaN()));
  std::vector<int32_t> more = joined({sequence.ids(), {1}});
  EXPECT_NE(errorOf([&] {
              sequence.answer({.prompt = more});
            }).find("is not a number"),
            std::string::npos);
  ask(sequence, more, 3, 0);
  sequence.clear();
  EXPECT_EQ(session->freePages(), 10);
  ask(sequence, more, 3, 0);
}
