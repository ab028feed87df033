//===- ModelConfig.h - What a config.json says of a model -------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of config.json (and generation_config.json beside it) that decide
// what the model computes, read from both published formats: the authors' own
// ("minimax_text_01", "minimax_m1") and that of the transformers library
// ("minimax"). Keys for training only are ignored.
//
// Every field holds a checked value: counts are positive and bounded, the
// layer list has one entry a layer, key-value heads divide the heads.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_MODEL_MODELCONFIG_H
#define MMX_MODEL_MODELCONFIG_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mmx {

enum class ConfigFormat {
  Original,     ///< the authors' remote code
  Transformers, ///< model_type "minimax"
};

enum class LayerKind { Lightning, Softmax };

/// How the shared expert is mixed with the routed ones: by the sigmoid of a
/// coefficient, or by a softmax over that single logit, which is always 1.
enum class SharedExpertMode { Sigmoid, Softmax };

/// residual = alpha * input + beta * branch
struct ResidualFactors {
  double alpha = 1.0;
  double beta = 1.0;
};

struct ModelConfig {
  ConfigFormat format = ConfigFormat::Original;
  std::string modelType; ///< one of the three model_type spellings

  int64_t vocabSize = 0;
  int64_t hiddenSize = 0;
  int64_t maxPositions = 0;
  std::vector<LayerKind> layers;

  int64_t numHeads = 0;   ///< query heads, both kinds of attention
  int64_t numKVHeads = 0; ///< softmax layers only
  int64_t headDim = 0;
  int64_t rotaryDim = 0; ///< leading dimensions of a head that are rotated
  double ropeTheta = 0;
  int64_t block = 0; ///< tokens of a lightning block, a hint

  double normEps = 0;    ///< block norms and the final norm
  bool postNorm = false; ///< the residual is the normed value
  ResidualFactors lightning, softmax, mlp;

  int64_t intermediateSize = 0; ///< width of one expert
  int64_t numExperts = 0;       ///< 1: a dense layer without a router
  int64_t numExpertsPerToken = 0;
  int64_t sharedIntermediateSize = 0; ///< 0: no shared expert
  SharedExpertMode sharedMode = SharedExpertMode::Sigmoid;

  bool tieWordEmbeddings = false;
  std::string dtype; ///< "float32", "bfloat16" or empty: stored type
  std::vector<int64_t> stopIds;

  int64_t numLayers() const { return static_cast<int64_t>(layers.size()); }
};

/// The epsilon of the norm on the output of lightning attention. No key sets
/// it: both reference implementations build that norm with its default.
inline constexpr double attentionNormEps = 1e-6;

/// Reads the config.json at `path`, and the generation_config.json beside it
/// if there is one. Everything that is wrong is reported in one error, a line
/// each. `warnings` receives lines about guesses made for missing keys.
llvm::Expected<ModelConfig> readModelConfig(llvm::StringRef path,
                                            std::vector<std::string> &warnings);

} // namespace mmx

#endif // MMX_MODEL_MODELCONFIG_H
