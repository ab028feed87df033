//===- FuzzPlanOptions.cpp - Plans for any numbers of ranks and tokens ----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Input: target, weights of experts and cache in a byte each, then numbers of
// eight bytes. Plans that are made hold what they say and are written down.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Plan.h"
#include "runtime/support/Error.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace mmx::runtime;

static const ModelShape &published() {
  static const ModelShape shape =
      readModelShape(MMX_FUZZ_MODELS "/minimax-text-01");
  return shape;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3)
    return 0;
  PlanOptions options;
  options.target = &mmx::targetTable[data[0] % std::size(mmx::targetTable)];
  options.experts = static_cast<ExpertWeights>(data[1] % 3);
  options.cacheBytes = data[2] & 1 ? 4 : 2;
  size_t place = 3;
  for (int64_t *number :
       {&options.gpus, &options.tp, &options.ep, &options.sp, &options.pp,
        &options.context, &options.batch, &options.chunk}) {
    if (place + sizeof(*number) > size)
      break;
    std::memcpy(number, data + place, sizeof(*number));
    place += sizeof(*number);
  }
  try {
    Plan plan = makePlan(published(), options);
    const PlanMemory &memory = plan.memory;
    for (int64_t bytes : {memory.experts, memory.otherWeights, memory.state,
                          memory.cache, memory.workspace, memory.reserve,
                          memory.total(), plan.largestContext})
      if (bytes < 0)
        std::abort();
    if (plan.fits() && plan.largestContext < options.context)
      std::abort();
    for (const PlanWork &work : {plan.prefillToken, plan.decodeStep})
      if (!std::isfinite(work.floor(*options.target)))
        std::abort();
    planText(plan);
    planJson(plan);
  } catch (const Error &) {
  }
  return 0;
}
