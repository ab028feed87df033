//===- MMXInterfaces.cpp - Shapes and fusion kinds of mmx ops -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/MMX/MMXInterfaces.h"

#include "mmx/Dialect/MMX/MMXOps.h"

using namespace mlir;
using namespace mmx;

#include "mmx/Dialect/MMX/MMXInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Symbolic shapes
//===----------------------------------------------------------------------===//

/// The shape of `value` with every dynamic extent replaced by the next of
/// `dynamic`.
static SymbolicShape shapeOf(Value value, ArrayRef<AffineExpr> dynamic) {
  SymbolicShape shape;
  for (int64_t extent : cast<RankedTensorType>(value.getType()).getShape()) {
    if (!ShapedType::isDynamic(extent)) {
      shape.push_back(getAffineConstantExpr(extent, value.getContext()));
      continue;
    }
    shape.push_back(dynamic.front());
    dynamic = dynamic.drop_front();
  }
  return shape;
}

/// Every result takes its dynamic extents from the leading one of `operand`.
static SmallVector<SymbolicShape> rowsLike(Operation *op,
                                           const SymbolicShape &operand) {
  SmallVector<SymbolicShape> shapes;
  for (Value result : op->getResults())
    shapes.push_back(shapeOf(result, operand.front()));
  return shapes;
}

#define MMX_ROWS_LIKE_OPERAND(OP, INDEX)                                       \
  SmallVector<SymbolicShape> OP::inferSymbolicShapes(                          \
      ArrayRef<SymbolicShape> operands) {                                      \
    return rowsLike(*this, operands[INDEX]);                                   \
  }

MMX_ROWS_LIKE_OPERAND(EmbeddingOp, 0)
MMX_ROWS_LIKE_OPERAND(TakeRowsOp, 1)
MMX_ROWS_LIKE_OPERAND(LinearOp, 0)
MMX_ROWS_LIKE_OPERAND(RMSNormOp, 0)
MMX_ROWS_LIKE_OPERAND(SumSquaresOp, 0)
MMX_ROWS_LIKE_OPERAND(NormalizeOp, 0)
MMX_ROWS_LIKE_OPERAND(SiluOp, 0)
MMX_ROWS_LIKE_OPERAND(GateOp, 0)
MMX_ROWS_LIKE_OPERAND(SwigluOp, 0)
MMX_ROWS_LIKE_OPERAND(ResidualOp, 0)
MMX_ROWS_LIKE_OPERAND(MixOp, 0)
MMX_ROWS_LIKE_OPERAND(ConvertOp, 0)
MMX_ROWS_LIKE_OPERAND(SplitHeadsOp, 0)
MMX_ROWS_LIKE_OPERAND(MergeHeadsOp, 0)
MMX_ROWS_LIKE_OPERAND(RopeTableOp, 0)
MMX_ROWS_LIKE_OPERAND(RopeOp, 0)
MMX_ROWS_LIKE_OPERAND(CacheAppendOp, 1)
MMX_ROWS_LIKE_OPERAND(AttendOp, 0)
MMX_ROWS_LIKE_OPERAND(RouteOp, 0)
MMX_ROWS_LIKE_OPERAND(ExpertsOp, 0)
MMX_ROWS_LIKE_OPERAND(ExpertsUpOp, 1)
MMX_ROWS_LIKE_OPERAND(ExpertsDownOp, 0)
MMX_ROWS_LIKE_OPERAND(BlockValuesOp, 1)
MMX_ROWS_LIKE_OPERAND(BlockReadoutOp, 0)
MMX_ROWS_LIKE_OPERAND(QueryDecayOp, 0)
MMX_ROWS_LIKE_OPERAND(KeyDecayOp, 0)
MMX_ROWS_LIKE_OPERAND(BlockOuterOp, 0)
MMX_ROWS_LIKE_OPERAND(BlockDecayOp, 0)
MMX_ROWS_LIKE_OPERAND(AddOp, 0)
#undef MMX_ROWS_LIKE_OPERAND

SmallVector<SymbolicShape>
LightningAttentionOp::inferSymbolicShapes(ArrayRef<SymbolicShape> operands) {
  return {shapeOf(getResult(), operands[0].front()),
          shapeOf(getNewStates(), operands[3].front())};
}

SmallVector<SymbolicShape>
LightningStepOp::inferSymbolicShapes(ArrayRef<SymbolicShape> operands) {
  return {shapeOf(getResult(), operands[0].front()),
          shapeOf(getNewStates(), operands[3].front())};
}

SmallVector<SymbolicShape>
SoftmaxAttentionOp::inferSymbolicShapes(ArrayRef<SymbolicShape> operands) {
  return {shapeOf(getResult(), operands[0].front()),
          shapeOf(getNewKeyCache(), operands[3].front()),
          shapeOf(getNewValueCache(), operands[4].front())};
}

SmallVector<SymbolicShape>
GroupTokensOp::inferSymbolicShapes(ArrayRef<SymbolicShape> operands) {
  AffineExpr choices = operands[0][0] * operands[0][1];
  return {shapeOf(getTokens(), choices), shapeOf(getChoices(), choices),
          shapeOf(getOffsets(), choices)};
}

SmallVector<SymbolicShape>
CombineOp::inferSymbolicShapes(ArrayRef<SymbolicShape> operands) {
  AffineExpr tokens = operands[0][0].floorDiv(getTopK());
  return {shapeOf(getResult(), tokens)};
}

SmallVector<SymbolicShape>
BlockScoresOp::inferSymbolicShapes(ArrayRef<SymbolicShape> operands) {
  return {shapeOf(getResult(), {operands[0].front(), operands[1].front()})};
}

SmallVector<SymbolicShape>
DecayMaskOp::inferSymbolicShapes(ArrayRef<SymbolicShape> operands) {
  return {operands[0]};
}

/// Rows of a table with one entry a block of `length` tokens: a bound that
/// leaves a fixed place to every block (see `for_blocks`).
static AffineExpr blockRows(AffineExpr tokens, AffineExpr starts,
                            int64_t length) {
  AffineExpr sequences = starts - 1;
  return tokens.floorDiv(length) + sequences;
}

SmallVector<SymbolicShape>
SegmentTableOp::inferSymbolicShapes(ArrayRef<SymbolicShape> operands) {
  AffineExpr rows =
      blockRows(operands[1].front(), operands[0].front(), getLength());
  return {shapeOf(getResult(), rows + 1)};
}

SmallVector<SymbolicShape>
ZeroStatesOp::inferSymbolicShapes(ArrayRef<SymbolicShape> operands) {
  return {shapeOf(getResult(), operands[0].front() - 1)};
}

SmallVector<SymbolicShape>
ScanStatesOp::inferSymbolicShapes(ArrayRef<SymbolicShape> operands) {
  return {shapeOf(getResult(), operands[0].front()),
          shapeOf(getNewStates(), operands[1].front())};
}

SmallVector<SymbolicShape>
ForBlocksOp::inferSymbolicShapes(ArrayRef<SymbolicShape> operands) {
  ArrayRef<SymbolicShape> rest = operands.drop_front(getSlots() ? 2 : 1);
  AffineExpr starts = operands.front().front();
  AffineExpr tokens = rest.front().front();
  ArrayRef<SymbolicShape> carry = rest.take_back(getCarry().size());
  SmallVector<SymbolicShape> shapes;
  for (Value result : getTokenResults())
    shapes.push_back(shapeOf(result, tokens));
  for (Value result : getBlockResults())
    shapes.push_back(shapeOf(result, blockRows(tokens, starts, getBlock())));
  for (auto [result, pool] : llvm::zip_equal(getCarryResults(), carry))
    shapes.push_back(shapeOf(result, pool.front()));
  return shapes;
}

SmallVector<SymbolicShape>
KernelOp::inferSymbolicShapes(ArrayRef<SymbolicShape> operands) {
  llvm::DenseMap<Value, SymbolicShape> known;
  for (auto [arg, shape] : llvm::zip_equal(getBody().getArguments(), operands))
    known[arg] = shape;
  for (Operation &op : getBody().front().without_terminator()) {
    SmallVector<SymbolicShape> inputs;
    for (Value operand : op.getOperands())
      inputs.push_back(known.lookup(operand));
    auto shaped = cast<SymbolicShapeInterface>(op);
    for (auto [result, shape] :
         llvm::zip_equal(op.getResults(), shaped.inferSymbolicShapes(inputs)))
      known[result] = shape;
  }
  SmallVector<SymbolicShape> shapes;
  for (Value value : getBody().front().getTerminator()->getOperands())
    shapes.push_back(known.lookup(value));
  return shapes;
}

//===----------------------------------------------------------------------===//
// Fusion kinds
//===----------------------------------------------------------------------===//

#define MMX_FUSION_KIND(OP, KIND)                                              \
  FusionKind OP::getFusionKind() { return FusionKind::KIND; }

MMX_FUSION_KIND(EmbeddingOp, Anchor)
MMX_FUSION_KIND(TakeRowsOp, Anchor)
MMX_FUSION_KIND(LinearOp, Anchor)
MMX_FUSION_KIND(RMSNormOp, Anchor)
MMX_FUSION_KIND(SumSquaresOp, Anchor)
MMX_FUSION_KIND(NormalizeOp, Elementwise)
MMX_FUSION_KIND(SiluOp, Elementwise)
MMX_FUSION_KIND(GateOp, Elementwise)
MMX_FUSION_KIND(SwigluOp, Elementwise)
MMX_FUSION_KIND(ResidualOp, Elementwise)
MMX_FUSION_KIND(MixOp, Elementwise)
MMX_FUSION_KIND(ConvertOp, Elementwise)
MMX_FUSION_KIND(SplitHeadsOp, Reindex)
MMX_FUSION_KIND(MergeHeadsOp, Reindex)
MMX_FUSION_KIND(LightningAttentionOp, Anchor)
MMX_FUSION_KIND(LightningStepOp, Anchor)
MMX_FUSION_KIND(RopeTableOp, Isolated)
MMX_FUSION_KIND(RopeOp, Isolated)
MMX_FUSION_KIND(SoftmaxAttentionOp, Anchor)
MMX_FUSION_KIND(CacheAppendOp, Isolated)
MMX_FUSION_KIND(AttendOp, Anchor)
MMX_FUSION_KIND(RouteOp, Isolated)
MMX_FUSION_KIND(ExpertsOp, Anchor)
MMX_FUSION_KIND(GroupTokensOp, Isolated)
MMX_FUSION_KIND(ExpertsUpOp, Anchor)
MMX_FUSION_KIND(ExpertsDownOp, Isolated)
MMX_FUSION_KIND(CombineOp, Anchor)
MMX_FUSION_KIND(ForBlocksOp, Anchor)
MMX_FUSION_KIND(BlockScoresOp, Anchor)
MMX_FUSION_KIND(DecayMaskOp, Elementwise)
MMX_FUSION_KIND(BlockValuesOp, Anchor)
MMX_FUSION_KIND(BlockReadoutOp, Anchor)
MMX_FUSION_KIND(QueryDecayOp, Elementwise)
MMX_FUSION_KIND(KeyDecayOp, Elementwise)
MMX_FUSION_KIND(BlockOuterOp, Anchor)
MMX_FUSION_KIND(BlockDecayOp, Elementwise)
MMX_FUSION_KIND(AddOp, Elementwise)
MMX_FUSION_KIND(SegmentTableOp, Isolated)
MMX_FUSION_KIND(ZeroStatesOp, Isolated)
MMX_FUSION_KIND(ScanStatesOp, Isolated)
#undef MMX_FUSION_KIND
