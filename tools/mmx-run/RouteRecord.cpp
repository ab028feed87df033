//===- RouteRecord.cpp - Which experts the tokens went to -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RouteRecord.h"

#include "runtime/support/Error.h"

#include <algorithm>
#include <set>

using namespace mmx::runtime;
using namespace mmx::tool;

void RouteRecord::append(const StepOutputs &outputs) {
  layers.resize(outputs.experts.size());
  for (size_t layer = 0; layer < layers.size(); ++layer)
    layers[layer].insert(layers[layer].end(), outputs.experts[layer].begin(),
                         outputs.experts[layer].end());
}

void RouteRecord::give(StepInputs &inputs) const {
  for (const std::vector<int32_t> &recorded : layers) {
    std::vector<int32_t> &given = inputs.routing.emplace_back();
    for (int32_t position : inputs.positions) {
      if ((position + 1) * width > int64_t(recorded.size()))
        fail("no experts are recorded for the token at position ", position);
      auto begin = recorded.begin() + position * width;
      given.insert(given.end(), begin, begin + width);
    }
  }
}

double RouteRecord::shareOfOthers(const RouteRecord &other) const {
  int64_t different = 0, all = 0;
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    auto expertsOf = [&](const RouteRecord &record, int64_t token) {
      auto begin = record.layers[layer].begin() + token * width;
      return std::set<int32_t>(begin, begin + width);
    };
    int64_t tokens = layers[layer].size() / width;
    for (int64_t token = 0; token < tokens; ++token, ++all)
      different += expertsOf(*this, token) != expertsOf(other, token);
  }
  return all > 0 ? double(different) / double(all) : 0;
}
