//===- LightningKernels.cpp - Block loops and steps as tile programs ------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mmx/Dialect/MMX/LightningBlock.h"

using namespace mlir;
using namespace mmx;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

namespace {

template <typename Model, typename OpTy>
using CellModel = CellEmitterInterface::ExternalModel<Model, OpTy>;

/// The operands of a product within a block and how they are transposed.
struct BlockProduct {
  Value a, b;
  bool transposeA = false, transposeB = false;

  static std::optional<BlockProduct> match(Operation *op) {
    if (auto scores = dyn_cast_or_null<BlockScoresOp>(op))
      return BlockProduct{scores.getQuery(), scores.getKey(), false, true};
    if (auto values = dyn_cast_or_null<BlockValuesOp>(op))
      return BlockProduct{values.getScores(), values.getValue()};
    if (auto readout = dyn_cast_or_null<BlockReadoutOp>(op))
      return BlockProduct{readout.getQuery(), readout.getState()};
    if (auto outer = dyn_cast_or_null<BlockOuterOp>(op))
      return BlockProduct{outer.getKey(), outer.getValue(), true, false};
    return std::nullopt;
  }
};

/// The body of a block loop for one block of one head.
class BlockEmitter {
public:
  BlockEmitter(KernelEmitter &e, ForBlocksOp loop, Value head, Value token,
               Value blockRow, Value bound)
      : e(e), loop(loop), head(head), token(token), blockRow(blockRow),
        bound(bound) {}

  /// The tile of a value of the body; null after an error.
  Value getTile(Value value);
  void setTile(Value value, Value tile) { tiles[value] = tile; }
  TileRegion getRegion(RankedTensorType type) {
    return TileRegion{
        token,
        loop.getBlock() > 0 ? static_cast<int64_t>(loop.getBlock()) : 1,
        head,
        e.index(0),
        type.getShape().back(),
        bound};
  }

private:
  Value loadToken(BlockArgument argument, bool toSram);
  Value getOperandTile(Value value);
  Value emitProduct(const BlockProduct &product, Value acc);
  Value emitElementwise(Value value);
  SmallVector<int64_t> getShape(Value value);
  /// The product that `value` is, if nothing else needs it on its own.
  std::optional<BlockProduct> getOnlyProduct(Value value);

  KernelEmitter &e;
  ForBlocksOp loop;
  Value head, token, blockRow, bound;
  llvm::DenseMap<Value, Value> tiles, sramTiles;
};

} // namespace

/// Shape of the tile of one head: rows and columns of a matrix.
SmallVector<int64_t> BlockEmitter::getShape(Value value) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape());
  int64_t block = loop.getBlock();
  if (!ShapedType::isDynamic(shape[0])) // [H, D, D] or [H, m, m]
    return {ShapedType::isDynamic(shape[1]) ? block : shape[1],
            ShapedType::isDynamic(shape[2]) ? block : shape[2]};
  return {block, shape[2]};
}

Value BlockEmitter::loadToken(BlockArgument argument, bool toSram) {
  Value &tile = toSram ? sramTiles[argument] : tiles[argument];
  if (tile)
    return tile;
  unsigned number = argument.getArgNumber();
  unsigned numTokens = loop.getTokens().size();
  if (number >= numTokens) {
    // A state of this block.
    Value view = e.getInput(loop.getBlocks()[number - numTokens]);
    Slice slice{view, {blockRow, head, e.index(0), e.index(0)}, {2, 3}};
    return tile = toSram ? e.loadSram(slice, getShape(argument))
                         : e.loadFrag(slice, getShape(argument));
  }
  Value tokens = loop.getTokens()[number];
  FailureOr<Slice> slice = e.getSlice(tokens, getRegion(typeOf(tokens)));
  if (failed(slice))
    return nullptr;
  return tile = toSram ? e.loadSram(*slice, getShape(argument), bound)
                       : e.loadFrag(*slice, getShape(argument), -1, bound);
}

/// An operand of a product: straight from memory where it can be.
Value BlockEmitter::getOperandTile(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && !tiles.contains(value))
    return loadToken(argument, /*toSram=*/true);
  return getTile(value);
}

Value BlockEmitter::emitProduct(const BlockProduct &product, Value acc) {
  Value a = getOperandTile(product.a);
  Value b = getOperandTile(product.b);
  if (!a || !b)
    return nullptr;
  return e.mma(a, b, acc, product.transposeA, product.transposeB);
}

std::optional<BlockProduct> BlockEmitter::getOnlyProduct(Value value) {
  if (!value.hasOneUse() || tiles.contains(value))
    return std::nullopt;
  return BlockProduct::match(value.getDefiningOp());
}

Value BlockEmitter::emitElementwise(Value value) {
  auto leaf = [&](Value tensor, OperandAccess) -> Value {
    bool isElementwise =
        isa_and_nonnull<ElementEmitterInterface>(tensor.getDefiningOp());
    if (!isElementwise || tiles.contains(tensor))
      return getTile(tensor);
    // A sum with a product is one chain: its own tile.
    if (auto sum = tensor.getDefiningOp<AddOp>();
        sum && tensor != value &&
        (getOnlyProduct(sum.getLhs()) || getOnlyProduct(sum.getRhs())))
      return getTile(tensor);
    return nullptr;
  };
  FailureOr<SmallVector<Value>> result =
      e.evaluate(value, e.frag(getShape(value)), leaf, bound);
  return failed(result) ? Value() : result->front();
}

Value BlockEmitter::getTile(Value value) {
  if (Value known = tiles.lookup(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return loadToken(argument, /*toSram=*/false);
  Value tile;
  if (auto product = BlockProduct::match(value.getDefiningOp())) {
    tile = emitProduct(*product, Value());
  } else if (auto sum = value.getDefiningOp<AddOp>()) {
    // A product accumulates onto the other summand.
    if (auto product = getOnlyProduct(sum.getRhs())) {
      if (Value acc = getTile(sum.getLhs()))
        tile = emitProduct(*product, acc);
    } else if (auto product = getOnlyProduct(sum.getLhs())) {
      if (Value acc = getTile(sum.getRhs()))
        tile = emitProduct(*product, acc);
    } else {
      tile = emitElementwise(value);
    }
  } else {
    tile = emitElementwise(value);
  }
  return tiles[value] = tile;
}

//===----------------------------------------------------------------------===//
// Block loops
//===----------------------------------------------------------------------===//

namespace {

/// One cell a sequence and head; the carried states stay on chip from the
/// first block to the last.
class BlockLoopEmitter {
public:
  BlockLoopEmitter(KernelEmitter &e, ForBlocksOp loop) : e(e), loop(loop) {}
  LogicalResult run();

private:
  void emitBlock(Value token, ValueRange carried, SmallVector<Value> &next);
  Slice getState(Value view, Value row) {
    return {view, {row, head, e.index(0), e.index(0)}, {2, 3}};
  }

  KernelEmitter &e;
  ForBlocksOp loop;
  Value head, sequence, from, to;
  LogicalResult result = success();
};

} // namespace

LogicalResult BlockLoopEmitter::run() {
  RankedTensorType type =
      typeOf(loop.getTokens().empty() ? loop.getCarry().front()
                                      : loop.getTokens().front());
  if (!llvm::all_of(loop.getTokens(),
                    [](Value tokens) { return typeOf(tokens).getRank() == 3; }))
    return loop.emitOpError("expected token operands with heads");
  Value starts = e.getInput(loop.getStarts());
  AffineExpr sequences = e.getExtent(starts, 0) - 1;
  SmallVector<Value> cell =
      e.setGrid({sequences, e.getAffine(type.getDimSize(1))});
  sequence = cell[0];
  head = cell[1];
  from = e.table(starts, sequence);
  to = e.table(starts, e.add(sequence, e.index(1)));
  Value row = sequence;
  if (loop.getSlots())
    row = e.table(e.getInput(loop.getSlots()), sequence);
  loop.getBody().walk([&](Operation *op) {
    if (auto decay = op->getAttrOfType<DecayAttr>("decay"))
      e.loadRate(decay, head);
  });
  SmallVector<Value> views, initial;
  for (auto [pool, updated] :
       llvm::zip_equal(loop.getCarry(), loop.getCarryResults())) {
    views.push_back(e.getInplace(pool, updated));
    RankedTensorType state = typeOf(pool);
    initial.push_back(e.loadFrag(getState(views.back(), row),
                                 {state.getDimSize(2), state.getDimSize(3)}));
  }
  SmallVector<Value> final = e.loop(from, to, loop.getBlock(), initial,
                                    [&](Value token, ValueRange carried) {
                                      SmallVector<Value> next;
                                      emitBlock(token, carried, next);
                                      return next;
                                    });
  for (auto [view, state] : llvm::zip_equal(views, final))
    e.store(state, getState(view, row));
  return result;
}

void BlockLoopEmitter::emitBlock(Value token, ValueRange carried,
                                 SmallVector<Value> &next) {
  int64_t block = loop.getBlock();
  Value bound = e.min(e.sub(to, token), e.index(block));
  // Row starts[b] floordiv block + b + i of tables with one row a block (E15).
  Value blockRow;
  if (!loop.getBlocks().empty() || !loop.getBlockResults().empty())
    blockRow = e.add(e.add(e.div(from, block), sequence),
                     e.div(e.sub(token, from), block));
  BlockEmitter body(e, loop, head, token, blockRow, bound);
  Block &source = loop.getBody().front();
  for (auto [argument, state] : llvm::zip_equal(
           source.getArguments().take_back(carried.size()), carried))
    body.setTile(argument, state);
  auto yield = cast<BlockYieldOp>(source.getTerminator());
  KernelEmitter::KnownTiles known;
  auto get = [&](Value value) {
    Value tile = body.getTile(value);
    if (!tile)
      result = failure();
    return tile;
  };
  for (auto [value, output] :
       llvm::zip_equal(yield.getBlocks(), loop.getBlockResults()))
    if (Value tile = get(value))
      e.store(tile, getState(e.getOutput(output), blockRow));
  for (auto [value, output] :
       llvm::zip_equal(yield.getTokens(), loop.getTokenResults()))
    known[output] = get(value);
  for (Value value : yield.getCarry())
    next.push_back(get(value));
  if (failed(result))
    return;
  if (!known.empty())
    result =
        e.finish(body.getRegion(typeOf(loop.getTokenResults().front())), known);
}

namespace {
struct ForBlocksModel : CellModel<ForBlocksModel, ForBlocksOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    TileSizesAttr tiles = e.getSource().getTilesAttr();
    if (!tiles || !tiles.getGroups())
      return BlockLoopEmitter(e, cast<ForBlocksOp>(op)).run();
    auto block = LightningBlock::match(e.getSource());
    if (!block || !block->fitsWarpGroups())
      return op->emitOpError("expected lightning attention in bf16 for tiles "
                             "with warp groups");
    return emitScheduledLightning(e, *block);
  }
};

//===----------------------------------------------------------------------===//
// One token a sequence
//===----------------------------------------------------------------------===//

/// S <- exp(-g) S + k^T v; o = q S, for one token and head.
struct LightningStepModel : CellModel<LightningStepModel, LightningStepOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto step = cast<LightningStepOp>(op);
    RankedTensorType type = typeOf(step.getQuery());
    int64_t size = type.getDimSize(2);
    Value slots = e.getInput(step.getSlots());
    SmallVector<Value> cell =
        e.setGrid({e.getExtent(slots, 0), e.getAffine(type.getDimSize(1))});
    TileRegion region{cell[0], 1, cell[1], e.index(0), size};
    e.loadRate(step.getDecay(), cell[1]);
    auto load = [&](Value tensor, int64_t along) -> Value {
      FailureOr<Slice> slice = e.getSlice(tensor, region);
      if (failed(slice))
        return nullptr;
      slice->dims = {slice->dims.back()};
      return e.loadFrag(*slice, {size}, along);
    };
    Value query = load(step.getQuery(), 0);
    Value key = load(step.getKey(), 0);
    Value value = load(step.getValue(), 1);
    if (!query || !key || !value)
      return failure();
    Value pool = e.getInplace(step.getStates(), step.getNewStates());
    Value slot = e.table(slots, cell[0]);
    Slice place{pool, {slot, cell[1], e.index(0), e.index(0)}, {2, 3}};
    Value old = e.loadFrag(place, {size, size});
    Value kept =
        e.map(e.frag({size}, 0), {}, [&](ElementContext &context, ValueRange) {
          Value one =
              arith::ConstantIndexOp::create(context.builder, context.loc, 1);
          return context.decay(step.getDecay(), one);
        });
    Value state =
        e.map(e.frag({size, size}), {old, kept, key, value},
              [](ElementContext &context, ValueRange x) -> Value {
                Value product = arith::MulFOp::create(context.builder,
                                                      context.loc, x[1], x[0]);
                return math::FmaOp::create(context.builder, context.loc, x[2],
                                           x[3], product);
              });
    e.store(state, place);
    Value read = e.map(e.frag({size, size}), {state, query},
                       [](ElementContext &context, ValueRange x) -> Value {
                         return arith::MulFOp::create(context.builder,
                                                      context.loc, x[0], x[1]);
                       });
    Value sum = e.reduce(tile::ReduceKind::Add, read, 0);
    // As a row, so that what follows sees a tile of one token.
    Value row = e.map(e.frag({1, size}), sum,
                      [](ElementContext &, ValueRange x) { return x[0]; });
    KernelEmitter::KnownTiles known;
    known[step.getResult()] = row;
    return e.finish(region, known);
  }
};
} // namespace

void mmx::attachLightningModels(MLIRContext *context) {
  ForBlocksOp::attachInterface<ForBlocksModel>(*context);
  LightningStepOp::attachInterface<LightningStepModel>(*context);
}
