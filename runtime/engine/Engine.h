//===- Engine.h - Runs steps of a model -------------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One interface, two implementations: the programs of a package on a device
// (PackageEngine.h) and the compiler's reference interpreter
// (ReferenceEngine.h). An engine owns the pools that live between steps: one
// recurrent state per slot and lightning layer, and the rows of the key and
// value caches of softmax layers. It knows nothing of sequences; who owns which
// slot and rows is the session's business.
//
// Threads: one at a time. Errors: Error; a step that failed leaves the pools
// in an unknown state.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_ENGINE_ENGINE_H
#define MMX_RUNTIME_ENGINE_ENGINE_H

#include "mmx/package_generated.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mmx::runtime {

/// Prefill takes any number of tokens of any sequences; Decode exactly one
/// token of every sequence.
enum class Phase { Prefill, Decode };
inline const char *phaseName(Phase phase) {
  return phase == Phase::Prefill ? "prefill" : "decode";
}

struct ModelInfo {
  explicit ModelInfo(const package::Model &model);

  std::string type;
  int64_t vocab, hidden, layers, heads, kvHeads, headDim, page, maxPositions,
      parameters, experts, expertsPerToken;
  std::vector<int32_t> lightningLayers, softmaxLayers, stopIds;
};

/// Sizes of the pools.
struct EngineLimits {
  int64_t slots = 1;
  int64_t cacheRows = 0; ///< a multiple of the model's page
};

/// What a step reads. Tokens of one sequence stand together, sequences one
/// after another.
struct StepInputs {
  std::vector<int32_t> ids;       ///< [tokens]
  std::vector<int32_t> positions; ///< [tokens]: from 0 in the sequence
  std::vector<int32_t> starts;    ///< [sequences + 1]: first token of each
  std::vector<int32_t> slots;     ///< [sequences]: none twice
  std::vector<int32_t> past;      ///< [sequences]: tokens already in the cache
  std::vector<int32_t> cacheRows; ///< [tokens]: where key and value go
  std::vector<int32_t> pages;     ///< [sequences, pageColumns]
  std::vector<int32_t> logitRows; ///< [outputs]: tokens whose logits count
  int64_t pageColumns = 1;
  /// By layer, [tokens, experts per token]: the experts of every token; one
  /// that is negative is chosen by the router. Empty: all are. For models
  /// compiled with `routing`.
  std::vector<std::vector<int32_t>> routing;

  int64_t tokens() const { return ids.size(); }
  int64_t sequences() const { return slots.size(); }
  int64_t outputs() const { return logitRows.size(); }
};

/// What a step wrote; valid until the next call of the engine.
struct StepOutputs {
  std::span<const float> logits; ///< [outputs, vocab]
  /// [tokens, hidden]: the input of each layer, then the final norm's output;
  /// empty unless the model was compiled to keep them.
  std::vector<std::span<const float>> hidden;
  /// By layer, [tokens, experts per token]: where tokens went; empty for models
  /// without a router, or compiled without `routing`.
  std::vector<std::span<const int32_t>> experts;
};

class Engine {
public:
  virtual ~Engine() = default;

  virtual const ModelInfo &model() const = 0;
  virtual const EngineLimits &limits() const = 0;
  /// Ids that no token stands behind, ascending; they must never win.
  virtual const std::vector<int32_t> &tokenlessIds() const = 0;

  virtual StepOutputs run(Phase phase, const StepInputs &inputs) = 0;

  /// Zeroes the states of `slot`.
  virtual void clearSlot(int64_t slot) = 0;
  /// The state [heads, key, value] of a lightning layer.
  virtual std::vector<float> readState(int64_t layer, int64_t slot) = 0;
  virtual void writeState(int64_t layer, int64_t slot,
                          std::span<const float> state) = 0;
};

/// Throws unless the arrays of `inputs` agree with each other, with the phase
/// and with the limits: what engines may rely on.
void checkStep(Phase phase, const StepInputs &inputs, const ModelInfo &model,
               const EngineLimits &limits);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_ENGINE_ENGINE_H
