//===- RoleFragments.cpp - Fragments and global memory --------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleWriter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::hopper;

/// `value` is a multiple of `n` whatever the parameters are.
static bool isMultipleOf(Value value, int64_t n) {
  if (std::optional<int64_t> known = getConstant(value))
    return *known % n == 0;
  Operation *op = value.getDefiningOp();
  if (auto product = dyn_cast_if_present<arith::MulIOp>(op))
    return isMultipleOf(product.getLhs(), n) ||
           isMultipleOf(product.getRhs(), n);
  if (isa_and_present<arith::AddIOp, arith::SubIOp>(op))
    return isMultipleOf(op->getOperand(0), n) &&
           isMultipleOf(op->getOperand(1), n);
  return false;
}

/// Elements that one access moves: the two adjacent columns that a thread has
/// where the view is known to keep them together, both inside or both outside.
int64_t RoleWriter::getRun(Value fragment, Value view, ValueRange indices,
                           ArrayRef<int64_t> dims) {
  bool vector = isVector(fragment);
  if (vector ? layout.runsAlongRows(fragment) : layout.isTransposed(fragment))
    return 1;
  auto type = cast<tile::ViewType>(view.getType());
  int64_t last = type.getRank() - 1, extent = type.getShape()[last];
  bool together = dims.back() == last && type.getPanel() == 0 &&
                  !type.isDynamicDim(last) && extent % 2 == 0 &&
                  isMultipleOf(indices[last], 2);
  return together ? 2 : 1;
}

/// body(i, inside, address) for every run of elements.
void RoleWriter::forRuns(Value fragment, const Window &window, int64_t run,
                         Value rows, RunBody body) {
  bool vector = isVector(fragment);
  bool along = cast<tile::FragType>(fragment.getType()).getAlong() == 0;
  auto widen = [&](Value value) -> Value {
    return arith::ExtUIOp::create(e, e.getI64Type(), value);
  };
  forElements(fragment, [&](int64_t i, Value row32, Value col32) {
    if (i % run != 0)
      return;
    // A vector has columns only, but its rows are what is bounded.
    Value row = widen(vector && !along ? col32 : row32);
    Value col = vector ? row : widen(col32);
    Value inside = isInside(window, row, col);
    if (rows)
      inside = e.both(inside, e.lt(row, rows));
    body(i, inside, addressIn(window, row, col));
  });
}

/// Elements outside read others of the view and are replaced. Where the whole
/// window is outside, that moves one address, not those of all elements.
Value RoleWriter::writeLoadFragment(tile::LoadOp op) {
  Window window = getWindow(op.getView(), op.getIndices(), op.getDims());
  const View &view = *window.view;
  Value any = std::exchange(window.inside, e.truth(true));
  for (auto [dim, start] : llvm::enumerate(window.start))
    if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
      start = e.select(any, start, e.i64(0));
  int64_t run =
      getRun(op.getResult(), op.getView(), op.getIndices(), op.getDims());
  VectorType type = getVectorType(op.getResult());
  Type from = view.element, to = type.getElementType();
  if (run > 1) {
    from = VectorType::get({run}, from);
    to = VectorType::get({run}, to);
  }
  Value fill = e.constant(to, op.getFill().convertToDouble());
  Value rows;
  if (op.getRows())
    rows = e.toI64(lookup(op.getRows()));
  SmallVector<Value> elements;
  auto load = [&](int64_t, Value inside, Value place) {
    place = e.select(inside, place, view.base);
    Value value = run > 1
                      ? LLVM::LoadOp::create(e, from, place,
                                             /*alignment=*/run *
                                                 getElementBytes(view.element))
                            .getResult()
                      : e.load(from, place);
    value = e.select(e.both(any, inside),
                     e.convert(value, type.getElementType()), fill);
    if (run == 1)
      elements.push_back(value);
    else
      for (int64_t k = 0; k < run; ++k)
        elements.push_back(element(value, k));
  };
  forRuns(op.getResult(), window, run, rows, load);
  return vector::FromElementsOp::create(e, type, elements);
}

/// One of the threads that share a value of a vector stores it.
void RoleWriter::writeStoreFragment(tile::StoreOp op, Value value) {
  Window window = getWindow(op.getView(), op.getIndices(), op.getDims());
  const View &view = *window.view;
  int64_t run =
      getRun(op.getTile(), op.getView(), op.getIndices(), op.getDims());
  Value rows, mine;
  if (op.getRows())
    rows = e.toI64(lookup(op.getRows()));
  if (isVector(op.getTile())) {
    int64_t sharers = layout.runsAlongRows(op.getTile()) ? 3 : 127 - 3;
    Value place = arith::AndIOp::create(e, roleThread, number32(sharers));
    mine =
        arith::CmpIOp::create(e, arith::CmpIPredicate::eq, place, number32(0));
  }
  auto store = [&](int64_t i, Value inside, Value place) {
    if (mine)
      inside = e.both(mine, inside);
    e.ifThen(inside, [&] {
      if (run == 1) {
        e.store(e.convert(element(value, i), view.element), place);
        return;
      }
      Value two = vector::FromElementsOp::create(
          e,
          VectorType::get({run}, getVectorType(op.getTile()).getElementType()),
          ValueRange{element(value, i), element(value, i + 1)});
      LLVM::StoreOp::create(e, e.convert(two, view.element), place,
                            /*alignment=*/run * getElementBytes(view.element));
    });
  };
  forRuns(op.getTile(), window, run, rows, store);
}
