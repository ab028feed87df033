//===- OddShapesTest.cpp - Models whose sizes fit no tile -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Configs with widths, vocabularies, head and expert counts that are primes or
// no multiples of a vector, with random weights, compiled and compared with the
// reference interpreter: prompts in one batch and in chunks, then decoding.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuDevice.h"
#include "runtime/engine/PackageCache.h"
#include "runtime/engine/PackageEngine.h"
#include "runtime/engine/ReferenceEngine.h"
#include "runtime/session/Session.h"
#include "runtime/weights/RandomTensors.h"
#include "unittests/model/RelativeError.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace mmx::runtime;
using namespace mmx::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Shape {
  const char *name;
  json config; ///< over the base config
};

/// Which way a model runs, and the sequences that it is fed.
struct Setting {
  std::string target = "cpu";
  int64_t chunk = 512;
  std::vector<int64_t> lengths = {1, 2, 5, 61, 130};
  bool routing = false;
};

/// Logits of every fed token, by sequence.
using Logits = std::vector<std::vector<float>>;

} // namespace

static json baseConfig() {
  return {{"model_type", "minimax_text_01"},
          {"hidden_size", 32},
          {"intermediate_size", 32},
          {"num_hidden_layers", 3},
          {"attn_type_list", {0, 1, 0}},
          {"num_attention_heads", 2},
          {"num_key_value_heads", 1},
          {"head_dim", 16},
          {"rotary_dim", 8},
          {"num_local_experts", 4},
          {"num_experts_per_tok", 2},
          {"vocab_size", 96},
          {"postnorm", true},
          {"layernorm_full_attention_alpha", 1.5},
          {"layernorm_linear_attention_alpha", 1.5},
          {"layernorm_mlp_alpha", 1.5},
          {"max_position_embeddings", 4096},
          {"torch_dtype", "float32"}};
}

static std::vector<Shape> shapes() {
  return {
      {"PrimeWidths",
       {{"hidden_size", 97}, {"intermediate_size", 53}, {"vocab_size", 257}}},
      {"ThreeHeadsOf24",
       {{"num_attention_heads", 3},
        {"num_key_value_heads", 3},
        {"head_dim", 24},
        {"rotary_dim", 6},
        {"hidden_size", 41}}},
      {"FiveHeadsOf40",
       {{"num_attention_heads", 5},
        {"head_dim", 40},
        {"rotary_dim", 40},
        {"num_local_experts", 3}}},
      {"SevenHeadsOf16",
       {{"num_attention_heads", 7},
        {"num_local_experts", 5},
        {"num_experts_per_tok", 5},
        {"vocab_size", 31}}},
      {"HeadsOf17",
       {{"num_attention_heads", 6},
        {"num_key_value_heads", 3},
        {"head_dim", 17},
        {"rotary_dim", 2}}},
      {"OneOfAll",
       {{"hidden_size", 1},
        {"intermediate_size", 1},
        {"vocab_size", 2},
        {"num_attention_heads", 1},
        {"head_dim", 2},
        {"rotary_dim", 2},
        {"num_local_experts", 1}}},
      {"SharedExpert",
       {{"hidden_size", 19},
        {"shared_intermediate_size", 11},
        {"num_local_experts", 7},
        {"num_experts_per_tok", 1},
        {"intermediate_size", 13},
        {"postnorm", false}}},
      {"TiedEmbeddings", {{"tie_word_embeddings", true}, {"vocab_size", 101}}},
      {"StoredInBf16",
       {{"torch_dtype", "bfloat16"},
        {"tie_word_embeddings", true},
        {"hidden_size", 35},
        {"intermediate_size", 37},
        {"vocab_size", 67},
        {"num_local_experts", 3}}},
      {"SoftmaxOnly",
       {{"attn_type_list", {1, 1, 1}},
        {"num_attention_heads", 6},
        {"num_key_value_heads", 2},
        {"head_dim", 10},
        {"rotary_dim", 4}}},
      {"LightningOnly",
       {{"attn_type_list", {0, 0, 0}},
        {"num_attention_heads", 11},
        {"head_dim", 9},
        {"rotary_dim", 2}}},
  };
}

static const CompilerLibrary &compiler() {
  static const CompilerLibrary library;
  return library;
}

/// The reference and the compiled model, with the same random weights.
class Pair {
public:
  Pair(const json &overrides, const Setting &setting)
      : setting(setting), device(2) {
    json config = baseConfig();
    config.update(overrides);
    path = fs::temp_directory_path() /
           ("mmx-odd-" + std::to_string(::getpid()) + setting.target + ".json");
    std::ofstream(path) << config;
    CompileSettings settings;
    settings.target = setting.target;
    settings.routing = setting.routing;
    package = compileCached(compiler(), path.string(), settings).package;
    weights = std::make_unique<RandomTensors>(**package, 7);
    auto limits = [&](const ModelInfo &model) {
      return limitsFor(model, int64_t(setting.lengths.size()), context);
    };
    compiled = std::make_unique<PackageEngine>(
        package, device, *weights,
        PackageEngine::Options{
            .limits = limits(ModelInfo(*(*package)->model())), .poison = true});
    reference = std::make_unique<ReferenceEngine>(compiler(), path.string(),
                                                  settings, *weights, limits);
  }
  ~Pair() { fs::remove(path); }

  /// All sequences at once, then five more tokens each.
  Logits run(Engine &engine) const {
    auto routeStep = [&](std::span<const int64_t>, StepInputs &inputs) {
      if (route)
        route(engine.model(), inputs);
    };
    Session session(engine, {context, setting.chunk, {}, routeStep});
    Logits logits(setting.lengths.size());
    std::vector<std::vector<int32_t>> prompts, more;
    std::vector<Feed> feeds;
    for (int64_t length : setting.lengths) {
      prompts.push_back(ids(length, uint32_t(length), engine.model().vocab));
      more.push_back(ids(steps, uint32_t(length + 1), engine.model().vocab));
    }
    for (const std::vector<int32_t> &prompt : prompts)
      feeds.push_back({session.open(), prompt, Want::All});
    auto keep = [&](int64_t sequence, int64_t, std::span<const float> row) {
      for (size_t i = 0; i < feeds.size(); ++i)
        if (feeds[i].sequence == sequence)
          logits[i].insert(logits[i].end(), row.begin(), row.end());
    };
    session.feed(feeds, keep);
    for (size_t step = 0; step < steps; ++step) {
      for (size_t i = 0; i < feeds.size(); ++i)
        feeds[i].ids = std::span(more[i]).subspan(step, 1);
      session.feed(feeds, keep);
    }
    return logits;
  }

  std::unique_ptr<PackageEngine> compiled;
  std::unique_ptr<ReferenceEngine> reference;
  /// Gives the experts of every step, if set.
  std::function<void(const ModelInfo &, StepInputs &)> route;

private:
  static constexpr int64_t context = 2048;
  static constexpr size_t steps = 5;

  static std::vector<int32_t> ids(int64_t count, uint32_t seed, int64_t vocab) {
    std::vector<int32_t> result;
    uint64_t state = seed;
    for (int64_t i = 0; i < count; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      result.push_back(int32_t((state >> 33) % vocab));
    }
    return result;
  }

  Setting setting;
  fs::path path;
  CpuDevice device;
  std::shared_ptr<const Package> package;
  std::unique_ptr<RandomTensors> weights;
};

/// The bound of the golden checkpoints, for every sequence.
static void expectClose(const Logits &got, const Logits &expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_LE(relativeError(got[i], expected[i]), 1e-4);
  }
}

class OddShapes : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Configs, OddShapes, testing::ValuesIn(shapes()),
                         [](const auto &info) { return info.param.name; });

// Both models live at once: neither runs kernels of the other.
TEST_P(OddShapes, EqualTheReference) {
  Pair pair(GetParam().config, {});
  Pair portable(GetParam().config, {.target = "cpu-v3", .chunk = 17});
  Logits expected = pair.run(*pair.reference);
  expectClose(pair.run(*pair.compiled), expected);
  expectClose(portable.run(*portable.compiled), expected);
}

/// Gives half of the choices of a step an expert drawn from its position.
static void routeAnywhere(const ModelInfo &model, StepInputs &inputs) {
  for (int64_t layer = 0; layer < model.layers; ++layer) {
    std::vector<int32_t> &given = inputs.routing.emplace_back();
    for (int32_t position : inputs.positions)
      for (int64_t j = 0; j < model.expertsPerToken; ++j) {
        uint64_t drawn =
            (position * 31 + layer * 7 + j + 1) * 0x9e3779b97f4a7c15 >> 40;
        given.push_back(drawn % 2 ? int32_t(drawn / 2 % model.experts) : -1);
      }
  }
}

TEST(Routing, GivenExpertsEqualTheReference) {
  for (int64_t chosen : {1, 2, 4}) {
    SCOPED_TRACE(chosen);
    Pair pair({{"num_experts_per_tok", chosen}, {"num_local_experts", 5}},
              {.routing = true});
    Logits free = pair.run(*pair.compiled);
    pair.route = routeAnywhere;
    Logits expected = pair.run(*pair.reference);
    expectClose(pair.run(*pair.compiled), expected);
    EXPECT_GT(relativeError(free.back(), expected.back()), 1e-2);
  }
}

// Many pages of the cache and many blocks, beside a short sequence.
TEST(LongContext, EqualsTheReference) {
  for (int64_t chunk : {2000, 100}) {
    SCOPED_TRACE(chunk);
    Pair pair(json::object(), {.chunk = chunk, .lengths = {1301, 3}});
    expectClose(pair.run(*pair.compiled), pair.run(*pair.reference));
  }
}
