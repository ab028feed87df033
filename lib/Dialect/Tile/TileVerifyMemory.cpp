//===- TileVerifyMemory.cpp - Verifiers of loads and stores ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers T.. are those of docs/tile.md.
//
//===----------------------------------------------------------------------===//

#include "TileVerify.h"
#include "mmx/Dialect/Tile/TileOps.h"
#include <cmath>

using namespace mlir;
using namespace mmx::tile;

/// T15.
static LogicalResult verifyIndices(Operation *op, ViewType view,
                                   size_t indices) {
  if (int64_t(indices) == view.getRank())
    return success();
  return op->emitOpError("expected ")
         << view.getRank() << " indices, but got " << indices << " (T15)";
}

/// T16.
static LogicalResult verifyDims(Operation *op, ViewType view, Type tile,
                                ArrayRef<int64_t> dims) {
  size_t rank = getTileShape(tile).size();
  if (dims.size() != rank)
    return op->emitOpError("expected ")
           << rank << " dims for " << tile << ", but got " << dims.size()
           << " (T16)";
  int64_t least = 0;
  for (int64_t dim : dims) {
    if (dim < least || dim >= view.getRank())
      return op->emitOpError("expected increasing dims below ")
             << view.getRank() << ", but got " << dim << " (T16)";
    least = dim + 1;
  }
  return success();
}

/// T19.
static LogicalResult verifyIds(Operation *op, ViewType ids) {
  if (ids.getRank() == 1 && ids.getElementType().isSignlessInteger(32) &&
      ids.getMode() == AccessMode::Read)
    return success();
  return op->emitOpError("expected row ids in a read view of rank 1 of i32, "
                         "but got ")
         << ids << " (T19)";
}

/// T17 and T20: a load or gather of `tile` from `view`.
static LogicalResult verifyLoaded(Operation *op, ViewType view, Type tile,
                                  const APFloat &fill) {
  Type element = getTileElementType(tile);
  if (element != view.getElementType())
    return op->emitOpError("expected a tile of ")
           << view.getElementType() << ", but got " << element << " (T17)";
  auto integer = dyn_cast<IntegerType>(element);
  double value = fill.convertToDouble();
  if (!integer)
    return success();
  double limit = std::ldexp(1.0, integer.getWidth() - 1);
  if (value == std::trunc(value) && value >= -limit && value < limit)
    return success();
  return op->emitOpError("expected a whole number in the range of ")
         << element << " as fill, but got " << value << " (T20)";
}

LogicalResult DimOp::verify() {
  int64_t dim = getDim(), rank = getView().getType().getRank();
  if (dim >= 0 && dim < rank)
    return success();
  return emitOpError("expected a dimension below ")
         << rank << ", but got " << dim << " (T21)";
}

LogicalResult TableOp::verify() {
  ViewType view = getView().getType();
  if (view.getMode() != AccessMode::Read)
    return emitOpError("expected a read view, but got ") << view << " (T14)";
  Type element = view.getElementType(), result = getResult().getType();
  if (result != element && !(result.isIndex() && element.isSignlessInteger(32)))
    return emitOpError("expected a result of ")
           << element << ", but got " << result << " (T14)";
  return verifyIndices(*this, view, getIndices().size());
}

LogicalResult LoadOp::verify() {
  ViewType view = getView().getType();
  Type tile = getResult().getType();
  if (failed(verifyIndices(*this, view, getIndices().size())) ||
      failed(verifyDims(*this, view, tile, getDims())))
    return failure();
  return verifyLoaded(*this, view, tile, getFill());
}

LogicalResult GatherOp::verify() {
  ViewType view = getView().getType();
  Type tile = getResult().getType();
  if (failed(verifyIndices(*this, view, getIndices().size())) ||
      failed(verifyDims(*this, view, tile, getDims())) ||
      failed(verifyIds(*this, getIds().getType())))
    return failure();
  return verifyLoaded(*this, view, tile, getFill());
}

LogicalResult StoreOp::verify() {
  ViewType view = getView().getType();
  Type tile = getTile().getType();
  if (view.getMode() == AccessMode::Read)
    return emitOpError("expected a write or inplace view, but got ")
           << view << " (T18)";
  Type from = getTileElementType(tile), to = view.getElementType();
  if (from != to && !(isa<FloatType>(from) && isa<FloatType>(to)))
    return emitOpError("expected a tile of ")
           << to << ", but got " << from << " (T18)";
  if (bool(getIds()) != bool(getStart()))
    return emitOpError("expected row ids and their start together (T19)");
  if (getIds() && failed(verifyIds(*this, getIds().getType())))
    return failure();
  if (failed(verifyIndices(*this, view, getIndices().size())))
    return failure();
  return verifyDims(*this, view, tile, getDims());
}
