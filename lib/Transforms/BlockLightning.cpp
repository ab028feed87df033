//===- BlockLightning.cpp - Lightning attention as loops over blocks ------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/MMX/MMXOps.h"
#include "mmx/Transforms/MMXPasses.h"

namespace mmx {
#define GEN_PASS_DEF_MMXBLOCKLIGHTNING
#include "mmx/Transforms/MMXPasses.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

namespace {
/// Builds the loops that replace one lightning attention. Decays, scores and
/// states are f32 whatever the element type of the activations.
class LightningBlocker {
public:
  LightningBlocker(IRRewriter &rewriter, LightningAttentionOp op, int64_t block)
      : rewriter(rewriter), op(op), loc(op.getLoc()),
        heads(cast<RankedTensorType>(op.getQuery().getType())),
        states(cast<RankedTensorType>(op.getStates().getType())),
        block(rewriter.getI64IntegerAttr(block)) {}

  void run();

private:
  RankedTensorType f32Like(RankedTensorType type) {
    return type.clone(rewriter.getF32Type());
  }
  /// `value` in f32.
  Value widen(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType().isF32())
      return value;
    return ConvertOp::create(rewriter, loc, f32Like(type), value);
  }
  ForBlocksOp createLoop(TypeRange tokenResults, TypeRange blockResults,
                         TypeRange carryResults, Value slots, ValueRange tokens,
                         ValueRange blocks, ValueRange carry);
  ForBlocksOp createStates();
  ForBlocksOp createInter(Value blockStates);
  ForBlocksOp createIntra();

  IRRewriter &rewriter;
  LightningAttentionOp op;
  Location loc;
  RankedTensorType heads, states;
  IntegerAttr block;
};
} // namespace

/// An empty loop; the insertion point is left in its body.
ForBlocksOp LightningBlocker::createLoop(TypeRange tokenResults,
                                         TypeRange blockResults,
                                         TypeRange carryResults, Value slots,
                                         ValueRange tokens, ValueRange blocks,
                                         ValueRange carry) {
  auto loop = ForBlocksOp::create(rewriter, loc, tokenResults, blockResults,
                                  carryResults, op.getStarts(), slots, tokens,
                                  blocks, carry, block);
  SmallVector<Type> types(tokens.getTypes());
  for (ValueRange pools : {blocks, carry})
    for (Type pool : pools.getTypes()) {
      auto type = cast<RankedTensorType>(pool);
      types.push_back(RankedTensorType::get(type.getShape().drop_front(),
                                            type.getElementType()));
    }
  SmallVector<Location> locs(types.size(), loc);
  rewriter.createBlock(&loop.getBody(), {}, types, locs);
  return loop;
}

/// S_i before every block: S <- exp(-g m) S + K^T (key_decay V).
ForBlocksOp LightningBlocker::createStates() {
  OpBuilder::InsertionGuard guard(rewriter);
  ForBlocksOp loop =
      createLoop({}, states, states, op.getSlots(),
                 {op.getKey(), op.getValue()}, {}, op.getStates());
  Value key = loop.getBody().getArgument(0);
  Value value = loop.getBody().getArgument(1);
  Value state = loop.getBody().getArgument(2);
  Value weighted = KeyDecayOp::create(rewriter, loc, f32Like(heads),
                                      widen(value), op.getDecay());
  Value update =
      BlockOuterOp::create(rewriter, loc, state.getType(), key, weighted);
  Value decayed = BlockDecayOp::create(rewriter, loc, state.getType(), state,
                                       key, op.getDecay());
  Value next = AddOp::create(rewriter, loc, state.getType(), decayed, update);
  BlockYieldOp::create(rewriter, loc, ValueRange{}, state, next);
  return loop;
}

/// query_decay (Q S_i).
ForBlocksOp LightningBlocker::createInter(Value blockStates) {
  OpBuilder::InsertionGuard guard(rewriter);
  ForBlocksOp loop = createLoop(f32Like(heads), {}, {}, Value(), op.getQuery(),
                                blockStates, {});
  Value read = BlockReadoutOp::create(rewriter, loc, f32Like(heads),
                                      loop.getBody().getArgument(0),
                                      loop.getBody().getArgument(1));
  Value decayed =
      QueryDecayOp::create(rewriter, loc, read.getType(), read, op.getDecay());
  BlockYieldOp::create(rewriter, loc, decayed, ValueRange{}, ValueRange{});
  return loop;
}

/// decay_mask (Q K^T) V.
ForBlocksOp LightningBlocker::createIntra() {
  OpBuilder::InsertionGuard guard(rewriter);
  ForBlocksOp loop =
      createLoop(f32Like(heads), {}, {}, Value(),
                 {op.getQuery(), op.getKey(), op.getValue()}, {}, {});
  auto type = RankedTensorType::get(
      {heads.getDimSize(1), ShapedType::kDynamic, ShapedType::kDynamic},
      rewriter.getF32Type());
  Value scores =
      BlockScoresOp::create(rewriter, loc, type, loop.getBody().getArgument(0),
                            loop.getBody().getArgument(1));
  Value masked =
      DecayMaskOp::create(rewriter, loc, type, scores, op.getDecay());
  Value result = BlockValuesOp::create(rewriter, loc, f32Like(heads), masked,
                                       loop.getBody().getArgument(2));
  BlockYieldOp::create(rewriter, loc, result, ValueRange{}, ValueRange{});
  return loop;
}

void LightningBlocker::run() {
  rewriter.setInsertionPoint(op);
  ForBlocksOp carried = createStates();
  ForBlocksOp inter = createInter(carried.getBlockResults().front());
  ForBlocksOp intra = createIntra();
  Value sum = AddOp::create(rewriter, loc, f32Like(heads),
                            inter.getTokenResults().front(),
                            intra.getTokenResults().front());
  Type type = op.getResult().getType();
  if (sum.getType() != type)
    sum = ConvertOp::create(rewriter, loc, type, sum);
  rewriter.replaceOp(op, {sum, carried.getCarryResults().front()});
}

namespace {
struct BlockLightning : mmx::impl::MMXBlockLightningBase<BlockLightning> {
  using MMXBlockLightningBase::MMXBlockLightningBase;

  void runOnOperation() override {
    if (block < 1) {
      getOperation()->emitError("expected a positive block length, but got ")
          << block;
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    SmallVector<LightningAttentionOp> ops;
    getOperation().walk([&](LightningAttentionOp op) { ops.push_back(op); });
    for (LightningAttentionOp op : ops) {
      LightningBlocker(rewriter, op, block).run();
      ++numBlocked;
    }
  }
};
} // namespace
