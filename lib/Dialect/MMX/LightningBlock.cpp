//===- LightningBlock.cpp - The block form of lightning attention ---------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/MMX/LightningBlock.h"

using namespace mlir;
using namespace mmx;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

static Value stripConvert(Value value) {
  auto convert = value.getDefiningOp<ConvertOp>();
  return convert ? convert.getInput() : value;
}

namespace {
/// The body of a loop, matched from what it yields.
struct BodyMatcher {
  Value query, key, value, state;
  DecayAttr decay;

  bool matchState(Value next);
  bool matchOutput(Value output);

private:
  /// The first value, or one seen before.
  template <typename T> static bool bind(T &known, T found) {
    if (!known)
      known = found;
    return known == found;
  }
  template <typename First, typename Second>
  static bool matchSum(Value sum, First &first, Second &second) {
    auto add = sum.getDefiningOp<AddOp>();
    if (!add)
      return false;
    for (auto [lhs, rhs] : {std::pair(add.getLhs(), add.getRhs()),
                            std::pair(add.getRhs(), add.getLhs())}) {
      first = lhs.getDefiningOp<First>();
      second = rhs.getDefiningOp<Second>();
      if (first && second)
        return true;
    }
    return false;
  }
};
} // namespace

/// exp(-rate m) S + K^T key_decay(V).
bool BodyMatcher::matchState(Value next) {
  BlockDecayOp decayed;
  BlockOuterOp outer;
  if (!matchSum(next, decayed, outer))
    return false;
  auto weighted = outer.getValue().getDefiningOp<KeyDecayOp>();
  return weighted && bind(state, Value(decayed.getState())) &&
         bind(key, Value(outer.getKey())) &&
         bind(value, stripConvert(weighted.getInput())) &&
         bind(decay, decayed.getDecay()) && bind(decay, weighted.getDecay());
}

/// query_decay(Q S) + decay_mask(Q K^T) V.
bool BodyMatcher::matchOutput(Value output) {
  QueryDecayOp decayed;
  BlockValuesOp values;
  if (!matchSum(stripConvert(output), decayed, values))
    return false;
  auto readout = decayed.getInput().getDefiningOp<BlockReadoutOp>();
  auto mask = values.getScores().getDefiningOp<DecayMaskOp>();
  auto scores =
      mask ? mask.getScores().getDefiningOp<BlockScoresOp>() : BlockScoresOp();
  return readout && scores && bind(query, Value(readout.getQuery())) &&
         bind(query, Value(scores.getQuery())) &&
         bind(state, Value(readout.getState())) &&
         bind(key, Value(scores.getKey())) &&
         bind(value, Value(values.getValue())) &&
         bind(decay, decayed.getDecay()) && bind(decay, mask.getDecay());
}

std::optional<LightningBlock> LightningBlock::match(ForBlocksOp loop) {
  if (loop.getTokens().size() != 3 || loop.getCarry().size() != 1 ||
      !loop.getBlocks().empty() || !loop.getBlockResults().empty() ||
      loop.getTokenResults().size() != 1)
    return std::nullopt;
  Block &body = loop.getBody().front();
  auto yield = cast<BlockYieldOp>(body.getTerminator());
  BodyMatcher matcher;
  if (!matcher.matchState(yield.getCarry().front()) ||
      !matcher.matchOutput(yield.getTokens().front()) ||
      matcher.state != body.getArgument(3))
    return std::nullopt;
  LightningBlock block;
  block.loop = loop;
  for (auto [inner, outer] : {std::pair(matcher.query, &block.query),
                              std::pair(matcher.key, &block.key),
                              std::pair(matcher.value, &block.value)}) {
    auto argument = dyn_cast<BlockArgument>(inner);
    if (!argument || argument.getOwner() != &body)
      return std::nullopt;
    *outer = loop.getTokens()[argument.getArgNumber()];
  }
  block.result = loop.getTokenResults().front();
  block.newStates = loop.getCarryResults().front();
  block.decay = matcher.decay;
  return block;
}

std::optional<LightningBlock> LightningBlock::match(KernelOp kernel) {
  std::optional<LightningBlock> found;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (auto loop = dyn_cast<ForBlocksOp>(op); loop && !found)
      found = match(loop);
    else if (!isa<SplitHeadsOp, MergeHeadsOp>(op))
      return std::nullopt;
  }
  // What follows the loop would see its outputs before they are rounded.
  if (found && !llvm::all_of(found->loop->getUsers(), [](Operation *user) {
        return isa<YieldOp>(user);
      }))
    return std::nullopt;
  return found;
}

int64_t LightningBlock::getHeads() const { return typeOf(query).getDimSize(1); }

int64_t LightningBlock::getDim() const { return typeOf(query).getDimSize(2); }

bool LightningBlock::fitsWarpGroups() const {
  constexpr int64_t block = 64, unit = 32, widest = 128;
  constexpr double fastest = 1.25; // exp(64 * 1.25) is finite in f32
  ForBlocksOp source = loop;
  if (source.getBlock() != block || getDim() % unit != 0 || getDim() > widest)
    return false;
  for (Value tokens : {query, key, value, result})
    if (!typeOf(tokens).getElementType().isBF16())
      return false;
  if (!typeOf(newStates).getElementType().isF32())
    return false;
  for (int64_t head = 0; head < getHeads(); ++head)
    if (decay.getRate(head) > fastest)
      return false;
  return true;
}
