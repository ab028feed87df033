//===- ModelRunner.cpp - Golden checkpoints to run in many ways -----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelRunner.h"

#include "TestDevice.h"
#include "unittests/model/RelativeError.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

using namespace mmx::runtime;
using namespace mmx::test;

/// Relative difference that rounding in f32 may leave.
static constexpr double rounding = 2e-5;

Runner::Runner(const std::string &model, int64_t slots, int64_t chunk,
               int64_t block, int threads, bool graphs)
    : device(makeTestDevice(threads)), weights(goldenPath(model)) {
  auto package = goldenPackage(model, *device, block);
  ModelInfo info(*(*package)->model());
  engine = std::make_unique<PackageEngine>(
      package, *device, weights,
      PackageEngine::Options{.limits = limitsFor(info, slots, context),
                             .poison = true,
                             .graphs = graphs});
  setChunk(chunk);
}

void Runner::setChunk(int64_t chunk) {
  session =
      std::make_unique<Session>(*engine, Session::Options{context, chunk, {}});
}

std::vector<Answer> Runner::feed(const std::vector<Feed> &feeds) {
  std::vector<Answer> answers(feeds.size());
  session->feed(
      feeds, [&](int64_t sequence, int64_t, std::span<const float> row) {
        auto feed = std::ranges::find(feeds, sequence, &Feed::sequence);
        std::vector<float> &logits = answers[feed - feeds.begin()].logits;
        logits.insert(logits.end(), row.begin(), row.end());
      });
  for (size_t i = 0; i < feeds.size(); ++i) {
    for (int32_t layer : engine->model().lightningLayers) {
      std::vector<float> state =
          engine->readState(layer, session->slot(feeds[i].sequence));
      answers[i].states.insert(answers[i].states.end(), state.begin(),
                               state.end());
    }
  }
  return answers;
}

Answer Runner::alone(std::span<const int32_t> ids, Want want) {
  int64_t sequence = session->open();
  Answer answer = feed({{sequence, ids, want}}).front();
  session->close(sequence);
  return answer;
}

std::vector<int32_t> Runner::ids(int64_t count, uint32_t seed) const {
  std::vector<int32_t> result;
  uint64_t state = seed;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    result.push_back(int32_t((state >> 33) % engine->model().vocab));
  }
  return result;
}

static bool sameBits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

void mmx::test::expectSame(const Answer &got, const Answer &expected) {
  EXPECT_TRUE(sameBits(got.logits, expected.logits))
      << "logits differ by " << relativeError(got.logits, expected.logits);
  EXPECT_TRUE(sameBits(got.states, expected.states))
      << "states differ by " << relativeError(got.states, expected.states);
}

void mmx::test::expectClose(const Answer &got, const Answer &expected) {
  EXPECT_LE(relativeError(got.logits, expected.logits), rounding);
  EXPECT_LE(relativeError(got.states, expected.states), rounding);
}

std::string mmx::test::testName(const std::string &model) {
  std::string name = model;
  std::ranges::replace(name, '-', '_');
  return name;
}
