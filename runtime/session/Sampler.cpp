//===- Sampler.cpp - Draws the next id ------------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Sampler.h"

#include "runtime/session/Greedy.h"
#include "runtime/support/Random.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace mmx::runtime;

int32_t Sampler::next(std::span<const float> logits,
                      std::span<const int32_t> masked, int64_t position) {
  // Checks the logits, too.
  int32_t best = bestId(logits, masked);
  if (options.temperature <= 0)
    return best;
  ids.clear();
  for (int32_t id = 0; id < int32_t(logits.size()); ++id)
    if (!std::ranges::binary_search(masked, id))
      ids.push_back(id);
  std::ranges::sort(ids, [&](int32_t a, int32_t b) {
    return std::pair(-logits[a], a) < std::pair(-logits[b], b);
  });
  if (options.topK > 0 && options.topK < int64_t(ids.size()))
    ids.resize(options.topK);
  shares.clear();
  double total = 0;
  for (int32_t id : ids) {
    shares.push_back(
        std::exp((double(logits[id]) - logits[best]) / options.temperature));
    total += shares.back();
  }
  size_t kept = 0;
  double sum = 0;
  while (kept < ids.size() && (kept == 0 || sum < options.topP * total))
    sum += shares[kept++];
  double left = unitAt(options.seed, options.sequence, position) * sum;
  for (size_t i = 0; i + 1 < kept; ++i)
    if ((left -= shares[i]) < 0)
      return ids[i];
  return ids[kept - 1];
}
