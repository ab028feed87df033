//===- LowerReduce.cpp - Reductions and running sums ----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of a reduction is fixed: padded with the neutral element to a power
// of two, the upper half is folded onto the lower one. Folding vectors first
// and lanes last is that order.
//
//===----------------------------------------------------------------------===//

#include "../TileLowering/Partial.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::cpu;

/// So many vectors are folded in registers, more of them through memory.
static constexpr int64_t registerVectors = 8;

/// Folds `count` vectors. `partials` has room for half of them rounded up to a
/// power of two, values first, then positions.
Partial KernelLowering::foldVectors(tile::ReduceOp op, int64_t count,
                                    llvm::function_ref<Partial(Value)> source,
                                    Value partials) {
  TileShape shape = getTileShape(op.getTile().getType());
  int64_t padded = llvm::PowerOf2Ceil(count);
  auto at = [&](Value i) {
    return e.at(partials, e.mul(i, e.i64(e.width)), shape.element);
  };
  Value positions =
      e.at(partials, padded / 2 * e.width * getElementBytes(shape.element),
           e.getI8Type());
  auto positionAt = [&](Value i) {
    return e.at(positions, e.mul(i, e.i64(e.width)), e.getI32Type());
  };
  auto load = [&](Value i) -> Partial {
    Partial partial = {e.loadVector(shape.element, at(i)), {}};
    if (op.getIndex())
      partial.position = e.loadVector(e.getI32Type(), positionAt(i));
    return partial;
  };
  auto store = [&](Value i, Partial partial) {
    e.store(partial.value, at(i));
    if (op.getIndex())
      e.store(partial.position, positionAt(i));
  };
  bool inMemory = false;
  for (; padded > registerVectors; padded /= 2, inMemory = true) {
    int64_t half = padded / 2, pairs = std::min(count, padded) - half;
    auto get = [&](Value i) { return inMemory ? load(i) : source(i); };
    e.forEach(e.i64(0), e.i64(pairs), 1, [&](Value i) {
      store(i, combine(e, op, get(i), get(e.add(i, e.i64(half)))));
    });
    // Partners beyond the extent are neutral.
    if (!inMemory)
      e.forEach(e.i64(pairs), e.i64(half), 1,
                [&](Value i) { store(i, get(i)); });
    count = half;
  }
  SmallVector<Partial> vectors;
  for (int64_t i = 0; i < std::min(count, padded); ++i)
    vectors.push_back(inMemory ? load(e.i64(i)) : source(e.i64(i)));
  for (int64_t half = padded / 2; half >= 1; half /= 2) {
    for (int64_t i = 0; i + half < static_cast<int64_t>(vectors.size()); ++i)
      vectors[i] = combine(e, op, vectors[i], vectors[i + half]);
    vectors.resize(std::min<int64_t>(vectors.size(), half));
  }
  return vectors.front();
}

/// Lane 0 is the result.
Partial KernelLowering::foldLanes(tile::ReduceOp op, Partial partial) {
  for (int64_t half = e.width / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < e.width; ++lane)
      mask.push_back((lane + half) % e.width);
    auto shift = [&](Value value) -> Value {
      if (!value)
        return {};
      return vector::ShuffleOp::create(e, value, value, mask);
    };
    partial = combine(e, op, partial,
                      {shift(partial.value), shift(partial.position)});
  }
  return partial;
}

LogicalResult KernelLowering::lowerReduce(tile::ReduceOp op) {
  if (getTileShape(op.getTile().getType()).rank != 2)
    return op.emitOpError("expected a fragment of rank 2, but got rank 1");
  placeResult(op.getResult()).rows = getRowPlace(op.getResult());
  if (Value index = op.getIndex())
    placeResult(index).rows = getRowPlace(index);
  if (op.getDim() == 0)
    reduceRows(op);
  else
    reduceCols(op);
  return success();
}

/// One value a column: vectors of rows are folded.
void KernelLowering::reduceRows(tile::ReduceOp op) {
  TilePlace from = tiles.at(op.getTile()), to = tiles.at(op.getResult());
  Value partials = getScratch(plan.getTemporaryOffset(op));
  e.forEach(e.i64(0), e.i64(from.shape.cols), e.width, [&](Value col) {
    auto source = [&](Value row) -> Partial {
      Partial partial = {
          e.loadVector(from.shape.element, elementAt(from, row, col)), {}};
      if (op.getIndex())
        partial.position =
            e.splat(arith::TruncIOp::create(e, e.getI32Type(), row));
      return partial;
    };
    Partial result = foldVectors(op, from.shape.rows, source, partials);
    e.store(result.value, elementAt(to, e.i64(0), col));
    if (Value index = op.getIndex())
      e.store(result.position, elementAt(tiles.at(index), e.i64(0), col));
  });
}

/// One value a row: the vectors of a row are folded, then lanes.
void KernelLowering::reduceCols(tile::ReduceOp op) {
  TilePlace from = tiles.at(op.getTile()), to = tiles.at(op.getResult());
  Value partials = getScratch(plan.getTemporaryOffset(op));
  Type element = from.shape.element;
  int64_t cols = from.shape.cols, count = e.countVectors(cols);
  Value fill = neutral(e, op.getKind(), e.vectorOf(element));
  e.forEach(e.i64(0), countRows(op.getTile(), op), 1, [&](Value row) {
    auto source = [&](Value number) -> Partial {
      Value col = e.mul(number, e.i64(e.width));
      Partial partial = {e.loadVector(element, elementAt(from, row, col)), {}};
      Value lanes = arith::AddIOp::create(e, e.splat(e.toIndex(col)), e.iota());
      if (cols % e.width != 0) {
        Value end = e.splat(e.toIndex(e.i64(cols)));
        partial.value = e.select(
            arith::CmpIOp::create(e, arith::CmpIPredicate::slt, lanes, end),
            partial.value, fill);
      }
      if (op.getIndex())
        partial.position =
            arith::IndexCastOp::create(e, e.vectorOf(e.getI32Type()), lanes);
      return partial;
    };
    Partial result = foldLanes(op, foldVectors(op, count, source, partials));
    auto put = [&](Value vector, const TilePlace &place) {
      Value lane = vector::ExtractOp::create(e, vector, 0);
      e.store(lane, e.at(place.rows->pointer, row, place.shape.element));
    };
    put(result.value, to);
    if (Value index = op.getIndex())
      put(result.position, tiles.at(index));
  });
}

LogicalResult KernelLowering::lowerScan(tile::ScanOp op) {
  TilePlace from = tiles.at(op.getTile());
  placeResult(op.getResult()).rows = getRowPlace(op.getResult());
  TilePlace to = tiles.at(op.getResult());
  Type element = from.shape.element;
  auto sum = [&](Value a, Value b) -> Value {
    if (isa<FloatType>(element))
      return arith::AddFOp::create(e, a, b);
    return arith::AddIOp::create(e, a, b);
  };
  auto step = [&](Value before, Value value, Value row, Value col) {
    Value after = sum(before, value);
    e.store(op.getExclusive() ? before : after, elementAt(to, row, col));
    return SmallVector<Value>{after};
  };
  Value zero = e.i64(0), cols = e.i64(from.shape.cols);
  Value rows = countRows(op.getResult(), op);
  if (from.shape.rank == 2 && op.getDim() == 0) {
    e.forEach(zero, cols, e.width, [&](Value col) {
      e.forEach(zero, rows, 1, e.constant(e.vectorOf(element), 0.0),
                [&](Value row, ValueRange before) {
                  return step(before[0],
                              e.loadVector(element, elementAt(from, row, col)),
                              row, col);
                });
    });
    return success();
  }
  e.forEach(zero, rows, 1, [&](Value row) {
    e.forEach(zero, cols, 1, e.constant(element, 0.0),
              [&](Value col, ValueRange before) {
                return step(before[0],
                            e.load(element, elementAt(from, row, col)), row,
                            col);
              });
  });
  return success();
}
