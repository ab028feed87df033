//===- LowerMemory.cpp - Loads and stores of tiles ------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of a view that the kernel only reads is not copied if all of it that
// is needed lies within the view: which of the two pointers its users get is
// decided when the kernel runs, so that there is one copy of their code.
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::cpu;

/// All columns of a window lie within the view, one after another.
Value KernelLowering::isFullRow(const Window &window, int64_t cols) {
  const View &view = *window.view;
  int64_t dim = window.colDim;
  if (getConstant(view.strides[dim]) != 1 || (view.panel && view.along == dim))
    return e.truth(false);
  Value start = window.start[dim];
  return e.both(e.le(e.i64(0), start),
                e.le(e.add(start, e.i64(cols)), view.extents[dim]));
}

//===----------------------------------------------------------------------===//
// Rows in and out
//===----------------------------------------------------------------------===//

void KernelLowering::fillRow(const TilePlace &to, Value row, double fill) {
  Type element = to.shape.element;
  Value value = e.constant(e.vectorOf(element), fill);
  e.forEach(e.i64(0), e.i64(to.shape.cols), e.width,
            [&](Value col) { e.store(value, elementAt(to, row, col)); });
}

/// Copies row `viewRow` of the window, counted from its start, to row `row` of
/// a tile. Elements outside the view, and all unless `valid`, become `fill`.
void KernelLowering::copyIn(const Window &window, const TilePlace &to,
                            Value row, Value viewRow, Value valid,
                            double fill) {
  const View &view = *window.view;
  int64_t cols = to.shape.cols;
  Type element = getCopyType(view.element, to.shape.element);
  auto vectors = [&] {
    e.forEach(
        e.i64(0), e.i64(cols / e.width * e.width), e.width, [&](Value col) {
          Value value = e.loadVector(element, addressIn(window, viewRow, col));
          e.store(e.convert(value, to.shape.element), elementAt(to, row, col));
        });
  };
  auto elements = [&](Value from) {
    e.forEach(from, e.i64(cols), 1, [&](Value col) {
      Value place = elementAt(to, row, col);
      Value index = e.add(window.start[window.colDim], col);
      e.ifElse(
          isInside(view, window.colDim, index),
          [&] {
            Value value = e.load(element, addressIn(window, viewRow, col));
            e.store(e.convert(value, to.shape.element), place);
          },
          [&] { e.store(e.bitsOf(to.shape.element, fill), place); });
    });
  };
  e.ifElse(
      valid,
      [&] {
        Value full = isFullRow(window, cols);
        // What the vectors leave, or everything.
        e.ifThen(full, vectors);
        Value rest = e.i64(cols / e.width * e.width);
        if (cols % e.width != 0 || getConstant(full) != 1)
          elements(e.select(full, rest, e.i64(0)));
      },
      [&] { fillRow(to, row, fill); });
}

void KernelLowering::copyOut(const Window &window, const TilePlace &from,
                             Value row, Value viewRow) {
  const View &view = *window.view;
  int64_t cols = from.shape.cols;
  Type element = getCopyType(from.shape.element, view.element);
  Value rest = e.i64(cols / e.width * e.width);
  Value full = isFullRow(window, cols);
  e.ifThen(full, [&] {
    e.forEach(e.i64(0), rest, e.width, [&](Value col) {
      Value value = e.loadVector(element, elementAt(from, row, col));
      e.store(e.convert(value, view.element), addressIn(window, viewRow, col));
    });
  });
  if (cols % e.width == 0 && getConstant(full) == 1)
    return;
  e.forEach(e.select(full, rest, e.i64(0)), e.i64(cols), 1, [&](Value col) {
    Value index = e.add(window.start[window.colDim], col);
    e.ifThen(isInside(view, window.colDim, index), [&] {
      Value value = e.load(element, elementAt(from, row, col));
      e.store(e.convert(value, view.element), addressIn(window, viewRow, col));
    });
  });
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Rows of a load from `rows` on are filled.
LogicalResult KernelLowering::lowerLoad(tile::LoadOp op) {
  Window window = getWindow(op.getView(), op.getIndices(), op.getDims());
  Value result = op.getResult();
  TilePlace place;
  place.shape = getTileShape(result.getType());
  Value given;
  if (op.getRows())
    given = e.max(e.toI64(lookup(op.getRows())), e.i64(0));
  int64_t rowDim = op.getDims()[0];
  if (place.shape.rank == 1) {
    // The bound on rows counts elements: narrow the view for this load.
    auto narrow = std::make_unique<View>(*window.view);
    if (given)
      narrow->extents[rowDim] =
          e.min(narrow->extents[rowDim], e.add(window.start[rowDim], given));
    window.view = narrow.get();
    if (plan.needsRows(result))
      loadRows(op, window, place, e.i64(1), e.i64(1));
    tiles[result] = place;
    return success();
  }
  Value needed = countRows(result, op);
  Value valid =
      countInside(*window.view, rowDim, window.start[rowDim], place.shape.rows);
  if (given)
    valid = e.min(valid, given);
  valid = e.select(window.inside, valid, e.i64(0));
  if (plan.needsRows(result))
    loadRows(op, window, place, needed, valid);
  if (plan.needsPanels(result) && loadsPanels(op))
    place.panels = loadPanelForm(op, window, valid);
  tiles[result] = place;
  completeForms(result);
  return success();
}

void KernelLowering::loadRows(tile::LoadOp op, const Window &window,
                              TilePlace &place, Value needed, Value valid) {
  const View &view = *window.view;
  place.rows = getRowPlace(op.getResult());
  TilePlace to = place;
  double fill = op.getFill().convertToDouble();
  auto copy = [&] {
    e.forEach(e.i64(0), needed, 1, [&](Value row) {
      Value inside = e.lt(row, valid);
      if (window.rowDim < 0)
        inside = window.inside;
      else
        inside =
            e.both(inside, isInside(view, window.rowDim,
                                    e.add(window.start[window.rowDim], row)));
      copyIn(window, to, row, row, inside, fill);
    });
  };
  Value full = e.both(isFullRow(window, to.shape.cols), window.inside);
  if (window.rowDim >= 0)
    full = e.both(full, e.both(e.le(needed, valid),
                               e.le(e.i64(0), window.start[window.rowDim])));
  bool inPanels = view.panel && view.along == window.rowDim;
  if (!view.constant || view.element != to.shape.element || inPanels ||
      to.shape.cols % e.width != 0 || getConstant(full) == 0) {
    copy();
    return;
  }
  e.ifElse(full, [] {}, copy);
  Value zero = e.i64(0);
  Value direct = addressIn(window, zero, zero);
  Value stride = window.rowDim < 0 ? zero : view.strides[window.rowDim];
  place.rows = {e.select(full, direct, to.rows->pointer),
                e.select(full, stride, to.rows->stride)};
  place.mayBeView = true;
}

//===----------------------------------------------------------------------===//
// Loads of panels
//===----------------------------------------------------------------------===//

/// Rows of the view start a panel, and so do those of the tile.
PanelForm KernelLowering::loadPanelForm(tile::LoadOp op, const Window &window,
                                        Value valid) {
  const View &view = *window.view;
  TileShape shape = getTileShape(op.getType());
  PanelForm to = getPanelPlace(op.getResult());
  Value rowStart = window.start[window.rowDim];
  Value colStart = window.start[window.colDim];
  Value zero = e.i64(0);
  Value aligned = e.both(window.inside,
                         e.both(e.le(zero, rowStart),
                                e.compare(arith::CmpIPredicate::eq,
                                          e.rem(rowStart, view.panel), zero)));
  Value whole = e.both(aligned, e.both(e.le(zero, colStart),
                                       e.le(e.add(colStart, e.i64(shape.cols)),
                                            view.extents[window.colDim])));
  bool converts = view.element != shape.element;
  auto copy = [&] {
    if (converts)
      return copyPanelElements(op, window, to, valid);
    e.ifElse(
        whole, [&] { copyPanels(op, window, to, valid); },
        [&] { copyPanelElements(op, window, to, valid); });
  };
  if (!view.constant || converts) {
    copy();
    return to;
  }
  Value full = e.both(whole, e.le(e.i64(shape.rows), valid));
  e.ifElse(full, [] {}, copy);
  return {e.select(full, addressIn(window, zero, zero), to.pointer),
          e.select(full, view.strides[window.rowDim], to.panelStride),
          e.select(full, view.strides[window.colDim], to.stride)};
}

/// Copies panels whole, rows from `valid` on filled. Rows of the last panel
/// beyond the view are there to be read.
void KernelLowering::copyPanels(tile::LoadOp op, const Window &window,
                                const PanelForm &to, Value valid) {
  const View &view = *window.view;
  TileShape shape = getTileShape(op.getType());
  Value lanes = e.iota();
  Type element = getCopyType(view.element, shape.element);
  Value fill = e.splat(e.bitsOf(shape.element, op.getFill().convertToDouble()));
  e.forEach(e.i64(0), e.i64(shape.rows), e.width, [&](Value row) {
    Value left = e.splat(e.toIndex(e.sub(valid, row)));
    Value keep = e.compare(arith::CmpIPredicate::slt, lanes, left);
    Value group = e.add(e.mul(e.div(row, panelRows), to.panelStride),
                        e.rem(row, panelRows));
    Value any = e.lt(row, valid);
    e.forEach(e.i64(0), e.i64(shape.cols), 1, [&](Value col) {
      Value place =
          e.at(to.pointer, e.add(group, e.mul(col, to.stride)), shape.element);
      e.ifElse(
          any,
          [&] {
            Value value = e.loadVector(element, addressIn(window, row, col));
            e.store(e.select(keep, value, fill), place);
          },
          [&] { e.store(fill, place); });
    });
  });
}

void KernelLowering::copyPanelElements(tile::LoadOp op, const Window &window,
                                       const PanelForm &to, Value valid) {
  const View &view = *window.view;
  TileShape shape = getTileShape(op.getType());
  Type element = getCopyType(view.element, shape.element);
  Value fill = e.bitsOf(shape.element, op.getFill().convertToDouble());
  e.forEach(e.i64(0), e.i64(shape.rows), 1, [&](Value row) {
    Value group = e.add(e.mul(e.div(row, panelRows), to.panelStride),
                        e.rem(row, panelRows));
    Value rowInside =
        e.both(e.lt(row, valid),
               e.le(e.i64(0), e.add(window.start[window.rowDim], row)));
    e.forEach(e.i64(0), e.i64(shape.cols), 1, [&](Value col) {
      Value place =
          e.at(to.pointer, e.add(group, e.mul(col, to.stride)), shape.element);
      Value index = e.add(window.start[window.colDim], col);
      e.ifElse(
          e.both(rowInside, isInside(view, window.colDim, index)),
          [&] {
            Value value = e.load(element, addressIn(window, row, col));
            e.store(e.convert(value, shape.element), place);
          },
          [&] { e.store(fill, place); });
    });
  });
}

//===----------------------------------------------------------------------===//
// Gather and store
//===----------------------------------------------------------------------===//

/// Calls `body` with row i of the tile and its id, for the rows below `rows`
/// whose ids lie within their table; returns the number of rows.
Value KernelLowering::forEachId(Value table, Value first, Value rows,
                                int64_t limit,
                                llvm::function_ref<void(Value, Value)> body) {
  const View &ids = views.at(table);
  Value start = e.toI64(lookup(first));
  rows = e.max(e.min(rows, countInside(ids, 0, start, limit)), e.i64(0));
  e.forEach(e.i64(0), rows, 1, [&](Value row) {
    Value id = e.load(ids.element, addressOf(ids, {e.add(start, row)}));
    body(row, arith::ExtSIOp::create(e, e.getI64Type(), id));
  });
  return rows;
}

LogicalResult KernelLowering::lowerGather(tile::GatherOp op) {
  Window window = getWindow(op.getView(), op.getIndices(), op.getDims());
  placeResult(op.getResult()).rows = getRowPlace(op.getResult());
  TilePlace to = tiles.at(op.getResult());
  double fill = op.getFill().convertToDouble();
  bool isVector = to.shape.rank == 1;
  int64_t limit = isVector ? to.shape.cols : to.shape.rows;
  Value needed = isVector ? e.i64(limit) : countRows(op.getResult(), op);
  Value rows = e.min(e.toI64(lookup(op.getRows())), needed);
  int64_t dim = op.getDims()[0];
  const View &view = *window.view;
  if (isVector)
    fillRow(to, e.i64(0), fill);
  rows = forEachId(
      op.getIds(), op.getStart(), rows, limit, [&](Value row, Value id) {
        Value index = e.add(window.start[dim], id);
        Value valid = e.both(window.inside, isInside(view, dim, index));
        if (!isVector)
          return copyIn(window, to, row, id, valid, fill);
        e.ifThen(valid, [&] {
          Type element = getCopyType(view.element, to.shape.element);
          Value value = e.load(element, addressIn(window, e.i64(0), id));
          e.store(value, elementAt(to, e.i64(0), row));
        });
      });
  if (!isVector)
    e.forEach(rows, needed, 1, [&](Value row) { fillRow(to, row, fill); });
  completeForms(op.getResult());
  return success();
}

void KernelLowering::lowerScatter(tile::StoreOp op, const Window &window,
                                  Value rows) {
  TilePlace from = tiles.at(op.getTile());
  bool isVector = from.shape.rank == 1;
  int64_t limit = isVector ? from.shape.cols : from.shape.rows;
  int64_t dim = op.getDims()[0];
  const View &view = *window.view;
  rows = e.select(window.inside, rows, e.i64(0));
  forEachId(op.getIds(), op.getStart(), rows, limit, [&](Value row, Value id) {
    Value index = e.add(window.start[dim], id);
    e.ifThen(isInside(view, dim, index), [&] {
      if (!isVector)
        return copyOut(window, from, row, id);
      Type element = getCopyType(from.shape.element, view.element);
      Value value = e.load(element, elementAt(from, e.i64(0), row));
      e.store(e.convert(value, view.element), addressIn(window, e.i64(0), id));
    });
  });
}

LogicalResult KernelLowering::lowerStore(tile::StoreOp op) {
  Window window = getWindow(op.getView(), op.getIndices(), op.getDims());
  const View &view = *window.view;
  const TilePlace &from = tiles.at(op.getTile());
  bool isVector = from.shape.rank == 1;
  Value rows = e.i64(isVector ? from.shape.cols : from.shape.rows);
  if (op.getRows())
    rows = e.max(e.min(rows, e.toI64(lookup(op.getRows()))), e.i64(0));
  if (op.getIds()) {
    lowerScatter(op, window, rows);
    return success();
  }
  if (isVector) {
    View narrow = view;
    int64_t dim = window.colDim;
    narrow.extents[dim] =
        e.min(view.extents[dim], e.add(window.start[dim], rows));
    window.view = &narrow;
    e.ifThen(window.inside, [&] { copyOut(window, from, e.i64(0), e.i64(0)); });
    return success();
  }
  rows = e.select(window.inside, rows, e.i64(0));
  Value rowStart = window.start[window.rowDim];
  rows =
      e.min(rows, countInside(view, window.rowDim, rowStart, from.shape.rows));
  Value first = e.min(e.max(e.sub(e.i64(0), rowStart), e.i64(0)), rows);
  e.forEach(first, rows, 1,
            [&](Value row) { copyOut(window, from, row, row); });
  return success();
}
