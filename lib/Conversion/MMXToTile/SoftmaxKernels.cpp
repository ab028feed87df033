//===- SoftmaxKernels.cpp - Rotation, caches, attention as tile programs --===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mmx;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

namespace {

template <typename Model, typename OpTy>
using CellModel = CellEmitterInterface::ExternalModel<Model, OpTy>;

/// Masked scores and the first running maximum: far below any score, and
/// still finite, so that differences of two of them are numbers.
constexpr double veryLow = -1.0e30;

//===----------------------------------------------------------------------===//
// Rotation
//===----------------------------------------------------------------------===//

/// Cosines or sines of one half of the table. The angle is an f32, as E13 says;
/// it is reduced to a turn in f64, and what is left fits f32.
Value emitAngles(KernelEmitter &e, ValueRange operands, tile::FragType type,
                 bool isSine) {
  return e.map(type, operands, [&](ElementContext &c, ValueRange x) -> Value {
    Type f64 = c.builder.getF64Type();
    auto constant = [&](double value) -> Value {
      return arith::ConstantOp::create(c.builder, c.loc,
                                       c.builder.getF64FloatAttr(value));
    };
    auto times = [&](Value a, Value b) -> Value {
      return arith::MulFOp::create(c.builder, c.loc, a, b);
    };
    Value position =
        arith::SIToFPOp::create(c.builder, c.loc, c.builder.getF32Type(), x[0]);
    Value angle =
        arith::ExtFOp::create(c.builder, c.loc, f64, times(position, x[1]));
    Value turns = math::FloorOp::create(
        c.builder, c.loc,
        arith::AddFOp::create(
            c.builder, c.loc,
            times(angle, constant(0.5 * std::numbers::inv_pi)), constant(0.5)));
    Value rest =
        arith::SubFOp::create(c.builder, c.loc, angle,
                              times(turns, constant(2.0 * std::numbers::pi)));
    Value small =
        arith::TruncFOp::create(c.builder, c.loc, c.builder.getF32Type(), rest);
    if (isSine)
      return math::SinOp::create(c.builder, c.loc, small);
    return math::CosOp::create(c.builder, c.loc, small);
  });
}

struct RopeTableModel : CellModel<RopeTableModel, RopeTableOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto rope = cast<RopeTableOp>(op);
    int64_t rotary = rope.getRotary();
    int64_t half = rotary / 2;
    int64_t rows = e.getTiles(64, half, 1).getRows();
    SmallVector<float> frequencies;
    for (int64_t j = 0; j < half; ++j) {
      double power =
          std::pow(rope.getTheta().convertToDouble(),
                   2.0 * static_cast<double>(j) / static_cast<double>(rotary));
      frequencies.push_back(1.0f / static_cast<float>(power));
    }
    auto type = RankedTensorType::get({half}, e.builder.getF32Type());
    Value positions = e.getInput(rope.getPositions());
    Value output = e.getOutput(rope.getResult());
    SmallVector<Value> cell =
        e.setGrid({e.getExtent(positions, 0).ceilDiv(rows)});
    Value row = e.mul(cell[0], rows);
    Value position = e.loadFrag({positions, {row}, {0}}, {rows}, 0);
    Value table = e.getConstant(
        DenseElementsAttr::get(type, ArrayRef<float>(frequencies)));
    SmallVector<Value> operands{
        position, e.loadFrag({table, {e.index(0)}, {0}}, {half}, 1)};
    for (bool isSine : {false, true})
      e.store(emitAngles(e, operands, e.frag({rows, half}), isSine),
              {output, {row, e.index(isSine ? half : 0)}, {0, 1}});
    return success();
  }
};

/// The head of the input in three parts: the two halves that rotate into each
/// other, and what passes through.
struct RopeModel : CellModel<RopeModel, RopeOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto rope = cast<RopeOp>(op);
    RankedTensorType type = typeOf(rope.getInput());
    int64_t size = type.getDimSize(2);
    int64_t rotary = typeOf(rope.getTable()).getDimSize(1);
    int64_t half = rotary / 2;
    int64_t rows = e.getTiles(16, size, 1).getRows();
    Value output = e.getOutput(rope.getResult());
    SmallVector<Value> cell = e.setGrid({e.getExtent(output, 0).ceilDiv(rows),
                                         e.getAffine(type.getDimSize(1))});
    TileRegion region{e.mul(cell[0], rows), rows, cell[1], Value(), half};
    auto load = [&](Value tensor, int64_t col, int64_t cols) -> Value {
      TileRegion part = region;
      part.col = e.index(col);
      FailureOr<Slice> slice = e.getSlice(tensor, part);
      return failed(slice) ? Value() : e.loadFrag(*slice, {rows, cols});
    };
    auto put = [&](Value tile, int64_t col) {
      e.store(tile, {output, {region.row, region.head, e.index(col)}, {0, 2}});
    };
    Value low = load(rope.getInput(), 0, half);
    Value high = load(rope.getInput(), half, half);
    Value cos = load(rope.getTable(), 0, half);
    Value sin = load(rope.getTable(), half, half);
    if (!low || !high || !cos || !sin)
      return failure();
    auto rotate = [&](Value a, Value b, bool negate) {
      return e.map(
          e.frag({rows, half}), {a, b, cos, sin},
          [&](ElementContext &c, ValueRange x) -> Value {
            Value other = arith::MulFOp::create(c.builder, c.loc, x[1], x[3]);
            Value own = arith::MulFOp::create(c.builder, c.loc, x[0], x[2]);
            if (negate)
              return arith::SubFOp::create(c.builder, c.loc, own, other);
            return arith::AddFOp::create(c.builder, c.loc, own, other);
          });
    };
    put(rotate(low, high, true), 0);
    put(rotate(high, low, false), half);
    if (rotary < size)
      put(load(rope.getInput(), rotary, size - rotary), rotary);
    return success();
  }
};

struct CacheAppendModel : CellModel<CacheAppendModel, CacheAppendOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto append = cast<CacheAppendOp>(op);
    RankedTensorType type = typeOf(append.getInput());
    int64_t size = type.getDimSize(2);
    int64_t rows = e.getTiles(16, size, 1).getRows();
    Value ids = e.getInput(append.getCacheRows());
    Value pool =
        e.getInplace(append.getCache(), append.getResult(), isKeyCache(append));
    SmallVector<Value> cell = e.setGrid(
        {e.getExtent(ids, 0).ceilDiv(rows), e.getAffine(type.getDimSize(1))});
    TileRegion region{e.mul(cell[0], rows), rows, cell[1], e.index(0), size};
    region.bound = e.sub(e.dim(ids, 0), region.row);
    FailureOr<Slice> input = e.getSlice(append.getInput(), region);
    if (failed(input))
      return failure();
    Value tile = e.loadFrag(*input, {rows, size}, -1, region.bound);
    tile::StoreOp::create(e.builder, e.getLoc(), tile, pool,
                          ValueRange{e.index(0), cell[1], e.index(0)}, ids,
                          region.row, region.bound,
                          e.builder.getDenseI64ArrayAttr({0, 2}));
    return success();
  }

private:
  /// Whether the pool holds keys: what attention reads it as says so.
  static bool isKeyCache(CacheAppendOp append) {
    auto kernel = append->getParentOfType<KernelOp>();
    auto yielded = kernel.getBody().front().getTerminator()->getOperands();
    unsigned number = llvm::find(yielded, append.getResult()) - yielded.begin();
    for (OpOperand &use : kernel.getOutputs()[number].getUses()) {
      auto reader = dyn_cast<KernelOp>(use.getOwner());
      if (!reader)
        continue;
      Value argument = reader.getBody().getArgument(use.getOperandNumber());
      for (Operation *user : argument.getUsers())
        if (auto attend = dyn_cast<AttendOp>(user))
          return attend.getKeyCache() == argument;
    }
    return false;
  }
};

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Softmax over the rows of a sequence, a page at a time (E14): a running
/// maximum, a running sum and a running product with the values.
class AttendEmitter {
public:
  AttendEmitter(KernelEmitter &e, AttendOp attend)
      : e(e), attend(attend), size(typeOf(attend.getQuery()).getDimSize(2)),
        heads(typeOf(attend.getQuery()).getDimSize(1)),
        kvHeads(typeOf(attend.getKeyCache()).getDimSize(1)),
        page(attend.getPage()) {}
  LogicalResult runPrefill();
  LogicalResult runDecode();

private:
  Value emitRows(Value query, Value firstPosition, Value count,
                 bool rowsAreTokens);
  SmallVector<Value> emitPage(Value query, Value firstPosition, Value start,
                              Value count, bool rowsAreTokens,
                              ValueRange carried);
  Value emitMasked(Value scores, Value firstPosition, Value start,
                   bool rowsAreTokens);

  KernelEmitter &e;
  AttendOp attend;
  int64_t size, heads, kvHeads, page;
  int64_t rows = 0;
  Value sequence, kvHead;
};

} // namespace

/// Scaled scores; what a query must not see is `veryLow`. Row i of the tile is
/// the token at `firstPosition` + i, or every row is the same token.
Value AttendEmitter::emitMasked(Value scores, Value firstPosition, Value start,
                                bool rowsAreTokens) {
  return e.map(
      e.frag({rows, page}), scores,
      [&](ElementContext &c, ValueRange x) -> Value {
        Value position = firstPosition;
        if (rowsAreTokens)
          position =
              arith::AddIOp::create(c.builder, c.loc, firstPosition, c.row);
        Value key = arith::AddIOp::create(c.builder, c.loc, start, c.col);
        Value seen = arith::CmpIOp::create(
            c.builder, c.loc, arith::CmpIPredicate::sle, key, position);
        Value scaled = arith::MulFOp::create(
            c.builder, c.loc, x[0],
            c.constant(attend.getScale().convertToDouble()));
        return arith::SelectOp::create(c.builder, c.loc, seen, scaled,
                                       c.constant(veryLow));
      });
}

/// `carried`: the running maximum, sum and product.
SmallVector<Value> AttendEmitter::emitPage(Value query, Value firstPosition,
                                           Value start, Value count,
                                           bool rowsAreTokens,
                                           ValueRange carried) {
  Value pages = e.getInput(attend.getPages());
  Value row = e.mul(e.table(pages, {sequence, e.div(start, page)}), page);
  Value bound = e.sub(count, start);
  auto load = [&](Value pool, bool isKey) {
    Value view = e.getCache(pool, isKey, tile::AccessMode::Read);
    return e.loadSram({view, {row, kvHead, e.index(0)}, {0, 2}}, {page, size},
                      bound);
  };
  Value scores =
      e.mma(query, load(attend.getKeyCache(), true), Value(), false, true);
  Value masked = emitMasked(scores, firstPosition, start, rowsAreTokens);
  tile::FragType stat = e.frag({rows}, 0);
  Value largest =
      e.map(stat, {carried[0], e.reduce(tile::ReduceKind::Max, masked, 1)},
            [](ElementContext &c, ValueRange x) -> Value {
              return arith::MaximumFOp::create(c.builder, c.loc, x[0], x[1]);
            });
  auto expOfDifference = [](ElementContext &c, ValueRange x) -> Value {
    Value difference = arith::SubFOp::create(c.builder, c.loc, x[0], x[1]);
    return math::ExpOp::create(c.builder, c.loc, difference);
  };
  Value correction = e.map(stat, {carried[0], largest}, expOfDifference);
  Value weights =
      e.map(e.frag({rows, page}), {masked, largest}, expOfDifference);
  auto scaledSum = [](ElementContext &c, ValueRange x) -> Value {
    return math::FmaOp::create(c.builder, c.loc, x[0], x[1], x[2]);
  };
  Value sum = e.map(
      stat,
      {carried[1], correction, e.reduce(tile::ReduceKind::Add, weights, 1)},
      scaledSum);
  Value scaled =
      e.map(e.frag({rows, size}), {carried[2], correction},
            [](ElementContext &c, ValueRange x) -> Value {
              return arith::MulFOp::create(c.builder, c.loc, x[0], x[1]);
            });
  Value product = e.mma(weights, load(attend.getValueCache(), false), scaled);
  return {largest, sum, product};
}

/// Attention of the rows of `query` to the first `count` rows of the sequence.
Value AttendEmitter::emitRows(Value query, Value firstPosition, Value count,
                              bool rowsAreTokens) {
  SmallVector<Value> initial{e.fill(e.frag({rows}, 0), veryLow),
                             e.fill(e.frag({rows}, 0), 0.0),
                             e.fill(e.frag({rows, size}), 0.0)};
  SmallVector<Value> last = e.loop(
      e.index(0), count, page, initial, [&](Value start, ValueRange carried) {
        return emitPage(query, firstPosition, start, count, rowsAreTokens,
                        carried);
      });
  return e.map(e.frag({rows, size}), {last[2], last[1]},
               [](ElementContext &c, ValueRange x) -> Value {
                 return arith::DivFOp::create(c.builder, c.loc, x[0], x[1]);
               });
}

/// A cell has a tile of query rows of one head. The grid has as many tiles for
/// every sequence as one with all the tokens would need: the loop over the
/// cell's tile runs once or not at all.
LogicalResult AttendEmitter::runPrefill() {
  rows = e.getTiles(64, size, page).getRows();
  Value starts = e.getInput(attend.getStarts());
  Value past = e.getInput(attend.getPast());
  SmallVector<Value> cell = e.setGrid({e.getExtent(past, 0), e.getAffine(heads),
                                       e.getResultRows().ceilDiv(rows)});
  sequence = cell[0];
  kvHead = e.div(cell[1], heads / kvHeads);
  Value from = e.table(starts, sequence);
  Value to = e.table(starts, e.add(sequence, e.index(1)));
  Value tile = e.add(from, e.mul(cell[2], rows));
  Value end = e.min(to, e.add(tile, e.index(rows)));
  LogicalResult result = success();
  e.loop(tile, end, rows, {}, [&](Value row, ValueRange) {
    TileRegion region{row, rows, cell[1], e.index(0), size, e.sub(end, row)};
    FailureOr<Slice> query = e.getSlice(attend.getQuery(), region);
    if (failed(query)) {
      result = failure();
      return SmallVector<Value>{};
    }
    Value first = e.add(e.table(past, sequence), e.sub(row, from));
    Value count = e.add(first, e.sub(end, row));
    KernelEmitter::KnownTiles known;
    known[attend.getResult()] =
        emitRows(e.loadSram(*query, {rows, size}, region.bound), first, count,
                 /*rowsAreTokens=*/true);
    result = e.finish(region, known);
    return SmallVector<Value>{};
  });
  return result;
}

/// A cell has the query heads of one key-value head, all of one token.
LogicalResult AttendEmitter::runDecode() {
  rows = heads / kvHeads;
  Value past = e.getInput(attend.getPast());
  Value query = e.getInput(attend.getQuery());
  Value output = e.getOutput(attend.getResult());
  SmallVector<Value> cell =
      e.setGrid({e.getExtent(past, 0), e.getAffine(kvHeads)});
  sequence = cell[0];
  kvHead = cell[1];
  SmallVector<Value> place{sequence, e.mul(kvHead, rows), e.index(0)};
  Value position = e.table(past, sequence);
  Value tile = emitRows(e.loadSram({query, place, {1, 2}}, {rows, size}),
                        position, e.add(position, e.index(1)),
                        /*rowsAreTokens=*/false);
  e.store(tile, {output, place, {1, 2}});
  return success();
}

namespace {
struct AttendModel : CellModel<AttendModel, AttendOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto attend = cast<AttendOp>(op);
    auto phase = op->getParentOfType<func::FuncOp>()->getAttrOfType<StringAttr>(
        "mmx.phase");
    // One token a sequence, and nothing to compute with the result or to see
    // the query through.
    bool isDecode =
        phase && phase.getValue() == "decode" &&
        isa<BlockArgument>(attend.getQuery()) &&
        llvm::hasSingleElement(op->getBlock()->without_terminator());
    AttendEmitter emitter(e, attend);
    return isDecode ? emitter.runDecode() : emitter.runPrefill();
  }
};
} // namespace

void mmx::attachSoftmaxModels(MLIRContext *context) {
  RopeTableOp::attachInterface<RopeTableModel>(*context);
  RopeOp::attachInterface<RopeModel>(*context);
  CacheAppendOp::attachInterface<CacheAppendModel>(*context);
  AttendOp::attachInterface<AttendModel>(*context);
}
