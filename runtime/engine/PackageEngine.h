//===- PackageEngine.h - The programs of a package on a device --*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Owns the weights, the pools, the arena and the buffers of a step, all in the
// memory of the device, which must outlive the engine. Threads and errors as
// in Engine.h.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_ENGINE_PACKAGEENGINE_H
#define MMX_RUNTIME_ENGINE_PACKAGEENGINE_H

#include "runtime/engine/Engine.h"
#include "runtime/engine/ProgramBinding.h"
#include "runtime/trace/Trace.h"
#include "runtime/weights/TensorSource.h"

#include <map>
#include <optional>
#include <set>

namespace mmx::runtime {

class PackageEngine final : public Engine {
public:
  struct Options {
    EngineLimits limits;
    /// Fills the arena and the outputs with NaN before every step, so that a
    /// kernel that reads what nobody wrote is seen.
    bool poison = false;
    /// Times every launch on its own, for profile().
    bool profile = false;
    /// Receives a span for every launch, each run on its own; not owned, may
    /// be null.
    Trace *trace = nullptr;
    /// Records the decode program where its sizes repeat (Device::record).
    bool graphs = true;
    /// Called while weights load, from one thread at a time.
    std::function<void(int64_t done, int64_t total)> progress = {};
  };
  PackageEngine(std::shared_ptr<const Package> package, Device &device,
                const TensorSource &weights, Options options);

  const ModelInfo &model() const override { return info; }
  const EngineLimits &limits() const override { return options.limits; }
  const std::vector<int32_t> &tokenlessIds() const override {
    return tokenless;
  }
  StepOutputs run(Phase phase, const StepInputs &inputs) override;
  void clearSlot(int64_t slot) override;
  std::vector<float> readState(int64_t layer, int64_t slot) override;
  void writeState(int64_t layer, int64_t slot,
                  std::span<const float> state) override;

  /// Bytes of weights, of pools, and of arena and step buffers so far.
  uint64_t weightBytes() const { return weightMemory.bytes(); }
  uint64_t poolBytes() const;
  uint64_t stepBytes() const;

  /// What the launches of one kernel took so far.
  struct KernelTime {
    std::string kernel;
    int64_t launches = 0;
    double seconds = 0;
  };
  /// Per kernel of the package, longest first; empty without Options.profile.
  std::vector<KernelTime> profile() const;

private:
  struct Bound {
    ProgramBinding binding;
    std::vector<DeviceMemory> constants = {}; ///< per buffer; some are empty
    std::set<std::string, std::less<>> roles = {};
    std::optional<StepSymbols> symbols = {};
    int64_t epoch = -1;
    int64_t runs = 0; ///< since it was bound
    std::unique_ptr<LaunchGraph> graph = nullptr;
  };
  void addProgram(const char *name);
  void checkLayouts() const;
  void loadWeights(const TensorSource &weights);
  void allocatePools();
  void reserve(Bound &program, const StepSymbols &symbols);
  void bind(Bound &program, const StepSymbols &symbols);
  void upload(const Bound &program, const StepInputs &inputs);
  void poison(const Bound &program, const StepSymbols &symbols);
  StepOutputs outputs(const Bound &program, const StepSymbols &symbols);
  void launch(Bound &program, Phase phase);
  void launchTimed(const ProgramBinding &binding, size_t number);
  DeviceMemory &state(int64_t layer);
  int64_t stateBytes() const;

  std::shared_ptr<const Package> package;
  Device &device;
  Options options;
  ModelInfo info;
  std::vector<int32_t> tokenless;
  std::unique_ptr<KernelSet> kernels;
  DeviceMemory weightMemory;
  std::vector<std::byte *> weightPlaces;
  std::vector<Bound> programs; ///< by phase
  DeviceMemory arena;
  /// By role: pools, inputs and outputs. `epoch` counts their moves.
  std::map<std::string, DeviceMemory, std::less<>> roles;
  int64_t epoch = 0;
  std::map<std::string, std::vector<std::byte>> staging;
  std::vector<KernelTime> kernelTimes;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_ENGINE_PACKAGEENGINE_H
