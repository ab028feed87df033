//===- Plan.h - Memory and time of a model on GPUs --------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a model needs on each GPU, and the least time a step can take: sums of
// sizes, no measurement. Bytes and FLOPs are of one GPU, the one that holds or
// does most, unless said otherwise. docs/plan.md derives every formula.
//
// Ranks: gpus = tp * sp * pp. Heads and the vocabulary are cut tp ways, a
// sequence sp ways, layers pp ways. The tp * sp GPUs of a stage share its
// experts: ep groups hold whole experts, and every expert's width is cut
// tp * sp / ep ways.
//
// Functions are pure. Errors: Error, naming the option.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_PLAN_PLAN_H
#define MMX_RUNTIME_PLAN_PLAN_H

#include "runtime/plan/ModelShape.h"
#include "targets.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mmx::runtime {

/// How the weights of experts are stored.
enum class ExpertWeights {
  BF16,
  Int8, ///< and one f32 factor an output row
  Int4, ///< and one bf16 factor for 128 inputs of an output row
};
const char *nameOf(ExpertWeights weights);

struct PlanOptions {
  const Target *target = nullptr; ///< not null
  int64_t gpus = 1;
  int64_t tp = 0; ///< 0: what is left of gpus
  int64_t ep = 1, sp = 1, pp = 1;
  int64_t context = 0;  ///< tokens a sequence, more than 0
  int64_t batch = 1;    ///< sequences
  int64_t chunk = 8192; ///< most tokens of a prefill step
  ExpertWeights experts = ExpertWeights::BF16;
  int64_t cacheBytes = 2; ///< of a number in the key and value cache
};

/// What one GPU holds.
struct PlanMemory {
  int64_t experts = 0;      ///< weights of experts, factors included
  int64_t otherWeights = 0; ///< all other weights
  int64_t state = 0;        ///< of lightning layers, f32
  int64_t cache = 0;        ///< keys and values of softmax layers
  int64_t workspace = 0;    ///< values between kernels of a step
  int64_t reserve = 0;      ///< the driver's, and room to spare

  int64_t weights() const { return experts + otherWeights; }
  int64_t total() const {
    return weights() + state + cache + workspace + reserve;
  }
};

/// What a step does on one GPU.
struct PlanWork {
  double flops = 0;
  double bytes = 0;     ///< read and written in its memory
  double linkBytes = 0; ///< sent to other GPUs

  /// Seconds below which the target cannot go.
  double computeFloor(const Target &target) const;
  double memoryFloor(const Target &target) const;
  double linkFloor(const Target &target) const;  ///< 0 without traffic
  double floor(const Target &target) const;      ///< the largest
  const char *bound(const Target &target) const; ///< its name
};

struct Plan {
  PlanOptions options; ///< with every rank count filled in
  ModelShape shape;
  int64_t parameters = 0;       ///< of the whole model
  int64_t activeParameters = 0; ///< a token's, without embedding and head
  int64_t weightBytes = 0;      ///< of the whole model, each weight once
  PlanMemory memory;            ///< of the GPU that holds most
  PlanWork prefillToken;        ///< mean over a prompt of the context length
  PlanWork decodeStep;          ///< one token of every sequence, full context
  int64_t available = 0;        ///< memoryBytes of the target
  int64_t largestContext = 0;   ///< that fits; 0 if none does
  std::vector<std::string> toCome;      ///< what no code does yet
  std::vector<std::string> suggestions; ///< settings that would fit

  bool fits() const { return memory.total() <= available; }
};

/// Throws if the options do not go with the model or with one another.
Plan makePlan(const ModelShape &shape, const PlanOptions &options);

/// The plan as a table for people.
std::string planText(const Plan &plan);
/// The plan as one JSON object.
std::string planJson(const Plan &plan);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_PLAN_PLAN_H
