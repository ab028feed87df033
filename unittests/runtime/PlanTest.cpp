//===- PlanTest.cpp - Plans against arithmetic by hand --------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The published model: 80 layers, 10 of them softmax, hidden 6144, 64 heads of
// 128 (8 key-value), 32 experts of width 9216, two a token, vocabulary 200064.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Plan.h"

#include "runtime/support/Error.h"

#include <gtest/gtest.h>

using namespace mmx;
using namespace mmx::runtime;

namespace {

constexpr int64_t MiB = 1 << 20, GiB = int64_t(1) << 30;
constexpr int64_t expert = 3 * 6144 * 9216;
constexpr int64_t lightning = 24576 * 6144 + 8192 * 6144 + 6144 * 8192;
constexpr int64_t softmax = 8192 * 6144 + 2 * 1024 * 6144 + 6144 * 8192;
constexpr int64_t vocabulary = 200064 * 6144;
static_assert(expert == 169'869'312);
static_assert(lightning + 8192 == 251'666'432);
static_assert(softmax == 113'246'208);
static_assert(vocabulary == 1'229'193'216);

ModelShape published() {
  return readModelShape(MMX_MODELS "/minimax-text-01/config.json");
}

Plan planFor(const char *target, int64_t gpus, ExpertWeights experts,
             int64_t context) {
  PlanOptions options;
  options.target = findTarget(target);
  options.gpus = gpus;
  options.experts = experts;
  options.context = context;
  return makePlan(published(), options);
}

std::string refusal(void (*change)(PlanOptions &)) {
  PlanOptions options;
  options.target = findTarget("h800");
  options.gpus = 8;
  options.context = 1024;
  change(options);
  try {
    makePlan(published(), options);
  } catch (const Error &error) {
    return error.what();
  }
  return "accepted";
}

std::string badConfig(std::string_view text) {
  try {
    parseModelShape(text, "c.json");
  } catch (const Error &error) {
    return error.what();
  }
  return "accepted";
}

} // namespace

TEST(PlanTest, ParametersOfThePublishedModel) {
  Plan plan = planFor("h800", 8, ExpertWeights::BF16, 1 << 20);
  EXPECT_EQ(plan.parameters, 456'089'655'296);
  EXPECT_EQ(plan.activeParameters, 45'944'920'064);
  // bf16, and 80 routers of 32 x 6144 in f32.
  EXPECT_EQ(plan.weightBytes, 912'210'767'872);
  EXPECT_EQ(plan.weightBytes, 2 * 456'089'655'296 + 2 * 80 * 32 * 6144);
}

TEST(PlanTest, QuantisedWeights) {
  int64_t experts = 2560 * expert;
  int64_t rest = 2 * (456'089'655'296 - experts) + 2 * 80 * 32 * 6144;
  EXPECT_EQ(experts, 434'865'438'720);
  // One f32 factor for each of 9216 + 9216 + 6144 rows.
  EXPECT_EQ(planFor("h800", 8, ExpertWeights::Int8, 1024).weightBytes,
            experts + rest + 2560 * (9216 + 9216 + 6144) * 4);
  // One bf16 factor for 128 numbers.
  EXPECT_EQ(planFor("h800", 8, ExpertWeights::Int4, 1024).weightBytes,
            experts / 2 + rest + experts / 128 * 2);
  // "477.3 GB", "260 GB" and the factors.
  EXPECT_NEAR(experts + rest, 477.3e9, 0.1e9);
  EXPECT_NEAR(experts / 2 + rest, 260e9, 0.2e9);
}

TEST(PlanTest, EightH800Int8OneMillion) {
  Plan plan = planFor("h800", 8, ExpertWeights::Int8, 1 << 20);
  const PlanMemory &m = plan.memory;
  // An eighth of every expert; w2 keeps its 6144 rows.
  EXPECT_EQ(m.experts, 2560 * (expert / 8 + (2 * 9216 / 8 + 6144) * 4));
  EXPECT_EQ(m.otherWeights, 2 * (70 * (lightning + 8192) + 10 * softmax) / 8 +
                                80 * (4 * 32 * 6144 + 2 * 2 * 6144) + 2 * 6144 +
                                2 * 2 * vocabulary / 8);
  EXPECT_EQ(m.state, 70 * 8 * 128 * 128 * 4);
  EXPECT_EQ(m.state, 35 * MiB);
  EXPECT_EQ(m.cache, 10 * 2 * 1 * 128 * 2 * (int64_t(1) << 20));
  EXPECT_EQ(m.cache, 5 * GiB);
  // 8192 tokens: input 6 x 6144; two experts of 1152 in bf16 and 6144 in f32.
  EXPECT_EQ(m.workspace,
            8192 * (6 * 6144 + 2 * (2 * 1152 + 4 * 6144)) + 200064 / 8 * 4);
  EXPECT_EQ(plan.available, 80 * GiB);
  EXPECT_TRUE(plan.fits());
  // The cache takes 5 KiB a token: what is left holds more pages of 64.
  int64_t left = 80 * GiB - m.total();
  EXPECT_EQ(plan.largestContext, (int64_t(1) << 20) + left / (64 * 5120) * 64);
}

TEST(PlanTest, EightH20Int8FourMillion) {
  Plan plan = planFor("h20", 8, ExpertWeights::Int8, int64_t(4) << 20);
  EXPECT_EQ(plan.memory.cache, 20 * GiB);
  EXPECT_EQ(plan.memory.state, 35 * MiB);
  // 54.36 GB of int8 and 0.09 of factors, 5.37 of other weights.
  EXPECT_NEAR(plan.memory.experts, 434'865'438'720 / 8 + 0.087e9, 0.001e9);
  EXPECT_NEAR(plan.memory.otherWeights, 5.37e9, 0.01e9);
  EXPECT_TRUE(plan.fits());
  // 5 KiB of cache a token.
  int64_t left = 96 * GiB - plan.memory.total();
  EXPECT_EQ(plan.largestContext, (int64_t(4) << 20) + left / (64 * 5120) * 64);
  EXPECT_FALSE(planFor("h20", 8, ExpertWeights::BF16, int64_t(4) << 20).fits());
  // Decode reads the non-experts, two experts a layer, 70 states twice, and
  // the cache.
  double bytes = double(plan.memory.otherWeights) - 2.0 * vocabulary / 8 +
                 160.0 * (expert / 8 + (2 * 1152 + 6144) * 4) + 2.0 * 35 * MiB +
                 20.0 * GiB;
  EXPECT_DOUBLE_EQ(plan.decodeStep.bytes, bytes);
  EXPECT_DOUBLE_EQ(plan.decodeStep.memoryFloor(*findTarget("h20")),
                   bytes / 4.0e12);
  EXPECT_STREQ(plan.decodeStep.bound(*findTarget("h20")), "bandwidth");
}

TEST(PlanTest, TwoH200Int4) {
  Plan plan = planFor("h200", 2, ExpertWeights::Int4, 128 << 10);
  EXPECT_EQ(plan.memory.experts, 2560 * (expert / 4 + expert / 128));
  EXPECT_EQ(plan.memory.cache, 5 * GiB / 2);
  EXPECT_EQ(plan.memory.state, 140 * MiB);
  // Half of the 21.2 G of other parameters; routers, in f32, and norms on both.
  EXPECT_NEAR(plan.memory.otherWeights, 21.22e9 + 0.05e9, 0.01e9);
  EXPECT_TRUE(plan.fits());
  // 20 KiB of cache a token.
  int64_t left = 141 * GiB - plan.memory.total();
  EXPECT_EQ(plan.largestContext,
            (int64_t(128) << 10) + left / (64 * 20480) * 64);
  Plan bf16 = planFor("h200", 2, ExpertWeights::BF16, 128 << 10);
  EXPECT_FALSE(bf16.fits());
  EXPECT_EQ(bf16.largestContext, 0);
  // 434.9 GB of experts where there were 112.1: 322.8 GB more than what fits
  // with 12.3 GiB left.
  EXPECT_EQ(bf16.memory.total() - bf16.available,
            2560 * (expert - expert / 4 - expert / 128) - left);
  EXPECT_EQ(bf16.suggestions.front(), "--quant int4");
  EXPECT_EQ(bf16.suggestions.back(), "--gpus 8 --tp 8");
}

TEST(PlanTest, WorkOfOneGpu) {
  Plan plan = planFor("h200", 1, ExpertWeights::BF16, 64);
  // 91.9 GFLOP of products a token, 2.46 more in the head.
  double products =
      2.0 * (70 * lightning + 10 * softmax + 80 * (2 * expert + 32 * 6144));
  EXPECT_NEAR(products, 91.9e9, 0.1e9);
  double blocks = 70.0 * 64 * (4 * 128 * 128 + 2 * 128 * 64);
  double causal = 10.0 * 64 * 2 * 128 * 64;
  EXPECT_DOUBLE_EQ(plan.prefillToken.flops, products + blocks + causal);
  // Decode: 6.3 MFLOP a lightning layer.
  double core = 70 * 3 * 2 * 64 * 128 * 128.0;
  EXPECT_DOUBLE_EQ(plan.decodeStep.flops,
                   products + 2.0 * vocabulary + core + 2 * causal);
  // 94.3 GB of weights a token; 560 MiB of state read and written.
  double weights =
      2.0 * (70 * (lightning + 8192) + 10 * softmax +
             80 * (2 * expert + 2 * 32 * 6144 + 2 * 6144) + 6144 + vocabulary);
  EXPECT_NEAR(weights, 94.3e9, 0.1e9);
  EXPECT_DOUBLE_EQ(plan.decodeStep.bytes,
                   weights + 560.0 * MiB + 64 * 40 * 1024);
  EXPECT_EQ(plan.decodeStep.linkBytes, 0);
  // Experts in int8 cut this to 67 GB.
  Plan int8 = planFor("h200", 1, ExpertWeights::Int8, 64);
  EXPECT_DOUBLE_EQ(plan.decodeStep.bytes - int8.decodeStep.bytes,
                   160.0 * (expert - (2 * 9216 + 6144) * 4));
  EXPECT_NEAR(int8.decodeStep.bytes - 560.0 * MiB, 67.2e9, 0.1e9);
}

TEST(PlanTest, RanksShareTheModel) {
  PlanOptions options;
  options.target = findTarget("h800");
  options.gpus = 16;
  options.ep = 8;
  options.pp = 2;
  options.context = 4096;
  Plan plan = makePlan(published(), options);
  EXPECT_EQ(plan.options.tp, 8);
  // Four whole experts in each of 40 layers.
  EXPECT_EQ(plan.memory.experts, 40 * 4 * expert * 2);
  options.pp = 1;
  options.sp = 2;
  Plan sequence = makePlan(published(), options);
  EXPECT_EQ(sequence.memory.cache, 4096 / 2 * 10 * 2 * 128 * 2);
  EXPECT_EQ(sequence.memory.experts, 80 * 4 * expert / 2 * 2);
  EXPECT_GT(sequence.prefillToken.linkBytes, 0);
}

TEST(PlanTest, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(refusal([](PlanOptions &o) { o.tp = 3; }),
            "--gpus: expected tp * sp * pp = 3 * 1 * 1 = 3, but got 8");
  EXPECT_EQ(refusal([](PlanOptions &o) { o.gpus = o.tp = 3; }),
            "--tp: expected a divisor of the 64 heads, but got 3");
  EXPECT_EQ(refusal([](PlanOptions &o) { o.ep = 64; }),
            "--ep: expected a divisor of the 32 experts, but got 64");
  EXPECT_EQ(refusal([](PlanOptions &o) { o.ep = 16; }),
            "--ep: expected a divisor of tp * sp = 8, but got 16");
  EXPECT_EQ(refusal([](PlanOptions &o) { o.gpus = o.pp = 128; }),
            "--pp: expected at most 80 layers, but got 128");
  EXPECT_EQ(refusal([](PlanOptions &o) { o.gpus = -8; }),
            "--gpus: expected a number from 1 to 65536, but got -8");
  EXPECT_EQ(refusal([](PlanOptions &o) { o.sp = 3; }),
            "--gpus: expected a multiple of sp * pp = 3, but got 8");
  EXPECT_EQ(refusal([](PlanOptions &o) { o.context = 20'000'000; }),
            "--ctx: expected a number from 1 to 10240000, but got 20000000");
  EXPECT_EQ(refusal([](PlanOptions &o) { o.target = findTarget("cpu"); }),
            "--gpus: expected 1 for target cpu, but got 8");
}

TEST(PlanTest, RefusesConfigs) {
  EXPECT_NE(badConfig("[").find("c.json: not JSON"), std::string::npos);
  EXPECT_EQ(badConfig("[]"), "c.json: expected an object, but got []");
  EXPECT_EQ(badConfig(R"({"model_type": "llama"})"),
            "c.json: expected \"model_type\" to be \"minimax\", "
            "\"minimax_text_01\" or \"minimax_m1\", but got \"llama\"");
  auto with = [](const char *member) {
    return badConfig(std::string(R"({"model_type": "minimax", )") + member +
                     "}");
  };
  EXPECT_EQ(with(R"("num_attention_heads": 0)"),
            "c.json: expected \"num_attention_heads\" to be an integer from 1 "
            "to 16384, but got 0");
  EXPECT_EQ(with(R"("num_hidden_layers": 1000000000)"),
            "c.json: expected \"num_hidden_layers\" to be an integer from 1 to "
            "4096, but got 1000000000");
  EXPECT_EQ(with(R"("hidden_size": -1)"),
            "c.json: expected \"hidden_size\" to be an integer from 1 to "
            "1048576, but got -1");
  EXPECT_EQ(with(R"("vocab_size": "many")"),
            "c.json: expected \"vocab_size\" to be an integer from 1 to "
            "16777216, but got \"many\"");
  EXPECT_EQ(with(R"("vocab_size": 18446744073709551615)"),
            "c.json: expected \"vocab_size\" to be an integer from 1 to "
            "16777216, but got 18446744073709551615");
  EXPECT_EQ(with(R"("head_dim": 1048576)"),
            "c.json: expected heads * head_dim of at most 1048576, but got 32 "
            "* 1048576");
  EXPECT_EQ(with(R"("num_hidden_layers": 1, "layer_types": ["x"])"),
            "c.json: expected \"layer_types\" to hold 0 and 1, or "
            "\"linear_attention\" and \"full_attention\", but got \"x\"");
  EXPECT_EQ(with(R"("num_key_value_heads": 5)"),
            "c.json: expected 5 key-value heads to divide 32 heads");
}
