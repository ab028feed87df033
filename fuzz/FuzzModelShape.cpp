//===- FuzzModelShape.cpp - The runtime reads the sizes in a config.json --===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Plan.h"
#include "runtime/support/Error.h"

using namespace mmx::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    std::string_view text(reinterpret_cast<const char *>(data), size);
    ModelShape shape = parseModelShape(text, "config.json");
    PlanOptions options;
    options.target = mmx::findTarget("h200");
    options.context = 1;
    Plan plan = makePlan(shape, options);
    planText(plan);
    planJson(plan);
  } catch (const Error &) {
  }
  return 0;
}
