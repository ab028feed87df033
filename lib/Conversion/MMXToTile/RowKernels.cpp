//===- RowKernels.cpp - Rows, norms and linear layers as tile programs ----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mmx;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

namespace {

template <typename Model, typename OpTy>
using CellModel = CellEmitterInterface::ExternalModel<Model, OpTy>;

/// One result tile a cell; the reduction runs over the whole depth in order,
/// so that every element is one chain of fused multiply-adds.
struct LinearModel : CellModel<LinearModel, LinearOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto linear = cast<LinearOp>(op);
    int64_t depth = typeOf(linear.getWeight()).getDimSize(1);
    int64_t width = typeOf(linear.getWeight()).getDimSize(0);
    TileSizesAttr tiles = e.getTiles(16, 64, depth);
    SmallVector<Value> ids =
        e.setGrid({e.getResultRows().ceilDiv(tiles.getRows()),
                   e.getAffine(llvm::divideCeil(width, tiles.getCols()))});
    TileRegion region{e.mul(ids[0], tiles.getRows()), tiles.getRows(), Value(),
                      e.mul(ids[1], tiles.getCols()), tiles.getCols()};
    int64_t step = std::min(depth, tiles.getDepth());
    Value weight = e.getWeight(linear.getWeight(), 0);
    bool failedSlice = false;
    auto product = [&](Value k, Value acc) -> Value {
      TileRegion part = region;
      part.col = k;
      part.cols = step;
      FailureOr<Slice> input = e.getSlice(linear.getInput(), part);
      failedSlice |= failed(input);
      if (failedSlice)
        return acc;
      Value a = e.loadSram(*input, {tiles.getRows(), step});
      Value b = e.loadSram({weight, {region.col, k}, {0, 1}},
                           {tiles.getCols(), step});
      return e.mma(a, b, acc, false, true);
    };
    Value result;
    if (step >= depth) {
      result = product(e.index(0), Value());
    } else {
      Value zero = e.fill(e.frag({tiles.getRows(), tiles.getCols()}), 0.0);
      result = e.loop(e.index(0), e.index(depth), step, zero,
                      [&](Value k, ValueRange acc) {
                        return SmallVector<Value>{product(k, acc[0])};
                      })
                   .front();
    }
    if (failedSlice)
      return failure();
    KernelEmitter::KnownTiles known;
    known[linear.getResult()] = result;
    return e.finish(region, known);
  }
};

//===----------------------------------------------------------------------===//
// Gathered and summed rows
//===----------------------------------------------------------------------===//

/// Rows of `source` chosen by `ids`; the table is i32.
LogicalResult emitGather(KernelEmitter &e, Value ids, Value source,
                         Value result) {
  int64_t width = typeOf(result).getDimSize(1);
  TileSizesAttr tiles = e.getTiles(16, std::min<int64_t>(width, 256), 1);
  Value table = e.getInput(ids);
  SmallVector<Value> cell =
      e.setGrid({e.getExtent(table, 0).ceilDiv(tiles.getRows()),
                 e.getAffine(llvm::divideCeil(width, tiles.getCols()))});
  TileRegion region{e.mul(cell[0], tiles.getRows()), tiles.getRows(), Value(),
                    e.mul(cell[1], tiles.getCols()), tiles.getCols()};
  region.bound = e.sub(e.dim(table, 0), region.row);
  Value view = e.getInput(source);
  auto type =
      tile::FragType::get(e.builder.getContext(), {region.rows, region.cols},
                          typeOf(source).getElementType(), -1);
  Value tile = tile::GatherOp::create(
      e.builder, e.getLoc(), type, view, ValueRange{e.index(0), region.col},
      table, region.row, region.bound, e.builder.getDenseI64ArrayAttr({0, 1}),
      e.builder.getF64FloatAttr(0.0));
  KernelEmitter::KnownTiles known;
  known[result] = tile;
  return e.finish(region, known);
}

struct EmbeddingModel : CellModel<EmbeddingModel, EmbeddingOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto embedding = cast<EmbeddingOp>(op);
    return emitGather(e, embedding.getIds(), embedding.getTable(),
                      embedding.getResult());
  }
};

struct TakeRowsModel : CellModel<TakeRowsModel, TakeRowsOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto take = cast<TakeRowsOp>(op);
    return emitGather(e, take.getRows(), take.getInput(), take.getResult());
  }
};

/// The rows of a token stand together: a dimension of its own in the view.
struct CombineModel : CellModel<CombineModel, CombineOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto combine = cast<CombineOp>(op);
    int64_t width = typeOf(combine.getResult()).getDimSize(1);
    int64_t topK = combine.getTopK();
    TileSizesAttr tiles = e.getTiles(16, std::min<int64_t>(width, 256), 1);
    Value view =
        e.getInput(combine.getInput(), {ShapedType::kDynamic, topK, width});
    SmallVector<Value> cell =
        e.setGrid({e.getExtent(view, 0).ceilDiv(tiles.getRows()),
                   e.getAffine(llvm::divideCeil(width, tiles.getCols()))});
    TileRegion region{e.mul(cell[0], tiles.getRows()), tiles.getRows(), Value(),
                      e.mul(cell[1], tiles.getCols()), tiles.getCols()};
    SmallVector<Value> parts;
    for (int64_t j = 0; j < topK; ++j)
      parts.push_back(
          e.loadFrag({view, {region.row, e.index(j), region.col}, {0, 2}},
                     {region.rows, region.cols}));
    Value sum = e.map(e.frag({region.rows, region.cols}), parts,
                      [&](ElementContext &context, ValueRange elements) {
                        Value total = elements.front();
                        for (Value element : elements.drop_front())
                          total = arith::AddFOp::create(
                              context.builder, context.loc, total, element);
                        return total;
                      });
    KernelEmitter::KnownTiles known;
    known[combine.getResult()] = sum;
    return e.finish(region, known);
  }
};

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Sums of squares of `region.rows` whole rows: partial sums along the columns
/// of a chunk, then one tree over the chunk.
FailureOr<Value> emitSumSquares(KernelEmitter &e, Value input,
                                TileRegion region, int64_t width) {
  bool failedSlice = false;
  auto square = [&](Value col, Value sum) -> Value {
    TileRegion part = region;
    part.col = col;
    FailureOr<Slice> slice = e.getSlice(input, part);
    failedSlice |= failed(slice);
    if (failedSlice)
      return sum;
    Value tile = e.loadFrag(*slice, {region.rows, region.cols});
    return e.map(e.frag({region.rows, region.cols}), {tile, sum},
                 [](ElementContext &context, ValueRange x) -> Value {
                   return math::FmaOp::create(context.builder, context.loc,
                                              x[0], x[0], x[1]);
                 });
  };
  Value sum = e.fill(e.frag({region.rows, region.cols}), 0.0);
  if (region.cols >= width)
    sum = square(e.index(0), sum);
  else
    sum = e.loop(e.index(0), e.index(width), region.cols, sum,
                 [&](Value col, ValueRange carried) {
                   return SmallVector<Value>{square(col, carried[0])};
                 })
              .front();
  if (failedSlice)
    return failure();
  return e.reduce(tile::ReduceKind::Add, sum, 1);
}

struct SumSquaresModel : CellModel<SumSquaresModel, SumSquaresOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto sum = cast<SumSquaresOp>(op);
    int64_t width = typeOf(sum.getInput()).getDimSize(1);
    TileSizesAttr tiles = e.getTiles(4, std::min<int64_t>(width, 512), 1);
    Value output = e.getOutput(sum.getResult());
    SmallVector<Value> cell =
        e.setGrid({e.getExtent(output, 0).ceilDiv(tiles.getRows())});
    TileRegion region{e.mul(cell[0], tiles.getRows()), tiles.getRows(), Value(),
                      Value(), std::min(width, tiles.getCols())};
    FailureOr<Value> total = emitSumSquares(e, sum.getInput(), region, width);
    if (failed(total))
      return failure();
    e.store(*total, {output, {region.row}, {0}});
    return success();
  }
};

struct RMSNormModel : CellModel<RMSNormModel, RMSNormOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto norm = cast<RMSNormOp>(op);
    int64_t width = typeOf(norm.getInput()).getDimSize(1);
    TileSizesAttr tiles = e.getTiles(4, std::min<int64_t>(width, 512), 1);
    SmallVector<Value> cell =
        e.setGrid({e.getResultRows().ceilDiv(tiles.getRows())});
    TileRegion region{e.mul(cell[0], tiles.getRows()), tiles.getRows(), Value(),
                      Value(), std::min(width, tiles.getCols())};
    FailureOr<Value> total = emitSumSquares(e, norm.getInput(), region, width);
    if (failed(total))
      return failure();
    Value root = e.map(e.frag({region.rows}, 0), *total,
                       [&](ElementContext &context, ValueRange x) -> Value {
                         Value mean = arith::DivFOp::create(
                             context.builder, context.loc, x[0],
                             context.constant(static_cast<double>(width)));
                         Value shifted = arith::AddFOp::create(
                             context.builder, context.loc, mean,
                             context.constant(norm.getEps().convertToDouble()));
                         return math::SqrtOp::create(context.builder,
                                                     context.loc, shifted);
                       });
    LogicalResult result = success();
    auto apply = [&](Value col) {
      region.col = col;
      result = emitScaled(e, norm, region, root);
    };
    if (region.cols >= width)
      apply(e.index(0));
    else
      e.loop(e.index(0), e.index(width), region.cols, {},
             [&](Value col, ValueRange) {
               apply(col);
               return SmallVector<Value>{};
             });
    return result;
  }

private:
  static LogicalResult emitScaled(KernelEmitter &e, RMSNormOp norm,
                                  const TileRegion &region, Value root) {
    FailureOr<Slice> input = e.getSlice(norm.getInput(), region);
    FailureOr<Slice> weight =
        e.getSlice(norm.getWeight(), region, OperandAccess::PerColumn);
    if (failed(input) || failed(weight))
      return failure();
    Value x = e.loadFrag(*input, {region.rows, region.cols});
    Value w = e.loadFrag(*weight, {region.cols}, 1);
    KernelEmitter::KnownTiles known;
    known[norm.getResult()] =
        e.map(e.frag({region.rows, region.cols}), {x, root, w},
              [](ElementContext &context, ValueRange x) -> Value {
                Value scaled = arith::DivFOp::create(context.builder,
                                                     context.loc, x[0], x[1]);
                return arith::MulFOp::create(context.builder, context.loc, x[2],
                                             scaled);
              });
    return e.finish(region, known);
  }
};

} // namespace

void mmx::attachRowModels(MLIRContext *context) {
  LinearOp::attachInterface<LinearModel>(*context);
  EmbeddingOp::attachInterface<EmbeddingModel>(*context);
  TakeRowsOp::attachInterface<TakeRowsModel>(*context);
  CombineOp::attachInterface<CombineModel>(*context);
  SumSquaresOp::attachInterface<SumSquaresModel>(*context);
  RMSNormOp::attachInterface<RMSNormModel>(*context);
}
