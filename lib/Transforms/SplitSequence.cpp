//===- SplitSequence.cpp - Segments of sequences side by side -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "mmx/Dialect/MMX/MMXOps.h"
#include "mmx/Transforms/MMXPasses.h"

namespace mmx {
#define GEN_PASS_DEF_MMXSPLITSEQUENCE
#include "mmx/Transforms/MMXPasses.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

/// Whether `value` is computed from `source`.
static bool dependsOn(Value value, Value source) {
  if (value == source)
    return true;
  Operation *op = value.getDefiningOp();
  return op && llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, source);
         });
}

/// The decay of a loop whose carried value S becomes decay(S) + U, U without
/// S: segments of such a loop compose (E17). Null for other loops.
static DecayAttr getComposableDecay(ForBlocksOp loop) {
  if (loop.getCarry().size() != 1 || !loop.getBlocks().empty() ||
      !loop.getBlockResults().empty() || !loop.getSlots() ||
      loop.getTokens().empty())
    return nullptr;
  Value state = loop.getBody().getArguments().back();
  auto yield = cast<BlockYieldOp>(loop.getBody().front().getTerminator());
  auto sum = yield.getCarry().front().getDefiningOp<AddOp>();
  if (!sum)
    return nullptr;
  for (auto [own, other] : {std::pair(sum.getLhs(), sum.getRhs()),
                            std::pair(sum.getRhs(), sum.getLhs())})
    if (auto decay = own.getDefiningOp<BlockDecayOp>();
        decay && decay.getState() == state && !dependsOn(other, state))
      return decay.getDecay();
  return nullptr;
}

/// Clones the body of `loop` into `target`, the builder's block, and what is
/// yielded, or only the carried value.
static void cloneBody(OpBuilder &builder, ForBlocksOp loop, ForBlocksOp target,
                      bool withTokens) {
  IRMapping mapping;
  SmallVector<Location> locs(loop.getBody().getNumArguments(), loop.getLoc());
  Block *body = builder.createBlock(&target.getBody(), {},
                                    loop.getBody().getArgumentTypes(), locs);
  mapping.map(loop.getBody().getArguments(), body->getArguments());
  for (Operation &op : loop.getBody().front().without_terminator())
    builder.clone(op, mapping);
  auto yield = cast<BlockYieldOp>(loop.getBody().front().getTerminator());
  SmallVector<Value> tokens;
  if (withTokens)
    for (Value value : yield.getTokens())
      tokens.push_back(mapping.lookup(value));
  BlockYieldOp::create(builder, loop.getLoc(), tokens, ValueRange{},
                       mapping.lookup(yield.getCarry().front()));
  // What only the tokens needed.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
}

static void split(ForBlocksOp loop, DecayAttr decay, int64_t length) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Type states = loop.getCarry().front().getType();
  IntegerAttr size = builder.getI64IntegerAttr(length);
  Value segments =
      SegmentTableOp::create(builder, loc, loop.getStarts().getType(),
                             loop.getStarts(), loop.getTokens().front(), size);
  Value zeros = ZeroStatesOp::create(builder, loc, states, segments);
  auto create = [&](TypeRange tokenResults, Value pool) {
    OpBuilder::InsertionGuard guard(builder);
    auto segmented = ForBlocksOp::create(
        builder, loc, tokenResults, TypeRange{}, states, segments, Value(),
        loop.getTokens(), ValueRange{}, pool, loop.getBlockAttr());
    cloneBody(builder, loop, segmented, !tokenResults.empty());
    return segmented;
  };
  ForBlocksOp local = create({}, zeros);
  auto scan = ScanStatesOp::create(
      builder, loc, TypeRange{states, states}, local.getCarryResults().front(),
      loop.getCarry().front(), loop.getStarts(), loop.getSlots(), size, decay);
  ForBlocksOp outputs =
      create(loop.getTokenResults().getTypes(), scan.getResult());
  loop.getTokenResults().replaceAllUsesWith(outputs.getTokenResults());
  loop.getCarryResults().front().replaceAllUsesWith(scan.getNewStates());
  loop.erase();
}

namespace {
struct SplitSequence : mmx::impl::MMXSplitSequenceBase<SplitSequence> {
  using MMXSplitSequenceBase::MMXSplitSequenceBase;

  void runOnOperation() override {
    SmallVector<ForBlocksOp> loops;
    getOperation().walk([&](ForBlocksOp loop) { loops.push_back(loop); });
    for (ForBlocksOp loop : loops) {
      DecayAttr decay = getComposableDecay(loop);
      if (!decay)
        continue;
      if (length < 1 || length % loop.getBlock()) {
        loop.emitError("expected segments of a multiple of ")
            << loop.getBlock() << " tokens, but got " << length.getValue();
        return signalPassFailure();
      }
      split(loop, decay, length);
      ++numSplit;
    }
  }
};
} // namespace
