//===- ScheduledLightning.cpp - Lightning attention for warp groups -------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cell is a sequence, a head and a part of the values; the parts of a head
// are a cluster and share queries and keys. Two warps load, one warp group
// carries the state, two make the outputs of alternate blocks. The program with
// its schedule deleted is the one that other targets get, but for the operands
// of products, which are rounded to bf16, and for what only a short block
// computes.
//
// bench/lightning_kernels.py prints the same program, and others, for the
// benchmark.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mmx/Dialect/MMX/LightningBlock.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mmx;

static constexpr llvm::StringLiteral loadKeyValue = "ldkv", loadQuery = "ldq",
                                     carry = "state", output = "out",
                                     blocks = "i";
static constexpr llvm::StringLiteral keyValueRing = "kv", queryRing = "q",
                                     stateRing = "s", outputRing = "ost";
/// Slots of the rings that are loaded.
static constexpr int64_t loadDepth = 4;
/// Registers of a thread of the two kinds of warp groups.
static constexpr int64_t carryRegisters = 184, outputRegisters = 152;
/// The dimension of the grid that counts the parts of a head.
static constexpr int64_t partDim = 2;

namespace {

/// Where and when an op runs: see `#tile.at`.
struct Place {
  StringRef role;
  int64_t order;
  int64_t stage = 0;
  StringRef ring = "";
  int64_t field = 0;
  int64_t multicast = -1;
};

class ScheduledLightning {
public:
  ScheduledLightning(KernelEmitter &e, const LightningBlock &block);
  LogicalResult run();

private:
  /// A block of tokens in shared memory, and what is left after it.
  struct Tokens {
    Value first, rows;       ///< its first token and how many there are
    Value query, key, value; ///< tiles
    Value decayed;           ///< exp(-rate rows)
    Value gain;              ///< exp(rate (block - rows))
  };

  StringAttr name(StringRef text) { return e.builder.getStringAttr(text); }
  Value put(Value value, const Place &place);
  void putOp(Operation *op, const Place &place);
  tile::ScheduleAttr makeSchedule();
  SmallVector<Value> enterCell();
  Slice getStates(Value view, Value slot) {
    return {view, {slot, head, e.index(0), column}, {2, 3}};
  }
  /// Loads a part of the tokens, its columns from `from` on.
  Value loadTokens(Value tensor, Value first, Value from, int64_t columns,
                   Value rows, const Place &place);
  FailureOr<Tokens> loadBlock(Value token, Value end);
  void emitLeft(Tokens &tokens);
  Value emitState(const Tokens &tokens, Value state);
  void emitOutput(const Tokens &tokens, Value state);
  Value makeMask();
  /// A map with a result that is rounded.
  Value mapRounded(ArrayRef<int64_t> shape, ValueRange operands,
                   KernelEmitter::MapBody body, const Place &place);
  Value map(ArrayRef<int64_t> shape, ValueRange operands,
            KernelEmitter::MapBody body, const Place &place) {
    return put(e.map(e.frag(shape), operands, body), place);
  }

  KernelEmitter &e;
  LightningBlock op;
  int64_t size;  ///< tokens of a block
  int64_t dim;   ///< of a head
  int64_t width; ///< values of a cell
  int64_t parts;
  Value head, column; ///< of the cell; its first value
  Value mask;         ///< decays from column to row of scores
  Value kept;         ///< exp(-rate size)
};

} // namespace

ScheduledLightning::ScheduledLightning(KernelEmitter &e,
                                       const LightningBlock &block)
    : e(e), op(block), dim(op.getDim()) {
  TileSizesAttr tiles = e.getSource().getTilesAttr();
  size = tiles.getRows();
  width = tiles.getCols();
  parts = llvm::divideCeil(dim, width);
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

void ScheduledLightning::putOp(Operation *target, const Place &place) {
  target->setAttr(
      "at",
      tile::AtAttr::get(target->getContext(), name(place.role), place.order,
                        place.stage,
                        place.ring.empty() ? StringAttr() : name(place.ring),
                        place.field, /*inflight=*/-1, place.multicast,
                        /*turn=*/StringAttr()));
}

Value ScheduledLightning::put(Value value, const Place &place) {
  putOp(value.getDefiningOp(), place);
  return value;
}

tile::ScheduleAttr ScheduledLightning::makeSchedule() {
  MLIRContext *context = e.builder.getContext();
  auto role = [&](StringRef text, int64_t warps, int64_t registers,
                  int64_t instances) {
    bool alternates = instances > 1;
    return tile::RoleAttr::get(
        context, name(text), warps, registers,
        alternates ? tile::InstanceMode::Alternate : tile::InstanceMode::One,
        instances, /*dim=*/0, alternates ? name(blocks) : StringAttr());
  };
  auto ring = [&](StringRef text, int64_t depth) {
    return tile::RingAttr::get(context, name(text), depth);
  };
  return tile::ScheduleAttr::get(
      context,
      {role(loadKeyValue, 1, 0, 1), role(loadQuery, 1, 0, 1),
       role(carry, 4, carryRegisters, 1), role(output, 4, outputRegisters, 2)},
      {ring(keyValueRing, loadDepth), ring(queryRing, loadDepth),
       ring(stateRing, 2), ring(outputRing, 1)});
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

Value ScheduledLightning::mapRounded(ArrayRef<int64_t> shape,
                                     ValueRange operands,
                                     KernelEmitter::MapBody body,
                                     const Place &place) {
  auto type = tile::FragType::get(e.builder.getContext(), shape,
                                  e.builder.getBF16Type(), /*along=*/-1);
  auto rounded = [&](ElementContext &context, ValueRange x) -> Value {
    Value value = body(context, x);
    return arith::TruncFOp::create(context.builder, context.loc,
                                   context.builder.getBF16Type(), value);
  };
  return put(e.map(type, operands, rounded), place);
}

static Value multiply(ElementContext &context, Value a, Value b) {
  return arith::MulFOp::create(context.builder, context.loc, a, b);
}

static Value indexOf(ElementContext &context, int64_t value) {
  return arith::ConstantIndexOp::create(context.builder, context.loc, value);
}

/// The decay from a column to a row of scores, 0 above the diagonal.
Value ScheduledLightning::makeMask() {
  auto decayed = [&](ElementContext &context, ValueRange) -> Value {
    OpBuilder &b = context.builder;
    Value distance =
        arith::SubIOp::create(b, context.loc, context.row, context.col);
    Value decay = context.decay(op.decay, distance);
    Value keep =
        arith::CmpIOp::create(b, context.loc, arith::CmpIPredicate::sge,
                              distance, indexOf(context, 0));
    return arith::SelectOp::create(b, context.loc, keep, decay,
                                   context.constant(0));
  };
  return map({size, size}, {}, decayed, {output, 0});
}

Value ScheduledLightning::loadTokens(Value tensor, Value first, Value from,
                                     int64_t columns, Value rows,
                                     const Place &place) {
  TileRegion region{first, size, head, from, columns};
  FailureOr<Slice> slice = e.getSlice(tensor, region);
  if (failed(slice))
    return nullptr;
  return put(e.loadSram(*slice, {size, columns}, rows), place);
}

FailureOr<ScheduledLightning::Tokens> ScheduledLightning::loadBlock(Value token,
                                                                    Value end) {
  Tokens tokens;
  tokens.first = token;
  tokens.rows = e.min(e.sub(end, token), e.index(size));
  emitLeft(tokens);
  int64_t shared = parts > 1 ? partDim : -1;
  Value start = e.index(0);
  tokens.key = loadTokens(op.key, token, start, dim, tokens.rows,
                          {loadKeyValue, 0, 0, keyValueRing, 0, shared});
  tokens.value = loadTokens(op.value, token, column, width, tokens.rows,
                            {loadKeyValue, 10, 0, keyValueRing, 1});
  // Rows past the end make outputs that are not stored.
  tokens.query = loadTokens(op.query, token, start, dim, Value(),
                            {loadQuery, 0, 0, queryRing, 0, shared});
  if (!tokens.key || !tokens.value || !tokens.query)
    return failure();
  return tokens;
}

/// Only a short block computes decays; those of full ones are known.
void ScheduledLightning::emitLeft(Tokens &tokens) {
  OpBuilder &b = e.builder;
  Location loc = e.getLoc();
  Value isShort = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                        tokens.rows, e.index(size));
  Type type = b.getF32Type();
  auto branch = scf::IfOp::create(b, loc, TypeRange{type, type}, isShort,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value left = e.decay(op.decay, tokens.rows);
  // Of minus the tokens that lack: more than 1.
  Value gain = e.decay(op.decay, e.sub(tokens.rows, e.index(size)));
  scf::YieldOp::create(b, loc, ValueRange{left, gain});
  b.setInsertionPointToStart(branch.elseBlock());
  Value one = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1));
  scf::YieldOp::create(b, loc, ValueRange{kept, one});
  tokens.decayed = branch.getResult(0);
  tokens.gain = branch.getResult(1);
}

/// exp(-rate m) S + K^T key_decay(V).
Value ScheduledLightning::emitState(const Tokens &tokens, Value state) {
  Value decayed = map({dim, width}, state,
                      [&](ElementContext &context, ValueRange x) {
                        return multiply(context, x[0], tokens.decayed);
                      },
                      {carry, 10, 1});
  auto type = tile::FragType::get(e.builder.getContext(), {size, width},
                                  e.builder.getBF16Type(), /*along=*/-1);
  Value read =
      put(tile::ReadOp::create(e.builder, e.getLoc(), type, tokens.value),
          {carry, 30});
  // What is left of a value at the end of a full block, which no iteration
  // computes again, and what a short block has left more. Rows past the end
  // hold zeros.
  Value weighted = mapRounded(
      {size, width}, read,
      [&](ElementContext &context, ValueRange x) {
        Value rest =
            arith::SubIOp::create(context.builder, context.loc,
                                  indexOf(context, size - 1), context.row);
        Value weight =
            multiply(context, context.decay(op.decay, rest), tokens.gain);
        return multiply(context, x[0], weight);
      },
      {carry, 40});
  return put(e.mma(tokens.key, weighted, decayed, /*transposeA=*/true),
             {carry, 20, 1});
}

/// query_decay(Q S) + decay_mask(Q K^T) V, with the state before the block.
void ScheduledLightning::emitOutput(const Tokens &tokens, Value state) {
  Value before = put(e.put(state), {carry, 50, 1, stateRing});
  Value scores = put(e.mma(tokens.query, tokens.key, Value(), false,
                           /*transposeB=*/true),
                     {output, 10});
  Value read = put(e.mma(tokens.query, before), {output, 20});
  Value masked = mapRounded({size, size}, {scores, mask},
                            [](ElementContext &context, ValueRange x) {
                              return multiply(context, x[0], x[1]);
                            },
                            {output, 30});
  Value decayed =
      map({size, width}, read,
          [&](ElementContext &context, ValueRange x) {
            Value age = arith::AddIOp::create(context.builder, context.loc,
                                              context.row, indexOf(context, 1));
            return multiply(context, x[0], context.decay(op.decay, age));
          },
          {output, 40});
  Value sum = put(e.mma(masked, tokens.value, decayed), {output, 50});
  Value rounded = mapRounded(
      {size, width}, sum, [](ElementContext &, ValueRange x) { return x[0]; },
      {output, 60});
  Value staged = put(e.put(rounded), {output, 70, 0, outputRing});
  Slice place{e.getOutput(op.result), {tokens.first, head, column}, {0, 2}};
  putOp(e.store(staged, place, tokens.rows), {output, 80});
}

/// Sets the grid; the sequence's number, first token and end.
SmallVector<Value> ScheduledLightning::enterCell() {
  Value starts = e.getInput(op.loop.getStarts());
  SmallVector<Value> cell =
      e.setGrid({e.getExtent(starts, 0) - 1, e.getAffine(op.getHeads()),
                 e.getAffine(parts)});
  head = cell[1];
  column = e.mul(cell[2], width);
  return {cell[0], e.table(starts, cell[0]),
          e.table(starts, e.add(cell[0], e.index(1)))};
}

LogicalResult ScheduledLightning::run() {
  SmallVector<int64_t, 2> cluster;
  if (parts > 1)
    cluster = {partDim, parts};
  e.setSchedule(makeSchedule(), cluster);
  SmallVector<Value> sequence = enterCell();
  Value slot = sequence[0];
  if (op.loop.getSlots())
    slot = e.table(e.getInput(op.loop.getSlots()), slot);
  e.loadRate(op.decay, head);
  Value view = e.getInplace(op.getStates(), op.newStates);
  Value initial =
      put(e.loadFrag(getStates(view, slot), {dim, width}), {carry, 0});
  mask = makeMask();
  kept = e.decay(op.decay, e.index(size));
  LogicalResult result = success();
  auto body = [&](Value token, ValueRange carried) -> SmallVector<Value> {
    FailureOr<Tokens> tokens = loadBlock(token, sequence[2]);
    if (failed(tokens)) {
      result = failure();
      return {carried[0]};
    }
    // The state before the block, as an operand of a product.
    Value rounded = mapRounded(
        {dim, width}, carried[0],
        [](ElementContext &, ValueRange x) { return x[0]; }, {carry, 0, 1});
    Value next = emitState(*tokens, carried[0]);
    emitOutput(*tokens, rounded);
    return {next};
  };
  Value last = e.loop(sequence[1], sequence[2], size, initial, body).front();
  last.getDefiningOp()->setAttr(
      "at", tile::LoopAttr::get(e.builder.getContext(), name(blocks),
                                /*order=*/10, StringAttr()));
  putOp(e.store(last, getStates(view, slot)), {carry, 20});
  return result;
}

LogicalResult mmx::emitScheduledLightning(KernelEmitter &emitter,
                                          const LightningBlock &block) {
  return ScheduledLightning(emitter, block).run();
}
