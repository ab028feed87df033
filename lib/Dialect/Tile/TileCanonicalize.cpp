//===- TileCanonicalize.cpp - Folds of the tile ops -----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileVerify.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mmx/Dialect/Tile/TileOps.h"

using namespace mlir;
using namespace mmx::tile;

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

OpFoldResult DimOp::fold(FoldAdaptor) {
  ViewType view = getView().getType();
  if (view.isDynamicDim(getDim()))
    return {};
  return IntegerAttr::get(IndexType::get(getContext()),
                          view.getShape()[getDim()]);
}

/// Whether the op has a place in a schedule: then a copy is how a value gets
/// from one role to another, and stays.
static bool isScheduled(Operation *op) { return op->hasAttr("at"); }

OpFoldResult ReadOp::fold(FoldAdaptor) {
  auto put = getTile().getDefiningOp<PutOp>();
  if (put && !isScheduled(put) && !isScheduled(*this) &&
      put.getTile().getType() == getType())
    return put.getTile();
  return {};
}

OpFoldResult PutOp::fold(FoldAdaptor) {
  auto read = getTile().getDefiningOp<ReadOp>();
  if (read && !isScheduled(read) && !isScheduled(*this) &&
      read.getTile().getType() == getType())
    return read.getTile();
  return {};
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Drops a constant `rows` that leaves out no row.
template <typename OpTy>
static LogicalResult dropRows(OpTy op, Type tile, PatternRewriter &rewriter) {
  APInt rows;
  if (!op.getRows() || !matchPattern(op.getRows(), m_ConstantInt(&rows)) ||
      rows.getSExtValue() < getTileShape(tile)[0])
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getRowsMutable().clear(); });
  return success();
}

LogicalResult LoadOp::canonicalize(LoadOp op, PatternRewriter &rewriter) {
  return dropRows(op, op.getResult().getType(), rewriter);
}

LogicalResult StoreOp::canonicalize(StoreOp op, PatternRewriter &rewriter) {
  return dropRows(op, op.getTile().getType(), rewriter);
}

LogicalResult MmaOp::canonicalize(MmaOp op, PatternRewriter &rewriter) {
  // A chain starts from +0 anyway.
  auto map = op.getAcc() ? op.getAcc().getDefiningOp<MapOp>() : MapOp();
  if (!map || map.getWhen())
    return failure();
  auto yield = cast<YieldOp>(map.getBody().front().getTerminator());
  unsigned result = cast<OpResult>(op.getAcc()).getResultNumber();
  if (!matchPattern(yield.getValues()[result], m_PosZeroFloat()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getAccMutable().clear(); });
  return success();
}

/// A map whose `when` is known, and operands that the body does not use.
LogicalResult MapOp::canonicalize(MapOp op, PatternRewriter &rewriter) {
  APInt when;
  if (op.getWhen() && matchPattern(op.getWhen(), m_ConstantInt(&when))) {
    if (when.isZero())
      rewriter.replaceOp(op, op.getOperands_().front());
    else
      rewriter.modifyOpInPlace(op, [&] { op.getWhenMutable().clear(); });
    return success();
  }
  // Operand 0 is the result without `when`.
  Block &body = op.getBody().front();
  for (unsigned i = op.getWhen() ? 1 : 0; i < op.getOperands_().size(); ++i) {
    if (!body.getArgument(i).use_empty())
      continue;
    rewriter.modifyOpInPlace(op, [&] {
      body.eraseArgument(i);
      op.getOperands_Mutable().erase(i);
    });
    return success();
  }
  return failure();
}
