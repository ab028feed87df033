//===- MMXAttrs.cpp - Decay rates and the checks of attributes ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Diagnostics.h"
#include "mmx/Dialect/MMX/MMXDialect.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace mlir;
using namespace mmx;

/// 2^(-8 (head + 1) / heads): the slopes of a power of two of heads (E5).
static double powerSlope(int64_t head, int64_t heads) {
  return std::exp2(-8.0 * (head + 1) / heads);
}

/// The base slope of a head (E5).
static double baseSlope(int64_t head, int64_t heads, SlopeRule rule) {
  if (rule == SlopeRule::Power)
    return powerSlope(head, heads);
  int64_t floor = llvm::bit_floor(static_cast<uint64_t>(heads));
  if (head < floor)
    return powerSlope(head, floor);
  // Beyond the power of two: every other slope of the next one's series.
  return powerSlope(2 * (head - floor), 2 * floor);
}

/// The factor of a layer (E6). A model of one layer has the factor of a first
/// layer.
static double layerFactor(int64_t layer, int64_t layers, SlopeRule rule) {
  constexpr double offset = 1e-5;
  double last = layers - 1;
  if (rule == SlopeRule::Power)
    last += offset;
  return layer == 0 ? 1 + offset : 1 - layer / last + offset;
}

double DecayAttr::getRate(int64_t head) const {
  return baseSlope(getFirst() + head, getHeads(), getRule()) *
         layerFactor(getLayer(), getLayers(), getRule());
}
