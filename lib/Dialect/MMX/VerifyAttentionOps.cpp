//===- VerifyAttentionOps.cpp - Lightning and softmax attention -----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifySupport.h"
#include "mmx/Dialect/MMX/MMXOps.h"

using namespace mlir;
using namespace mmx;

// C14: the layer is one of the layers, the first head one of the heads.
LogicalResult DecayAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t layer, int64_t layers, int64_t heads,
                                SlopeRule, int64_t first) {
  if (layer < 0 || layer >= layers)
    return emitError() << "expected layer from 0 to below " << layers
                       << ", but got " << layer;
  if (first < 0 || first >= heads)
    return emitError() << "expected first head from 0 to below " << heads
                       << ", but got " << first;
  return success();
}

LogicalResult
TileSizesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t rows, int64_t cols, int64_t depth,
                      int64_t groups) {
  // C34
  if (rows <= 0 || cols <= 0 || depth <= 0)
    return emitError() << "expected positive tile sizes, but got " << rows
                       << ", " << cols << ", " << depth;
  if (groups < 0)
    return emitError() << "expected a number of warp groups, but got "
                       << groups;
  return success();
}

/// C11, C12: query, key, value and result alike; states [_, heads, dim, dim].
template <typename Op> static LogicalResult verifyLightning(Op op) {
  Value query = op.getQuery(), states = op.getStates();
  int64_t heads = extentOf(query, 1), dim = extentOf(query, 2);
  if (failed(expectShapeOf(op, "the key", query, op.getKey())) ||
      failed(expectShapeOf(op, "the value", query, op.getValue())) ||
      failed(expectShapeOf(op, "the result", query, op.getResult())) ||
      failed(expectExtent(op, "states of heads", heads, extentOf(states, 1))) ||
      failed(expectExtent(op, "states of key dim", dim, extentOf(states, 2))) ||
      failed(
          expectExtent(op, "states of value dim", dim, extentOf(states, 3))) ||
      failed(verifyDecay(op, op.getDecay(), heads)))
    return failure();
  return verifyPool(op, "the pool of states", states, op.getNewStates());
}

LogicalResult LightningAttentionOp::verify() { return verifyLightning(*this); }
LogicalResult LightningStepOp::verify() { return verifyLightning(*this); }

// C15: an even, positive number of rotated dimensions.
LogicalResult RopeTableOp::verify() {
  if (int64_t(getRotary()) <= 0 || getRotary() % 2 != 0)
    return emitOpError("expected rotary to be positive and even, but got ")
           << int64_t(getRotary());
  if (!(getTheta().convertToDouble() > 0))
    return emitOpError("expected theta > 0, but got ")
           << getTheta().convertToDouble();
  return expectExtent(*this, "a result of width", getRotary(),
                      extentOf(getResult(), 1));
}

// C16: no more dimensions are rotated than there are.
LogicalResult RopeOp::verify() {
  if (failed(expectShapeOf(*this, "the result", getInput(), getResult())))
    return failure();
  int64_t width = extentOf(getTable(), 1), dim = extentOf(getInput(), 2);
  if (width % 2 != 0 || width > dim)
    return emitOpError("expected a table of even width up to ")
           << dim << ", but got " << width;
  return success();
}

/// C17, C19: heads in whole groups, one dim, a page of some rows.
static LogicalResult verifyGroups(Operation *op, Value query, Value cache,
                                  int64_t page) {
  int64_t heads = extentOf(query, 1), kvHeads = extentOf(cache, 1);
  if (heads % kvHeads != 0)
    return op->emitOpError("expected query heads to be a multiple of the ")
           << kvHeads << " key-value heads, but got " << heads;
  if (failed(expectExtent(op, "a cache of dim", extentOf(query, 2),
                          extentOf(cache, 2))))
    return failure();
  return expectPositive(op, "page", page);
}

/// C18: rows of a cache are rows of the input.
static LogicalResult verifyCacheRows(Operation *op, Value input, Value cache) {
  if (failed(expectExtent(op, "a cache of heads", extentOf(input, 1),
                          extentOf(cache, 1))))
    return failure();
  return expectExtent(op, "a cache of dim", extentOf(input, 2),
                      extentOf(cache, 2));
}

LogicalResult SoftmaxAttentionOp::verify() {
  if (failed(expectShapeOf(*this, "the result", getQuery(), getResult())) ||
      failed(expectShapeOf(*this, "the value", getKey(), getValue())) ||
      failed(verifyCacheRows(*this, getKey(), getKeyCache())) ||
      failed(verifyCacheRows(*this, getValue(), getValueCache())) ||
      failed(verifyGroups(*this, getQuery(), getKeyCache(), getPage())) ||
      failed(
          verifyPool(*this, "the key cache", getKeyCache(), getNewKeyCache())))
    return failure();
  return verifyPool(*this, "the value cache", getValueCache(),
                    getNewValueCache());
}

// C20
LogicalResult CacheAppendOp::verify() {
  if (failed(verifyCacheRows(*this, getInput(), getCache())))
    return failure();
  return verifyPool(*this, "the cache", getCache(), getResult());
}

LogicalResult AttendOp::verify() {
  if (failed(expectShapeOf(*this, "the result", getQuery(), getResult())) ||
      failed(expectShapeOf(*this, "the value cache", getKeyCache(),
                           getValueCache())))
    return failure();
  return verifyGroups(*this, getQuery(), getKeyCache(), getPage());
}
