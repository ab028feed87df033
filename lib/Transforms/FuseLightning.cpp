//===- FuseLightning.cpp - Fuses loops over the same blocks ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mmx/Dialect/MMX/MMXOps.h"
#include "mmx/Transforms/MMXPasses.h"
#include "llvm/ADT/SetVector.h"

namespace mmx {
#define GEN_PASS_DEF_MMXFUSELIGHTNING
#include "mmx/Transforms/MMXPasses.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

/// The value that a loop yields for one of its token or block results.
static Value getYielded(OpResult result) {
  auto loop = cast<ForBlocksOp>(result.getOwner());
  auto yield = cast<BlockYieldOp>(loop.getBody().front().getTerminator());
  // Results and yielded values come in the same three groups.
  return yield->getOperand(result.getResultNumber());
}

/// The type of a block's part of an operand of a loop.
static Type getBlockType(Value operand, bool isToken) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (isToken)
    return type;
  return RankedTensorType::get(type.getShape().drop_front(),
                               type.getElementType());
}

namespace {
/// A loop that is put together from the bodies of others: operands in their
/// groups, and what each group yields.
struct LoopBuilder {
  llvm::SetVector<Value> tokens, blocks;
  SmallVector<Value> carry;
  /// Results of the old loops that the new one has, in three groups.
  SmallVector<Value> tokenResults, blockResults, carryResults;

  void addOperands(ForBlocksOp loop, ForBlocksOp producer);
  void addResults(ForBlocksOp loop, Operation *reader);
  ForBlocksOp create(OpBuilder &builder, ForBlocksOp like, Value slots);
};
} // namespace

/// Operands of `loop`, but for those that `producer` computes.
void LoopBuilder::addOperands(ForBlocksOp loop, ForBlocksOp producer) {
  auto isInner = [&](Value value) {
    return producer && value.getDefiningOp() == producer;
  };
  for (Value value : loop.getTokens())
    if (!isInner(value))
      tokens.insert(value);
  for (Value value : loop.getBlocks())
    if (!isInner(value))
      blocks.insert(value);
  llvm::append_range(carry, loop.getCarry());
}

/// Results of `loop` that anything but `reader` uses; all that it carries.
void LoopBuilder::addResults(ForBlocksOp loop, Operation *reader) {
  auto isNeeded = [&](Value value) {
    return llvm::any_of(value.getUsers(),
                        [&](Operation *user) { return user != reader; });
  };
  for (Value value : loop.getTokenResults())
    if (isNeeded(value))
      tokenResults.push_back(value);
  for (Value value : loop.getBlockResults())
    if (isNeeded(value))
      blockResults.push_back(value);
  llvm::append_range(carryResults, loop.getCarryResults());
}

/// An empty loop with arguments for all operands; the builder is left in it.
ForBlocksOp LoopBuilder::create(OpBuilder &builder, ForBlocksOp like,
                                Value slots) {
  auto typesOf = [](ArrayRef<Value> values) {
    return SmallVector<Type>(ValueRange(values).getTypes());
  };
  auto loop = ForBlocksOp::create(
      builder, like.getLoc(), typesOf(tokenResults), typesOf(blockResults),
      typesOf(carryResults), like.getStarts(), slots, tokens.getArrayRef(),
      blocks.getArrayRef(), carry, like.getBlockAttr());
  Block *body = builder.createBlock(&loop.getBody());
  for (Value value : tokens)
    body->addArgument(getBlockType(value, true), like.getLoc());
  for (Value value : blocks)
    body->addArgument(getBlockType(value, false), like.getLoc());
  for (Value value : carry)
    body->addArgument(getBlockType(value, false), like.getLoc());
  return loop;
}

/// Whether `second` may run block by block with `first`: they cut the same
/// sequences in the same way, no state is claimed by both, and whatever else
/// `second` needs does not wait for the end of `first`.
static bool canFuse(ForBlocksOp first, ForBlocksOp second) {
  if (first.getStarts() != second.getStarts() ||
      first.getBlock() != second.getBlock() ||
      first->getBlock() != second->getBlock() || first.getTokens().empty() ||
      second.getTokens().empty())
    return false;
  if (first.getSlots() && second.getSlots() &&
      first.getSlots() != second.getSlots())
    return false;
  // A loop without slots that carries a state indexes it by sequence.
  if (!first.getCarry().empty() && !second.getCarry().empty() &&
      first.getSlots() != second.getSlots())
    return false;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> work;
  auto push = [&](Value value) {
    if (Operation *op = value.getDefiningOp();
        op && op->getBlock() == first->getBlock())
      work.push_back(op);
  };
  for (Value operand : second->getOperands())
    if (operand.getDefiningOp() != first)
      push(operand);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (op == first)
      return false;
    if (!seen.insert(op).second || op->isBeforeInBlock(first))
      continue;
    for (Value operand : op->getOperands())
      push(operand);
  }
  // States that went through the first loop are complete only at its end.
  return llvm::none_of(second.getCarry(), [&](Value value) {
    return value.getDefiningOp() == first;
  });
}

static void cloneBody(OpBuilder &builder, ForBlocksOp loop,
                      IRMapping &mapping) {
  for (Operation &op : loop.getBody().front().without_terminator())
    builder.clone(op, mapping);
}

/// Makes one loop of two; results that only `second` used are gone.
static ForBlocksOp fuse(OpBuilder &builder, ForBlocksOp first,
                        ForBlocksOp second) {
  LoopBuilder parts;
  parts.addOperands(first, nullptr);
  parts.addOperands(second, first);
  parts.addResults(first, second);
  parts.addResults(second, nullptr);
  builder.setInsertionPoint(second);
  Value slots = first.getSlots() ? first.getSlots() : second.getSlots();
  ForBlocksOp fused = parts.create(builder, second, slots);

  SmallVector<Value> operands(parts.tokens.begin(), parts.tokens.end());
  llvm::append_range(operands, parts.blocks);
  llvm::append_range(operands, parts.carry);
  IRMapping mapping;
  for (ForBlocksOp loop : {first, second}) {
    // Operands follow `starts` and `slots`, in the order of the arguments.
    auto outer =
        loop->getOperands().take_back(loop.getBody().getNumArguments());
    for (auto [argument, value] :
         llvm::zip_equal(loop.getBody().getArguments(), outer)) {
      if (value.getDefiningOp() == first)
        mapping.map(argument,
                    mapping.lookup(getYielded(cast<OpResult>(value))));
      else
        mapping.map(argument,
                    fused.getBody().getArgument(llvm::find(operands, value) -
                                                operands.begin()));
    }
    cloneBody(builder, loop, mapping);
  }
  auto yielded = [&](ArrayRef<Value> results) {
    return llvm::map_to_vector(results, [&](Value result) {
      return mapping.lookup(getYielded(cast<OpResult>(result)));
    });
  };
  BlockYieldOp::create(builder, fused.getLoc(), yielded(parts.tokenResults),
                       yielded(parts.blockResults),
                       yielded(parts.carryResults));
  SmallVector<Value> results(parts.tokenResults);
  llvm::append_range(results, parts.blockResults);
  llvm::append_range(results, parts.carryResults);
  for (auto [old, result] : llvm::zip_equal(results, fused.getResults()))
    old.replaceAllUsesWith(result);
  second.erase();
  first.erase();
  return fused;
}

/// An elementwise op whose operands are all token results of one loop, to be
/// computed in it; the results it reads go if nothing else needs them.
static ForBlocksOp moveIn(OpBuilder &builder, ForBlocksOp loop, Operation *op) {
  LoopBuilder parts;
  parts.addOperands(loop, nullptr);
  parts.addResults(loop, op);
  unsigned numTokens = parts.tokenResults.size();
  parts.tokenResults.push_back(op->getResult(0));
  builder.setInsertionPoint(op);
  ForBlocksOp moved = parts.create(builder, loop, loop.getSlots());
  IRMapping mapping;
  auto outer = loop->getOperands().take_back(loop.getBody().getNumArguments());
  SmallVector<Value> operands(parts.tokens.begin(), parts.tokens.end());
  llvm::append_range(operands, parts.blocks);
  llvm::append_range(operands, parts.carry);
  for (auto [argument, value] :
       llvm::zip_equal(loop.getBody().getArguments(), outer))
    mapping.map(argument, moved.getBody().getArgument(
                              llvm::find(operands, value) - operands.begin()));
  cloneBody(builder, loop, mapping);
  auto yielded = [&](Value result) {
    return mapping.lookup(getYielded(cast<OpResult>(result)));
  };
  for (Value operand : op->getOperands())
    mapping.map(operand, yielded(operand));
  Value inner = builder.clone(*op, mapping)->getResult(0);
  SmallVector<Value> tokens = llvm::map_to_vector(
      ArrayRef(parts.tokenResults).take_front(numTokens), yielded);
  tokens.push_back(inner);
  BlockYieldOp::create(builder, loop.getLoc(), tokens,
                       llvm::map_to_vector(parts.blockResults, yielded),
                       llvm::map_to_vector(parts.carryResults, yielded));
  SmallVector<Value> results(parts.tokenResults);
  llvm::append_range(results, parts.blockResults);
  llvm::append_range(results, parts.carryResults);
  for (auto [old, result] : llvm::zip_equal(results, moved.getResults()))
    old.replaceAllUsesWith(result);
  op->erase();
  loop.erase();
  return moved;
}

/// The loop that computes all operands of an elementwise op, token by token.
static ForBlocksOp getLoopOfOperands(Operation &op) {
  auto fusible = dyn_cast<FusionInterface>(op);
  if (!fusible || fusible.getFusionKind() != FusionKind::Elementwise ||
      op.getNumOperands() == 0 || op.getNumResults() != 1)
    return nullptr;
  ForBlocksOp loop = op.getOperand(0).getDefiningOp<ForBlocksOp>();
  for (Value operand : op.getOperands())
    if (!loop || operand.getDefiningOp() != loop ||
        !llvm::is_contained(loop.getTokenResults(), operand) ||
        operand.getType() != op.getOperand(0).getType())
      return nullptr;
  return loop;
}

namespace {
struct FuseLightning : mmx::impl::MMXFuseLightningBase<FuseLightning> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody()) {
      while (fuseOnePair(block))
        ++numFused;
      while (moveOne(block))
        ++numMoved;
    }
  }

private:
  /// Pairs of loops that share what they read, or of which one reads the
  /// other's results.
  bool fuseOnePair(Block &block) {
    SmallVector<ForBlocksOp> loops(block.getOps<ForBlocksOp>());
    for (unsigned i = 0; i < loops.size(); ++i)
      for (unsigned j = i + 1; j < loops.size(); ++j) {
        if (!isRelated(loops[i], loops[j]) || !canFuse(loops[i], loops[j]))
          continue;
        OpBuilder builder(&getContext());
        fuse(builder, loops[i], loops[j]);
        // Readers of the first loop may stand before the second one.
        sortTopologically(&block);
        return true;
      }
    return false;
  }

  static bool isRelated(ForBlocksOp first, ForBlocksOp second) {
    return llvm::any_of(second.getOperands().drop_front(), [&](Value value) {
      return value.getDefiningOp() == first ||
             llvm::is_contained(first.getTokens(), value);
    });
  }

  bool moveOne(Block &block) {
    for (Operation &op : block)
      if (ForBlocksOp loop = getLoopOfOperands(op)) {
        OpBuilder builder(&getContext());
        moveIn(builder, loop, &op);
        sortTopologically(&block);
        return true;
      }
    return false;
  }
};
} // namespace
