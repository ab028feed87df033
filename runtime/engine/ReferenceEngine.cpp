//===- ReferenceEngine.cpp - The reference interpreter --------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/ReferenceEngine.h"

#include "runtime/package/Package.h"
#include "runtime/support/Error.h"
#include "runtime/weights/WeightLoader.h"

#include <algorithm>

using namespace mmx;
using namespace mmx::runtime;

/// Answers the interpreter's question for a tensor.
static int findTensor(void *context, const char *name, MmxTensor *out) {
  auto *weights = static_cast<const TensorSource *>(context);
  const TensorInfo *tensor = weights->find(name);
  if (!tensor)
    return 1;
  out->data = weights->data(*tensor);
  out->element = tensor->element.c_str();
  out->rank = tensor->shape.size();
  out->shape = tensor->shape.data();
  return 0;
}

ReferenceEngine::ReferenceEngine(
    const CompilerLibrary &compiler, const std::string &model,
    const CompileSettings &settings, const TensorSource &weights,
    const std::function<EngineLimits(const ModelInfo &)> &limits)
    : compiler(compiler), keepHidden(settings.keepHidden) {
  MmxCompileOptions options = toOptions(settings);
  char *error = nullptr;
  int status = compiler.referenceOpen(model.c_str(), &options, findTensor,
                                      const_cast<TensorSource *>(&weights),
                                      &reference, &error);
  compiler.check(status, error);
  try {
    MmxBytes bytes = {};
    status = compiler.referenceModel(reference, &bytes, &error);
    compiler.check(status, error);
    info.emplace(*(*Package::parse(compiler.take(bytes), model))->model());
    poolLimits = limits(*info);
    tokenless = runtime::tokenlessIds(weights, info->vocab);
    allocatePools();
  } catch (...) {
    compiler.referenceClose(reference);
    throw;
  }
}

ReferenceEngine::~ReferenceEngine() { compiler.referenceClose(reference); }

void ReferenceEngine::allocatePools() {
  auto add = [&](const char *role, int32_t layer, std::vector<int64_t> shape) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    pools[concat(role, layer)] = {std::vector<float>(count), std::move(shape)};
  };
  for (int32_t layer : info->lightningLayers)
    add("state.", layer,
        {poolLimits.slots, info->heads, info->headDim, info->headDim});
  for (int32_t layer : info->softmaxLayers)
    for (const char *role : {"key_cache.", "value_cache."})
      add(role, layer, {poolLimits.cacheRows, info->kvHeads, info->headDim});
}

StepOutputs ReferenceEngine::run(Phase phase, const StepInputs &inputs) {
  checkStep(phase, inputs, *info, poolLimits);
  std::vector<MmxRoleBuffer> buffers;
  std::vector<std::vector<int64_t>> shapes;
  shapes.reserve(8);
  auto addInput = [&](const char *role, const std::vector<int32_t> &values,
                      std::vector<int64_t> shape) {
    shapes.push_back(std::move(shape));
    buffers.push_back({role, const_cast<int32_t *>(values.data()),
                       int64_t(shapes.back().size()), shapes.back().data()});
  };
  int64_t tokens = inputs.tokens(), sequences = inputs.sequences();
  addInput("ids", inputs.ids, {tokens});
  addInput("positions", inputs.positions, {tokens});
  addInput("starts", inputs.starts, {sequences + 1});
  addInput("slots", inputs.slots, {sequences});
  addInput("past", inputs.past, {sequences});
  addInput("cache_rows", inputs.cacheRows, {tokens});
  addInput("pages", inputs.pages, {sequences, inputs.pageColumns});
  addInput("logit_rows", inputs.logitRows, {inputs.outputs()});
  auto addArray = [&](const std::string &role, Array &array) {
    buffers.push_back({role.c_str(), array.values.data(),
                       int64_t(array.shape.size()), array.shape.data()});
  };
  for (auto &[role, pool] : pools)
    addArray(role, pool);
  auto addResult = [&](const std::string &role, int64_t rows, int64_t width) {
    Array &array = results[role];
    array.values.resize(rows * width);
    array.shape = {rows, width};
    addArray(results.find(role)->first, array);
  };
  addResult("logits", inputs.outputs(), info->vocab);
  for (int64_t layer = 0; keepHidden && layer <= info->layers; ++layer)
    addResult(concat("hidden.", layer), tokens, info->hidden);
  char *error = nullptr;
  int status = compiler.referenceRun(reference, phaseName(phase),
                                     buffers.data(), buffers.size(), &error);
  compiler.check(status, error);
  StepOutputs outputs;
  outputs.logits = results["logits"].values;
  for (int64_t layer = 0; keepHidden && layer <= info->layers; ++layer)
    outputs.hidden.push_back(results[concat("hidden.", layer)].values);
  return outputs;
}

std::span<float> ReferenceEngine::state(int64_t layer, int64_t slot) {
  auto found = pools.find(concat("state.", layer));
  if (found == pools.end())
    fail("layer ", layer, " has no recurrent state");
  int64_t size = info->heads * info->headDim * info->headDim;
  return std::span(found->second.values).subspan(slot * size, size);
}

void ReferenceEngine::clearSlot(int64_t slot) {
  for (int32_t layer : info->lightningLayers)
    std::ranges::fill(state(layer, slot), 0.0f);
}

std::vector<float> ReferenceEngine::readState(int64_t layer, int64_t slot) {
  std::span<const float> values = state(layer, slot);
  return {values.begin(), values.end()};
}

void ReferenceEngine::writeState(int64_t layer, int64_t slot,
                                 std::span<const float> values) {
  std::span<float> target = state(layer, slot);
  if (values.size() != target.size())
    fail("expected a state of ", target.size(), " elements, but got ",
         values.size());
  std::ranges::copy(values, target.begin());
}
