//===- PackageEngineTest.cpp - Tests of the package engine ----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "runtime/device/CpuDevice.h"
#include "runtime/engine/PackageEngine.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mmx;
using namespace mmx::runtime;
using namespace mmx::test;

static std::unique_ptr<PackageEngine>
makeEngine(Device &device, const TestModelOptions &model = {},
           PackageEngine::Options options = {.limits = {2, 16}}) {
  return std::make_unique<PackageEngine>(
      Package::parse(makeTestPackage(model), "test.mmx"), device, testWeights(),
      std::move(options));
}

/// One sequence in slot 0 with its first tokens.
static StepInputs firstStep(std::vector<int32_t> ids) {
  StepInputs inputs;
  inputs.ids = ids;
  for (int32_t i = 0; i < int32_t(ids.size()); ++i) {
    inputs.positions.push_back(i);
    inputs.cacheRows.push_back(i);
    inputs.logitRows.push_back(i);
  }
  inputs.starts = {0, int32_t(ids.size())};
  inputs.slots = {0};
  inputs.past = {0};
  inputs.pages = {0, 1};
  inputs.pageColumns = 2;
  return inputs;
}

static std::vector<float> logits(const StepOutputs &outputs) {
  return {outputs.logits.begin(), outputs.logits.end()};
}

TEST(PackageEngine, ComputesWhatTheKernelsSay) {
  for (int threads : {1, 3}) {
    CpuDevice device(threads);
    auto engine = makeEngine(device);
    EXPECT_EQ(engine->tokenlessIds(), std::vector<int32_t>{7});
    std::vector<int32_t> ids = {1, 2, 3, 4, 5};
    EXPECT_EQ(logits(engine->run(Phase::Prefill, firstStep(ids))),
              expectedLogits(ids));
  }
}

TEST(PackageEngine, PoisonChangesNothing) {
  CpuDevice device(1);
  auto engine = makeEngine(device, {}, {.limits = {2, 16}, .poison = true});
  std::vector<int32_t> ids = {1, 2, 3};
  EXPECT_EQ(logits(engine->run(Phase::Prefill, firstStep(ids))),
            expectedLogits(ids));
}

TEST(PackageEngine, StatesAreReadWrittenAndCleared) {
  CpuDevice device(1);
  auto engine = makeEngine(device);
  engine->run(Phase::Prefill, firstStep({1, 2}));
  std::vector<float> state = engine->readState(0, 0);
  ASSERT_EQ(state.size(), 16u);
  EXPECT_NE(state[0], 0);
  EXPECT_EQ(engine->readState(0, 1), std::vector<float>(16));
  engine->writeState(0, 1, state);
  EXPECT_EQ(engine->readState(0, 1), state);
  engine->clearSlot(0);
  EXPECT_EQ(engine->readState(0, 0), std::vector<float>(16));
  EXPECT_EQ(engine->readState(0, 1), state);
  EXPECT_THROW(engine->readState(1, 0), Error);
  EXPECT_THROW(engine->writeState(0, 0, {}), Error);
}

TEST(PackageEngine, TimesKernels) {
  CpuDevice device(1);
  auto engine = makeEngine(device, {}, {.limits = {2, 16}, .profile = true});
  engine->run(Phase::Prefill, firstStep({1, 2}));
  engine->run(Phase::Prefill, firstStep({1, 2, 3}));
  auto profile = engine->profile();
  ASSERT_EQ(profile.size(), 4u);
  for (size_t i = 0; i < profile.size(); ++i) {
    EXPECT_EQ(profile[i].launches, 2);
    EXPECT_LE(profile[i].seconds, profile[0].seconds);
  }
}

TEST(PackageEngine, ReportsProgress) {
  CpuDevice device(2);
  int64_t last = 0, all = 0;
  makeEngine(device, {},
             {.limits = {1, 4}, .progress = [&](int64_t done, int64_t total) {
                EXPECT_GT(done, last);
                last = done;
                all = total;
              }});
  EXPECT_GT(last, 0);
  EXPECT_GE(all, last);
}

static std::string errorFor(const TestModelOptions &model) {
  CpuDevice device(1);
  return errorOf([&] {
    makeEngine(device, model)->run(Phase::Prefill, firstStep({1, 2}));
  });
}

// The object of the second package has none of the kernels; those of the first
// are not taken in their place.
TEST(PackageEngine, PackagesDoNotShareKernels) {
  CpuDevice device(1);
  auto first = makeEngine(device, {});
  TestModelOptions other;
  other.objectFile = MMX_TEST_COMPILER;
  std::string error = errorOf([&] { makeEngine(device, other); });
  EXPECT_NE(error.find("has no symbol"), std::string::npos) << error;
}

TEST(PackageEngine, RefusesWhatItCannotRun) {
  auto expect = [](const TestModelOptions &model, const std::string &part) {
    std::string error = errorFor(model);
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  TestModelOptions model;
  model.target = "h200";
  expect(model, "is compiled for \"h200\"");
  model = {};
  model.features = {"fpu", "warp-drive"};
  expect(model, "this machine lacks: warp-drive");
  model = {};
  model.embedSymbol = "test_missing";
  expect(model, "has no symbol \"test_missing\"");
  model = {};
  model.withObject = false;
  expect(model, "cannot load the object");
  model = {};
  model.smallArena = true;
  expect(model, "inside an arena of 32");
}

TEST(PackageEngine, RefusesStepsThatDoNotFit) {
  CpuDevice device(1);
  auto engine = makeEngine(device);
  auto errorWith = [&](auto change, Phase phase = Phase::Prefill) {
    StepInputs inputs = firstStep({1, 2});
    change(inputs);
    return errorOf([&] { engine->run(phase, inputs); });
  };
  EXPECT_EQ(errorWith([](StepInputs &) {}), "");
  EXPECT_NE(errorWith([](StepInputs &) {}, Phase::Decode), "");
  EXPECT_NE(errorWith([](StepInputs &in) { in.ids[0] = 10; }), "");
  EXPECT_NE(errorWith([](StepInputs &in) { in.ids[1] = -1; }), "");
  EXPECT_NE(errorWith([](StepInputs &in) { in.slots[0] = 2; }), "");
  EXPECT_NE(errorWith([](StepInputs &in) { in.cacheRows[1] = 16; }), "");
  EXPECT_NE(errorWith([](StepInputs &in) { in.cacheRows[1] = 0; }), "");
  EXPECT_NE(errorWith([](StepInputs &in) { in.pages[0] = 4; }), "");
  EXPECT_NE(errorWith([](StepInputs &in) { in.logitRows[0] = 2; }), "");
  EXPECT_NE(errorWith([](StepInputs &in) { in.starts[1] = 1; }), "");
  EXPECT_NE(errorWith([](StepInputs &in) { in.positions.pop_back(); }), "");
  EXPECT_NE(errorWith([](StepInputs &in) { in = {}; }), "");
}
