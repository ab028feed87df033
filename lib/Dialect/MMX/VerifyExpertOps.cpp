//===- VerifyExpertOps.cpp - Routing and mixture of experts --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifySupport.h"
#include "mmx/Dialect/MMX/MMXOps.h"

using namespace mlir;
using namespace mmx;

// C21: between one and all experts are chosen.
LogicalResult RouteOp::verify() {
  int64_t experts = extentOf(getLogits(), 1), chosen = getTopK();
  if (chosen < 1 || (!ShapedType::isDynamic(experts) && chosen > experts))
    return emitOpError("expected top_k from 1 to ")
           << experts << ", but got " << chosen;
  if (failed(expectExtent(*this, "weights of width", chosen,
                          extentOf(getWeights(), 1))))
    return failure();
  if (getGiven() && failed(expectExtent(*this, "given experts of width", chosen,
                                        extentOf(getGiven(), 1))))
    return failure();
  return expectExtent(*this, "experts of width", chosen,
                      extentOf(getExperts(), 1));
}

/// C22: w1 and w3 are [experts, width, in].
static LogicalResult verifyUp(Operation *op, Value input, Value w1, Value w3) {
  if (failed(expectRank(op, "w1", 3, w1)) ||
      failed(expectShapeOf(op, "w3", w1, w3)))
    return failure();
  return expectExtent(op, "an input of width", extentOf(w1, 2),
                      extentOf(input, 1));
}

/// C23: w2 is [experts, out, width].
static LogicalResult verifyDown(Operation *op, int64_t width, Value w2,
                                Value result) {
  if (failed(expectRank(op, "w2", 3, w2)) ||
      failed(expectExtent(op, "w2 of inner width", width, extentOf(w2, 2))))
    return failure();
  return expectExtent(op, "a result of width", extentOf(w2, 1),
                      extentOf(result, 1));
}

LogicalResult ExpertsOp::verify() {
  if (failed(expectShapeOf(*this, "the experts", getWeights(), getExperts())) ||
      failed(verifyUp(*this, getInput(), getW1(), getW3())) ||
      failed(expectRank(*this, "w2", 3, getW2())) ||
      failed(expectExtent(*this, "w2 of experts", extentOf(getW1(), 0),
                          extentOf(getW2(), 0))))
    return failure();
  return verifyDown(*this, extentOf(getW1(), 1), getW2(), getResult());
}

// C24: one offset more than experts.
LogicalResult GroupTokensOp::verify() {
  int64_t offsets = extentOf(getOffsets(), 0);
  if (ShapedType::isDynamic(offsets) || offsets < 2)
    return emitOpError("expected a fixed number of offsets, experts + 1, but "
                       "got ")
           << getOffsets().getType();
  return success();
}

static LogicalResult verifyOffsets(Operation *op, Value weight, Value offsets) {
  return expectExtent(op, "offsets of length", extentOf(weight, 0) + 1,
                      extentOf(offsets, 0));
}

LogicalResult ExpertsUpOp::verify() {
  if (failed(verifyUp(*this, getInput(), getW1(), getW3())) ||
      failed(verifyOffsets(*this, getW1(), getOffsets())))
    return failure();
  return expectExtent(*this, "a result of width", extentOf(getW1(), 1),
                      extentOf(getResult(), 1));
}

LogicalResult ExpertsDownOp::verify() {
  if (failed(verifyDown(*this, extentOf(getInput(), 1), getW2(), getResult())))
    return failure();
  return verifyOffsets(*this, getW2(), getOffsets());
}

// C26: at least one choice a token.
LogicalResult CombineOp::verify() {
  if (failed(expectPositive(*this, "top_k", getTopK())))
    return failure();
  return expectExtent(*this, "a result of width", extentOf(getInput(), 1),
                      extentOf(getResult(), 1));
}
