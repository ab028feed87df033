//===- Greedy.cpp - The most likely id ------------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Greedy.h"

#include "runtime/support/Error.h"

#include <cmath>

using namespace mmx::runtime;

int32_t mmx::runtime::bestId(std::span<const float> logits,
                             std::span<const int32_t> masked) {
  int32_t best = -1;
  size_t nextMasked = 0;
  for (int32_t id = 0; id < int32_t(logits.size()); ++id) {
    if (std::isnan(logits[id]))
      fail("the logit of id ", id, " is not a number; if a weight is none, ",
           "--check-weights tells which");
    if (nextMasked < masked.size() && masked[nextMasked] == id)
      ++nextMasked;
    else if (best < 0 || logits[id] > logits[best])
      best = id;
  }
  if (best < 0)
    fail("no id is left to choose from");
  return best;
}
