//===- BlockTiles.cpp - Arithmetic on tiles by a block of threads ---------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::simt;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Rows that a thread computes together, so that it reads B once for them.
static constexpr int64_t rowsTogether = 4;

/// Every element is a chain of fused multiply-adds in the order of the
/// reduction index.
void BlockLowering::lowerMma(tile::MmaOp op) {
  TilePlace a = tiles.at(op.getA()), b = tiles.at(op.getB());
  TilePlace to = placeResult(op.getResult());
  Type f32 = e.getF32Type();
  int64_t depth = op.getTransposeA() ? a.shape.rows : a.shape.cols;
  int64_t height = std::min<int64_t>(rowsTogether, to.shape.rows);
  Value rows = countRows(op.getResult(), op);
  Value groups = e.div(e.add(rows, e.i64(height - 1)), height);
  auto load = [&](const TilePlace &place, bool transposed, Value row,
                  Value col) {
    Value value = transposed ? loadElement(place, col, row)
                             : loadElement(place, row, col);
    return e.convert(value, f32);
  };
  forElements(groups, to.shape.cols, [&](Value group, Value col) {
    // Rows beyond the last one repeat it and are not stored.
    SmallVector<Value> numbers, places, sums;
    for (int64_t i = 0; i < height; ++i) {
      Value row = e.add(e.mul(group, e.i64(height)), e.i64(i));
      numbers.push_back(row);
      places.push_back(e.min(row, e.sub(rows, e.i64(1))));
      sums.push_back(op.getAcc()
                         ? loadElement(tiles.at(op.getAcc()), places[i], col)
                         : e.constant(f32, 0.0));
    }
    sums = e.forEach(e.i64(0), e.i64(depth), 1, sums,
                     [&](Value k, ValueRange values) {
                       Value right = load(b, op.getTransposeB(), k, col);
                       SmallVector<Value> next;
                       for (int64_t i = 0; i < height; ++i)
                         next.push_back(math::FmaOp::create(
                             e, load(a, op.getTransposeA(), places[i], k),
                             right, values[i]));
                       return next;
                     });
    for (int64_t i = 0; i < height; ++i)
      e.ifThen(e.lt(numbers[i], rows),
               [&] { e.store(sums[i], elementAt(to, numbers[i], col)); });
  });
  barrier();
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

void BlockLowering::mapElement(tile::MapOp op, Value row, Value col) {
  TileShape shape = getTileShape(op.getType(0));
  Block &body = op.getBody().front();
  IRMapping values(mapping);
  unsigned number = 0;
  for (Value operand : op.getOperands_()) {
    const TilePlace &place = tiles.at(operand);
    bool broadcast = place.shape.rank == 1 && shape.rank == 2;
    Value r = broadcast ? e.i64(0) : row;
    Value c = broadcast && place.shape.along == 0 ? row : col;
    values.map(body.getArgument(number++), loadElement(place, r, c));
  }
  Value zero = e.i64(0);
  bool alongRows = shape.along == 0;
  values.map(body.getArgument(number),
             e.toIndex(shape.rank == 2 ? row : (alongRows ? col : zero)));
  values.map(body.getArgument(number + 1), e.toIndex(alongRows ? zero : col));
  for (Operation &inner : body.without_terminator())
    e.clone(inner, values);
  // Every operand is read before a result takes its place.
  for (auto [result, yielded] :
       llvm::zip(op.getResults(), body.getTerminator()->getOperands()))
    e.store(values.lookup(yielded), elementAt(tiles.at(result), row, col));
}

void BlockLowering::lowerMap(tile::MapOp op) {
  if (op.getNumResults() == 0)
    return;
  for (Value result : op.getResults())
    placeResult(result);
  TileShape shape = getTileShape(op.getType(0));
  Value rows = countRows(op.getResult(0), op);
  for (Value result : op.getResults().drop_front())
    rows = e.max(rows, countRows(result, op));
  auto compute = [&] {
    forElements(rows, shape.cols,
                [&](Value row, Value col) { mapElement(op, row, col); });
  };
  if (!op.getWhen())
    compute();
  else
    e.ifElse(lookup(op.getWhen()), compute,
             [&] { moveTile(op.getOperands_()[0], op.getResult(0), rows); });
  barrier();
}

//===----------------------------------------------------------------------===//
// Along a dimension
//===----------------------------------------------------------------------===//

/// The upper half is folded onto the lower one, level by level, in the
/// temporary of the op; partners beyond the extent are neutral.
void BlockLowering::lowerReduce(tile::ReduceOp op) {
  TilePlace from = tiles.at(op.getTile());
  TilePlace to = placeResult(op.getResult());
  std::optional<TilePlace> index;
  if (op.getIndex())
    index = placeResult(op.getIndex());
  bool alongCols = op.getDim() == 1;
  const TileShape &shape = from.shape;
  int64_t extent = alongCols ? shape.cols : shape.rows;
  int64_t lines = alongCols ? shape.rows : shape.cols;
  Value count = alongCols ? countRows(op.getTile(), op) : e.i64(lines);
  auto source = [&](Value line, Value i) -> Partial {
    Partial partial = {alongCols ? loadElement(from, line, i)
                                 : loadElement(from, i, line),
                       {}};
    if (index)
      partial.position = arith::TruncIOp::create(e, e.getI32Type(), i);
    return partial;
  };
  auto finish = [&](Value line, Partial partial) {
    e.store(partial.value, elementAt(to, e.i64(0), line));
    if (index)
      e.store(partial.position, elementAt(*index, e.i64(0), line));
  };
  if (extent == 1) {
    forElements(count, 1, [&](Value line, Value) {
      finish(line, source(line, e.i64(0)));
    });
    return barrier();
  }
  int64_t half = llvm::PowerOf2Ceil(extent) / 2;
  Value values = getScratch(plan.getTemporaryOffset(op));
  Value positions = e.at(
      values, llvm::alignTo(lines * half * getElementBytes(shape.element), 4),
      e.getI8Type());
  Value lineStride = e.i64(half);
  auto place = [&](Value base, Type type, Value line, Value i) {
    return e.at(base, e.add(e.mul(line, lineStride), i), type);
  };
  auto load = [&](Value line, Value i) -> Partial {
    Partial partial = {
        e.load(shape.element, place(values, shape.element, line, i)), {}};
    if (index)
      partial.position =
          e.load(e.getI32Type(), place(positions, e.getI32Type(), line, i));
    return partial;
  };
  auto store = [&](Value line, Value i, Partial partial) {
    e.store(partial.value, place(values, shape.element, line, i));
    if (index)
      e.store(partial.position, place(positions, e.getI32Type(), line, i));
  };
  forElements(count, half, [&](Value line, Value i) {
    Value other = e.add(i, e.i64(half));
    Partial low = source(line, i);
    Partial high = source(line, e.min(other, e.i64(extent - 1)));
    Partial both = combine(e, op, low, high);
    Value paired = e.lt(other, e.i64(extent));
    store(line, i,
          {e.select(paired, both.value, low.value),
           index ? e.select(paired, both.position, low.position) : Value()});
  });
  barrier();
  for (int64_t width = half / 2; width >= 1; width /= 2) {
    forElements(count, width, [&](Value line, Value i) {
      store(line, i,
            combine(e, op, load(line, i), load(line, e.add(i, e.i64(width)))));
    });
    barrier();
  }
  forElements(count, 1,
              [&](Value line, Value) { finish(line, load(line, e.i64(0))); });
  barrier();
}

/// A thread runs along a whole line.
void BlockLowering::lowerScan(tile::ScanOp op) {
  TilePlace from = tiles.at(op.getTile());
  TilePlace to = placeResult(op.getResult());
  Type element = from.shape.element;
  bool alongRows = from.shape.rank == 2 && op.getDim() == 0;
  Value rows = countRows(op.getResult(), op), cols = e.i64(from.shape.cols);
  Value lines = alongRows ? cols : rows, extent = alongRows ? rows : cols;
  e.forEach(thread, lines, limits.threads, [&](Value line) {
    e.forEach(e.i64(0), extent, 1, e.constant(element, 0.0),
              [&](Value i, ValueRange before) {
                Value row = alongRows ? i : line, col = alongRows ? line : i;
                Value value = loadElement(from, row, col), after;
                if (isa<FloatType>(element))
                  after = arith::AddFOp::create(e, before[0], value);
                else
                  after = arith::AddIOp::create(e, before[0], value);
                e.store(op.getExclusive() ? before[0] : after,
                        elementAt(to, row, col));
                return SmallVector<Value>{after};
              });
  });
  barrier();
}
