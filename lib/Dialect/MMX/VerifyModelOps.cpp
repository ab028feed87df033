//===- VerifyModelOps.cpp - Weights, linear layers, norms, residuals ------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifySupport.h"
#include "mmx/Dialect/MMX/MMXOps.h"

using namespace mlir;
using namespace mmx;

// C1: sources.
LogicalResult GlobalOp::verify() {
  auto sources = getSources().getAsRange<SourceAttr>();
  int64_t count = getSources().size();
  if (count == 0)
    return emitOpError("expected at least one source, but got none");
  for (SourceAttr source : sources)
    if (source.getIndex() < -1 || source.getFirst() < 0 || source.getRows() < 0)
      return emitOpError("expected index >= -1, first >= 0 and rows >= 0, but "
                         "got ")
             << source;
  int64_t leading = cast<RankedTensorType>(getType()).getDimSize(0);
  if (count > 1 && leading != count)
    return emitOpError("expected ")
           << leading << " sources, one for each leading element, but got "
           << count;
  return success();
}

// C2: the table is [vocabulary, width].
LogicalResult EmbeddingOp::verify() {
  if (failed(expectRank(*this, "a table", 2, getTable())))
    return failure();
  return expectExtent(*this, "a result of width", extentOf(getTable(), 1),
                      extentOf(getResult(), 1));
}

// C3: rows keep their width.
LogicalResult TakeRowsOp::verify() {
  return expectExtent(*this, "a result of width", extentOf(getInput(), 1),
                      extentOf(getResult(), 1));
}

// C4: [tokens, in] by [out, in] is [tokens, out].
LogicalResult LinearOp::verify() {
  if (failed(expectRank(*this, "a weight", 2, getWeight())) ||
      failed(expectExtent(*this, "an input of width", extentOf(getWeight(), 1),
                          extentOf(getInput(), 1))) ||
      failed(expectExtent(*this, "a result of width", extentOf(getWeight(), 0),
                          extentOf(getResult(), 1))))
    return failure();
  return expectExtent(*this, "result rows", extentOf(getInput(), 0),
                      extentOf(getResult(), 0));
}

/// C5: one weight for each column, eps not negative.
static LogicalResult verifyNorm(Operation *op, Value input, Value weight,
                                double eps, Value result) {
  if (failed(expectRank(op, "a weight", 1, weight)) ||
      failed(expectExtent(op, "a weight of length", extentOf(input, 1),
                          extentOf(weight, 0))) ||
      failed(expectShapeOf(op, "the result", input, result)))
    return failure();
  if (!(eps >= 0))
    return op->emitOpError("expected eps >= 0, but got ") << eps;
  return success();
}

LogicalResult RMSNormOp::verify() {
  return verifyNorm(*this, getInput(), getWeight(), getEps().convertToDouble(),
                    getResult());
}

// C6: the statistic has one value a row, of rows `width` wide.
LogicalResult NormalizeOp::verify() {
  if (failed(expectExtent(*this, "a statistic of length",
                          extentOf(getInput(), 0), extentOf(getStat(), 0))) ||
      failed(expectPositive(*this, "width", getWidth())))
    return failure();
  return verifyNorm(*this, getInput(), getWeight(), getEps().convertToDouble(),
                    getResult());
}

LogicalResult SumSquaresOp::verify() {
  return expectExtent(*this, "a result of length", extentOf(getInput(), 0),
                      extentOf(getResult(), 0));
}

// C7: elementwise ops keep the shape.
LogicalResult SiluOp::verify() {
  return expectShapeOf(*this, "the result", getInput(), getResult());
}

LogicalResult ConvertOp::verify() {
  return expectShapeOf(*this, "the result", getInput(), getResult());
}

LogicalResult GateOp::verify() {
  if (failed(expectShapeOf(*this, "the gate", getInput(), getGate())))
    return failure();
  return expectShapeOf(*this, "the result", getInput(), getResult());
}

LogicalResult SwigluOp::verify() {
  if (failed(expectShapeOf(*this, "up", getGate(), getUp())))
    return failure();
  return expectShapeOf(*this, "the result", getGate(), getResult());
}

LogicalResult ResidualOp::verify() {
  if (failed(expectShapeOf(*this, "the branch", getInput(), getBranch())))
    return failure();
  return expectShapeOf(*this, "the result", getInput(), getResult());
}

LogicalResult AddOp::verify() {
  if (failed(expectShapeOf(*this, "the right operand", getLhs(), getRhs())))
    return failure();
  return expectShapeOf(*this, "the result", getLhs(), getResult());
}

// C8: one coefficient a token.
LogicalResult MixOp::verify() {
  if (failed(expectShapeOf(*this, "shared", getRouted(), getShared())) ||
      failed(expectShapeOf(*this, "the result", getRouted(), getResult())))
    return failure();
  return expectExtent(*this, "a coefficient of width", 1,
                      extentOf(getCoefficient(), 1));
}

// C9: the row is heads times results times dim.
LogicalResult SplitHeadsOp::verify() {
  if (getOutputs().empty())
    return emitOpError("expected at least one result, but got none");
  Value first = getOutputs().front();
  for (Value output : getOutputs().drop_front())
    if (failed(expectShapeOf(*this, "every result", first, output)))
      return failure();
  return expectExtent(*this, "an input of width",
                      extentOf(first, 1) * extentOf(first, 2) *
                          static_cast<int64_t>(getOutputs().size()),
                      extentOf(getInput(), 1));
}

// C10: the row is heads times dim.
LogicalResult MergeHeadsOp::verify() {
  return expectExtent(*this, "a result of width",
                      extentOf(getInput(), 1) * extentOf(getInput(), 2),
                      extentOf(getResult(), 1));
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  return {};
}

/// Heads that were split and are merged again in the same order.
OpFoldResult MergeHeadsOp::fold(FoldAdaptor) {
  auto split = getInput().getDefiningOp<SplitHeadsOp>();
  if (split && split.getNumResults() == 1 &&
      split.getInput().getType() == getResult().getType())
    return split.getInput();
  return {};
}
