//===- ReferenceEngine.h - The reference interpreter ------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps run in the compiler's interpreter of the mmx dialect, in double
// precision; pools and outputs are f32 arrays of this engine, and `limits` says
// how large the pools of the model are. Slow and exact:
// what the other engine is compared with. The library and the weights must
// outlive the engine. Threads and errors as in Engine.h.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_ENGINE_REFERENCEENGINE_H
#define MMX_RUNTIME_ENGINE_REFERENCEENGINE_H

#include "runtime/engine/CompilerLibrary.h"
#include "runtime/engine/Engine.h"
#include "runtime/weights/TensorSource.h"

#include <map>
#include <optional>

namespace mmx::runtime {

class ReferenceEngine final : public Engine {
public:
  ReferenceEngine(const CompilerLibrary &compiler, const std::string &model,
                  const CompileSettings &settings, const TensorSource &weights,
                  const std::function<EngineLimits(const ModelInfo &)> &limits);
  ReferenceEngine(const ReferenceEngine &) = delete;
  ReferenceEngine &operator=(const ReferenceEngine &) = delete;
  ~ReferenceEngine() override;

  const ModelInfo &model() const override { return *info; }
  const EngineLimits &limits() const override { return poolLimits; }
  const std::vector<int32_t> &tokenlessIds() const override {
    return tokenless;
  }
  StepOutputs run(Phase phase, const StepInputs &inputs) override;
  void clearSlot(int64_t slot) override;
  std::vector<float> readState(int64_t layer, int64_t slot) override;
  void writeState(int64_t layer, int64_t slot,
                  std::span<const float> state) override;

private:
  struct Array {
    std::vector<float> values;
    std::vector<int64_t> shape;
  };
  class Buffers;
  void allocatePools();
  std::span<float> state(int64_t layer, int64_t slot);

  const CompilerLibrary &compiler;
  EngineLimits poolLimits;
  bool keepHidden, routing;
  MmxReference *reference = nullptr;
  std::optional<ModelInfo> info;
  std::vector<int32_t> tokenless;
  std::map<std::string, Array> pools;
  std::map<std::string, Array> results;
  std::vector<std::vector<int32_t>> experts; ///< by layer
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_ENGINE_REFERENCEENGINE_H
