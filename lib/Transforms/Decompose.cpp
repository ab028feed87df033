//===- Decompose.cpp - Splits ops that take more than one kernel ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/MMX/MMXOps.h"
#include "mmx/Transforms/MMXPasses.h"

namespace mmx {
#define GEN_PASS_DEF_MMXDECOMPOSE
#include "mmx/Transforms/MMXPasses.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

static void splitAttention(IRRewriter &rewriter, SoftmaxAttentionOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value keys =
      CacheAppendOp::create(rewriter, loc, op.getNewKeyCache().getType(),
                            op.getKey(), op.getKeyCache(), op.getCacheRows());
  Value values = CacheAppendOp::create(
      rewriter, loc, op.getNewValueCache().getType(), op.getValue(),
      op.getValueCache(), op.getCacheRows());
  Value result =
      AttendOp::create(rewriter, loc, op.getResult().getType(), op.getQuery(),
                       keys, values, op.getStarts(), op.getPast(),
                       op.getPages(), op.getScaleAttr(), op.getPageAttr());
  rewriter.replaceOp(op, {result, keys, values});
}

static void splitExperts(IRRewriter &rewriter, ExpertsOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto chosen = cast<RankedTensorType>(op.getExperts().getType());
  auto up = cast<RankedTensorType>(op.getW1().getType());
  int64_t topK = chosen.getDimSize(1);
  Type i32 = rewriter.getI32Type();
  auto list = RankedTensorType::get({ShapedType::kDynamic}, i32);
  auto offsets = RankedTensorType::get({up.getDimSize(0) + 1}, i32);
  auto group = GroupTokensOp::create(
      rewriter, loc, TypeRange{list, list, offsets}, op.getExperts());
  auto hidden = RankedTensorType::get({ShapedType::kDynamic, up.getDimSize(1)},
                                      input.getElementType());
  Value inner = ExpertsUpOp::create(rewriter, loc, hidden, op.getInput(),
                                    group.getTokens(), group.getOffsets(),
                                    op.getW1(), op.getW3());
  Type rows = op.getResult().getType();
  Value outer =
      ExpertsDownOp::create(rewriter, loc, rows, inner, group.getChoices(),
                            group.getOffsets(), op.getW2(), op.getWeights());
  rewriter.replaceOpWithNewOp<CombineOp>(op, rows, outer,
                                         rewriter.getI64IntegerAttr(topK));
}

/// Whether the norm runs over an attention output or feeds an output gate:
/// then what reads it is a kernel that can apply it.
static bool wantsSplit(RMSNormOp op) {
  if (auto merge = op.getInput().getDefiningOp<MergeHeadsOp>())
    if (merge.getInput().getDefiningOp<LightningAttentionOp>() ||
        merge.getInput().getDefiningOp<LightningStepOp>())
      return true;
  return llvm::any_of(op.getResult().getUses(), [](OpOperand &use) {
    auto gate = dyn_cast<GateOp>(use.getOwner());
    return gate && gate.getInput() == use.get();
  });
}

static void splitNorm(IRRewriter &rewriter, RMSNormOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto stat =
      RankedTensorType::get({input.getDimSize(0)}, rewriter.getF32Type());
  Value sum = SumSquaresOp::create(rewriter, loc, stat, op.getInput());
  rewriter.replaceOpWithNewOp<NormalizeOp>(
      op, op.getResult().getType(), op.getInput(), sum, op.getWeight(),
      op.getEpsAttr(), rewriter.getI64IntegerAttr(input.getDimSize(1)));
}

namespace {
struct Decompose : mmx::impl::MMXDecomposeBase<Decompose> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    auto phase = getOperation()->getAttrOfType<StringAttr>("mmx.phase");
    bool decode = phase && phase.getValue() == "decode";
    getOperation().walk([&](Operation *op) {
      if (auto attention = dyn_cast<SoftmaxAttentionOp>(op)) {
        splitAttention(rewriter, attention);
        ++numAttentions;
      } else if (auto experts = dyn_cast<ExpertsOp>(op)) {
        splitExperts(rewriter, experts);
        ++numExperts;
      } else if (auto norm = dyn_cast<RMSNormOp>(op);
                 norm && wantsSplit(norm)) {
        splitNorm(rewriter, norm);
        ++numNorms;
      } else if (auto lightning = dyn_cast<LightningAttentionOp>(op);
                 lightning && decode) {
        rewriter.setInsertionPoint(op);
        rewriter.replaceOpWithNewOp<LightningStepOp>(
            op, op->getResultTypes(), lightning.getQuery(), lightning.getKey(),
            lightning.getValue(), lightning.getStates(), lightning.getSlots(),
            lightning.getDecay());
        ++numSteps;
      }
    });
  }
};
} // namespace
