//===- BlockMemory.cpp - Loads and stores by a block of threads -----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds are checked for every element: no address outside a view is formed
// into an access.
//
//===----------------------------------------------------------------------===//

#include "BlockLowering.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::simt;

/// Rows (elements of a tile of rank 1) that an op names, or all of them.
Value BlockLowering::boundRows(Value rows, const TileShape &shape) {
  Value all = e.i64(shape.rank == 1 ? shape.cols : shape.rows);
  return rows ? e.min(e.toI64(lookup(rows)), all) : all;
}

void BlockLowering::copyIn(const TilePlace &to, Value row, Value col,
                           const View &view, Value valid,
                           llvm::function_ref<Value()> from, double fill) {
  Type element = getCopyType(view.element, to.shape.element);
  Value place = elementAt(to, row, col);
  e.ifElse(
      valid,
      [&] {
        Value value = e.load(element, from());
        e.store(e.convert(value, to.shape.element), place);
      },
      [&] { e.store(e.bitsOf(to.shape.element, fill), place); });
}

void BlockLowering::copyOut(const TilePlace &from, Value row, Value col,
                            const View &view, Value to) {
  Type element = getCopyType(from.shape.element, view.element);
  Value value = e.load(element, elementAt(from, row, col));
  e.store(e.convert(value, view.element), to);
}

void BlockLowering::lowerLoad(tile::LoadOp op) {
  Window window = getWindow(op.getView(), op.getIndices(), op.getDims());
  TilePlace to = placeResult(op.getResult());
  Value given = boundRows(op.getRows(), to.shape);
  Value needed = countRows(op.getResult(), op);
  double fill = op.getFill().convertToDouble();
  forElements(needed, to.shape.cols, [&](Value row, Value col) {
    Value below = e.lt(to.shape.rank == 1 ? col : row, given);
    copyIn(
        to, row, col, *window.view, e.both(below, isInside(window, row, col)),
        [&] { return addressIn(window, row, col); }, fill);
  });
  barrier();
}

/// body(id) if position `start` + row lies within the table.
void BlockLowering::withId(Value table, Value start, Value row,
                           llvm::function_ref<void(Value)> body,
                           llvm::function_ref<void()> otherwise) {
  const View &ids = views.at(table);
  Value index = e.add(e.toI64(lookup(start)), row);
  e.ifElse(
      isInside(ids, 0, index),
      [&] {
        Value id = e.load(ids.element, addressOf(ids, {index}));
        body(arith::ExtSIOp::create(e, e.getI64Type(), id));
      },
      otherwise);
}

void BlockLowering::lowerGather(tile::GatherOp op) {
  Window window = getWindow(op.getView(), op.getIndices(), op.getDims());
  TilePlace to = placeResult(op.getResult());
  bool isVector = to.shape.rank == 1;
  Value given = boundRows(op.getRows(), to.shape);
  Value needed = countRows(op.getResult(), op);
  double fill = op.getFill().convertToDouble();
  const View &view = *window.view;
  forElements(needed, to.shape.cols, [&](Value row, Value col) {
    auto put = [&](Value valid, llvm::function_ref<Value()> from) {
      copyIn(to, row, col, view, valid, from, fill);
    };
    Value number = isVector ? col : row;
    auto missing = [&] { put(e.truth(false), [] { return Value(); }); };
    e.ifElse(
        e.lt(number, given),
        [&] {
          withId(
              op.getIds(), op.getStart(), number,
              [&](Value id) {
                Value r = isVector ? e.i64(0) : id, c = isVector ? id : col;
                put(isInside(window, r, c),
                    [&] { return addressIn(window, r, c); });
              },
              missing);
        },
        missing);
  });
  barrier();
}

void BlockLowering::lowerScatter(tile::StoreOp op, const Window &window) {
  TilePlace from = tiles.at(op.getTile());
  bool isVector = from.shape.rank == 1;
  Value given = e.max(boundRows(op.getRows(), from.shape), e.i64(0));
  const View &view = *window.view;
  Value rows = isVector ? e.i64(1) : given;
  forElements(rows, from.shape.cols, [&](Value row, Value col) {
    Value number = isVector ? col : row;
    e.ifThen(e.lt(number, given), [&] {
      withId(
          op.getIds(), op.getStart(), number,
          [&](Value id) {
            Value r = isVector ? e.i64(0) : id, c = isVector ? id : col;
            e.ifThen(isInside(window, r, c), [&] {
              copyOut(from, row, col, view, addressIn(window, r, c));
            });
          },
          [] {});
    });
  });
  barrier();
}

void BlockLowering::lowerStore(tile::StoreOp op) {
  Window window = getWindow(op.getView(), op.getIndices(), op.getDims());
  if (op.getIds())
    return lowerScatter(op, window);
  TilePlace from = tiles.at(op.getTile());
  Value given = e.max(boundRows(op.getRows(), from.shape), e.i64(0));
  Value rows = from.shape.rank == 1 ? e.i64(1) : given;
  forElements(rows, from.shape.cols, [&](Value row, Value col) {
    Value below = e.lt(from.shape.rank == 1 ? col : row, given);
    e.ifThen(e.both(below, isInside(window, row, col)), [&] {
      copyOut(from, row, col, *window.view, addressIn(window, row, col));
    });
  });
  barrier();
}
