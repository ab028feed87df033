//===- VerifyBlockOps.cpp - Parts of blocks, loops over them, kernels -----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifySupport.h"
#include "mmx/Dialect/MMX/MMXOps.h"

using namespace mlir;
using namespace mmx;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

// C30: scores are [heads, m, m].
LogicalResult BlockScoresOp::verify() {
  if (failed(expectExtent(*this, "a key of dim", extentOf(getQuery(), 2),
                          extentOf(getKey(), 2))) ||
      failed(expectExtent(*this, "a key of heads", extentOf(getQuery(), 1),
                          extentOf(getKey(), 1))))
    return failure();
  return expectExtent(*this, "scores of heads", extentOf(getQuery(), 1),
                      extentOf(getResult(), 0));
}

LogicalResult DecayMaskOp::verify() {
  if (failed(expectShapeOf(*this, "the result", getScores(), getResult())))
    return failure();
  return verifyDecay(*this, getDecay(), extentOf(getScores(), 0));
}

LogicalResult BlockValuesOp::verify() {
  if (failed(expectExtent(*this, "scores of heads", extentOf(getValue(), 1),
                          extentOf(getScores(), 0))))
    return failure();
  return expectShapeOf(*this, "the result", getValue(), getResult());
}

// C31: states are [heads, dim, dim].
LogicalResult BlockReadoutOp::verify() {
  if (failed(expectExtent(*this, "a state of heads", extentOf(getQuery(), 1),
                          extentOf(getState(), 0))) ||
      failed(expectExtent(*this, "a state of key dim", extentOf(getQuery(), 2),
                          extentOf(getState(), 1))))
    return failure();
  return expectExtent(*this, "a result of dim", extentOf(getState(), 2),
                      extentOf(getResult(), 2));
}

LogicalResult QueryDecayOp::verify() {
  if (failed(expectShapeOf(*this, "the result", getInput(), getResult())))
    return failure();
  return verifyDecay(*this, getDecay(), extentOf(getInput(), 1));
}

LogicalResult KeyDecayOp::verify() {
  if (failed(expectShapeOf(*this, "the result", getInput(), getResult())))
    return failure();
  return verifyDecay(*this, getDecay(), extentOf(getInput(), 1));
}

LogicalResult BlockOuterOp::verify() {
  if (failed(expectExtent(*this, "a value of heads", extentOf(getKey(), 1),
                          extentOf(getValue(), 1))) ||
      failed(expectExtent(*this, "a result of heads", extentOf(getKey(), 1),
                          extentOf(getResult(), 0))) ||
      failed(expectExtent(*this, "a result of key dim", extentOf(getKey(), 2),
                          extentOf(getResult(), 1))))
    return failure();
  return expectExtent(*this, "a result of value dim", extentOf(getValue(), 2),
                      extentOf(getResult(), 2));
}

LogicalResult BlockDecayOp::verify() {
  if (failed(expectShapeOf(*this, "the result", getState(), getResult())))
    return failure();
  return verifyDecay(*this, getDecay(), extentOf(getState(), 0));
}

// C32: segments have a length.
LogicalResult SegmentTableOp::verify() {
  return expectPositive(*this, "length", getLength());
}

LogicalResult ScanStatesOp::verify() {
  if (failed(expectPositive(*this, "length", getLength())) ||
      failed(expectShapeOf(*this, "the result", getLocal(), getResult())) ||
      failed(verifyDecay(*this, getDecay(), extentOf(getLocal(), 1))))
    return failure();
  return verifyPool(*this, "the pool of states", getStates(), getNewStates());
}

//===----------------------------------------------------------------------===//
// Loops over blocks
//===----------------------------------------------------------------------===//

// C27: blocks have a length, and every carried pool a result.
LogicalResult ForBlocksOp::verify() {
  if (failed(expectPositive(*this, "block", getBlock())))
    return failure();
  if (getTokens().empty())
    return emitOpError("expected at least one operand of tokens, but got none");
  if (getCarry().size() != getCarryResults().size())
    return emitOpError("expected ")
           << getCarry().size() << " carried results, but got "
           << getCarryResults().size();
  for (auto [pool, result] : llvm::zip_equal(getCarry(), getCarryResults()))
    if (failed(verifyPool(*this, "a carried pool", pool, result)))
      return failure();
  return success();
}

/// The type of one row of a pool.
static Type rowOf(Value pool) {
  auto type = cast<RankedTensorType>(pool.getType());
  return RankedTensorType::get(type.getShape().drop_front(),
                               type.getElementType());
}

/// A block's rows of an operand of tokens.
static Type blockOf(Value tokens) {
  auto type = cast<RankedTensorType>(tokens.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.front() = ShapedType::kDynamic;
  return RankedTensorType::get(shape, type.getElementType());
}

/// C28, C29: types that the body must have in one group.
static LogicalResult expectTypes(Operation *op, StringRef what,
                                 ArrayRef<Type> expected, TypeRange got) {
  if (llvm::equal(expected, got))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("expected ") << what << " (";
  llvm::interleaveComma(expected, diagnostic);
  diagnostic << "), but got (";
  llvm::interleaveComma(got, diagnostic);
  return diagnostic << ")";
}

LogicalResult ForBlocksOp::verifyRegions() {
  SmallVector<Type> arguments, tokens, blocks, carry;
  for (Value operand : getTokens())
    arguments.push_back(blockOf(operand));
  for (Value operand : llvm::concat<Value>(getBlocks(), getCarry()))
    arguments.push_back(rowOf(operand));
  if (failed(expectTypes(*this, "body arguments", arguments,
                         getBody().getArgumentTypes())))
    return failure();
  for (Value result : getTokenResults())
    tokens.push_back(blockOf(result));
  for (Value result : getBlockResults())
    blocks.push_back(rowOf(result));
  for (Value result : getCarryResults())
    carry.push_back(rowOf(result));
  auto yield = cast<BlockYieldOp>(getBody().front().getTerminator());
  if (failed(expectTypes(yield, "token values", tokens,
                         yield.getTokens().getTypes())) ||
      failed(expectTypes(yield, "block values", blocks,
                         yield.getBlocks().getTypes())))
    return failure();
  return expectTypes(yield, "carried values", carry,
                     yield.getCarry().getTypes());
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// C33: arguments stand for operands, yielded values for results.
LogicalResult KernelOp::verifyRegions() {
  SmallVector<Type> inputs(getInputs().getTypes());
  SmallVector<Type> outputs(getResultTypes());
  if (failed(expectTypes(*this, "body arguments", inputs,
                         getBody().getArgumentTypes())))
    return failure();
  Operation *yield = getBody().front().getTerminator();
  return expectTypes(yield, "values", outputs, yield->getOperandTypes());
}

// C35: an entry of inplace and of shapes for each result.
LogicalResult LaunchOp::verify() {
  int64_t results = getNumResults();
  if (int64_t(getInplace().size()) != results)
    return emitOpError("expected ")
           << results << " entries of inplace, one for each result, but got "
           << getInplace().size();
  if (int64_t(getShapes().size()) != results)
    return emitOpError("expected ")
           << results << " shapes, one for each result, but got "
           << getShapes().size();
  for (int64_t operand : getInplace())
    if (operand < -1 || operand >= int64_t(getInputs().size()))
      return emitOpError("expected inplace from -1 to below ")
             << getInputs().size() << ", but got " << operand;
  for (auto [result, shape] : llvm::zip_equal(
           getOutputs(), getShapes().getAsValueRange<AffineMapAttr>()))
    if (failed(expectExtent(*this, "a shape of rank", rankOf(result),
                            shape.getNumResults())))
      return failure();
  return success();
}
