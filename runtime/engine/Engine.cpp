//===- Engine.cpp - Runs steps of a model ---------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/Engine.h"

#include "runtime/support/Error.h"

#include <set>

using namespace mmx;
using namespace mmx::runtime;

static std::vector<int32_t>
toVector(const flatbuffers::Vector<int32_t> *values) {
  if (!values)
    return {};
  return {values->begin(), values->end()};
}

ModelInfo::ModelInfo(const package::Model &model)
    : type(model.type() ? model.type()->str() : ""), vocab(model.vocab()),
      hidden(model.hidden()), layers(model.layers()), heads(model.heads()),
      kvHeads(model.kv_heads()), headDim(model.head_dim()), page(model.page()),
      maxPositions(model.max_positions()), parameters(model.parameters()),
      experts(model.experts()), expertsPerToken(model.experts_per_token()),
      lightningLayers(toVector(model.lightning_layers())),
      softmaxLayers(toVector(model.softmax_layers())),
      stopIds(toVector(model.stop_ids())) {}

static void checkCount(const char *what, int64_t got, int64_t expected) {
  if (got != expected)
    fail("step: expected ", expected, " ", what, ", but got ", got);
}

static void checkBelow(const char *what, std::span<const int32_t> values,
                       int64_t limit) {
  for (int32_t value : values)
    if (value < 0 || value >= limit)
      fail("step: expected ", what, " from 0 to ", limit - 1, ", but got ",
           value);
}

static void checkDistinct(const char *what, std::span<const int32_t> values) {
  std::set<int32_t> seen;
  for (int32_t value : values)
    if (!seen.insert(value).second)
      fail("step: ", what, " ", value, " is given twice");
}

void mmx::runtime::checkStep(Phase phase, const StepInputs &inputs,
                             const ModelInfo &model,
                             const EngineLimits &limits) {
  int64_t tokens = inputs.tokens(), sequences = inputs.sequences();
  if (tokens < 1)
    fail("step: expected at least one token");
  checkCount("positions", inputs.positions.size(), tokens);
  checkCount("starts", inputs.starts.size(), sequences + 1);
  checkCount("past lengths", inputs.past.size(), sequences);
  checkCount("cache rows", inputs.cacheRows.size(), tokens);
  checkCount("pages", inputs.pages.size(), sequences * inputs.pageColumns);
  if (inputs.starts.front() != 0 || inputs.starts.back() != tokens)
    fail("step: expected starts from 0 to ", tokens, ", but got ",
         listText(inputs.starts));
  for (int64_t i = 0; i < sequences; ++i) {
    int64_t length = inputs.starts[i + 1] - inputs.starts[i];
    if (length < 0 || (phase == Phase::Decode && length != 1))
      fail("step: sequence ", i, " has ", length, " tokens in a ",
           phaseName(phase), " step");
  }
  if (!inputs.routing.empty())
    checkCount("layers of routing", inputs.routing.size(), model.layers);
  for (const std::vector<int32_t> &experts : inputs.routing) {
    checkCount("given experts", experts.size(), tokens * model.expertsPerToken);
    for (int32_t expert : experts)
      if (expert >= model.experts)
        fail("step: expected given experts below ", model.experts, ", but got ",
             expert);
  }
  checkBelow("ids", inputs.ids, model.vocab);
  checkBelow("positions", inputs.positions, model.maxPositions);
  checkBelow("slots", inputs.slots, limits.slots);
  checkBelow("logit rows", inputs.logitRows, tokens);
  checkDistinct("slot", inputs.slots);
  if (model.softmaxLayers.empty())
    return;
  checkBelow("cache rows", inputs.cacheRows, limits.cacheRows);
  checkBelow("pages", inputs.pages, limits.cacheRows / model.page);
  checkDistinct("cache row", inputs.cacheRows);
}
