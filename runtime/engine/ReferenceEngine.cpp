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
#include <deque>

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
    : compiler(compiler), keepHidden(settings.keepHidden),
      routing(settings.routing) {
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

/// The buffers of one run, with the shapes that they point to.
class ReferenceEngine::Buffers {
public:
  void add(std::string role, const void *data, std::vector<int64_t> shape) {
    names.push_back(std::move(role));
    shapes.push_back(std::move(shape));
    buffers.push_back({names.back().c_str(), const_cast<void *>(data),
                       int64_t(shapes.back().size()), shapes.back().data()});
  }
  void add(const std::string &role, Array &array) {
    add(role, array.values.data(), array.shape);
  }
  void addInputs(const StepInputs &inputs) {
    int64_t tokens = inputs.tokens(), sequences = inputs.sequences();
    add("ids", inputs.ids.data(), {tokens});
    add("positions", inputs.positions.data(), {tokens});
    add("starts", inputs.starts.data(), {sequences + 1});
    add("slots", inputs.slots.data(), {sequences});
    add("past", inputs.past.data(), {sequences});
    add("cache_rows", inputs.cacheRows.data(), {tokens});
    add("pages", inputs.pages.data(), {sequences, inputs.pageColumns});
    add("logit_rows", inputs.logitRows.data(), {inputs.outputs()});
  }
  std::span<const MmxRoleBuffer> list() const { return buffers; }

private:
  // Addresses in a deque stay.
  std::deque<std::string> names;
  std::deque<std::vector<int64_t>> shapes;
  std::vector<MmxRoleBuffer> buffers;
};

StepOutputs ReferenceEngine::run(Phase phase, const StepInputs &inputs) {
  checkStep(phase, inputs, *info, poolLimits);
  int64_t tokens = inputs.tokens();
  Buffers buffers;
  buffers.addInputs(inputs);
  for (auto &[role, pool] : pools)
    buffers.add(role, pool);
  auto addResult = [&](const std::string &role, int64_t rows, int64_t width) {
    Array &array = results[role];
    array.values.resize(rows * width);
    array.shape = {rows, width};
    buffers.add(role, array);
  };
  addResult("logits", inputs.outputs(), info->vocab);
  for (int64_t layer = 0; keepHidden && layer <= info->layers; ++layer)
    addResult(concat("hidden.", layer), tokens, info->hidden);
  // A model without a router leaves what stands here.
  std::vector<int32_t> allFree(tokens * info->expertsPerToken, -1);
  experts.assign(routing ? info->layers : 0, allFree);
  for (size_t layer = 0; layer < experts.size(); ++layer) {
    std::vector<int64_t> shape = {tokens, info->expertsPerToken};
    buffers.add(concat("routing.", layer),
                inputs.routing.empty() ? allFree.data()
                                       : inputs.routing[layer].data(),
                shape);
    buffers.add(concat("experts.", layer), experts[layer].data(), shape);
  }
  char *error = nullptr;
  int status =
      compiler.referenceRun(reference, phaseName(phase), buffers.list().data(),
                            buffers.list().size(), &error);
  compiler.check(status, error);
  StepOutputs outputs;
  outputs.logits = results["logits"].values;
  for (int64_t layer = 0; keepHidden && layer <= info->layers; ++layer)
    outputs.hidden.push_back(results[concat("hidden.", layer)].values);
  for (const std::vector<int32_t> &chosen : experts)
    if (std::ranges::find(chosen, -1) == chosen.end())
      outputs.experts.push_back(chosen);
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
