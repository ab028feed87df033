//===- FragmentLayout.cpp - Which way fragments and tiles lie -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FragmentLayout.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::hopper;

/// Threads of a warp group. Four of them share a row of the layout; eight, in
/// each of the four warps, share a column.
static constexpr int64_t groupThreads = 128, rowSharers = 4, colSharers = 32;

static bool isFragment(Value value) {
  return isa<tile::FragType>(value.getType());
}

MatrixAttr mmx::hopper::getMatrix(MLIRContext *context, int64_t rows,
                                  int64_t cols, Type element) {
  int64_t bytes = cols * element.getIntOrFloatBitWidth() / 8;
  for (int64_t swizzle : {128, 64, 32})
    if (bytes % swizzle == 0)
      return MatrixAttr::get(context, rows, cols, element, swizzle);
  return {};
}

void FragmentLayout::unite(Value a, Value b) {
  if (isFragment(a) && isFragment(b))
    classes.unionSets(a, b);
}

void FragmentLayout::visit(Operation *op) {
  auto wish = [&](Value fragment, bool transposed) {
    classes.insert(fragment);
    wishes.push_back({fragment, transposed, op});
  };
  if (auto mma = dyn_cast<tile::MmaOp>(op)) {
    bool right = isa<tile::FragType>(mma.getB().getType());
    if (right)
      wish(mma.getB(), !mma.getTransposeB());
    else if (isa<tile::FragType>(mma.getA().getType()))
      wish(mma.getA(), mma.getTransposeA());
    wish(mma.getResult(), right);
    if (mma.getAcc())
      unite(mma.getAcc(), mma.getResult());
  } else if (auto map = dyn_cast<tile::MapOp>(op)) {
    for (Value operand : map.getOperands_())
      unite(operand, map.getResult(0));
    for (Value result : map.getResults())
      unite(result, map.getResult(0));
  } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    for (Value result : reduce->getResults())
      unite(result, reduce.getTile());
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [arg, init, yielded, result] :
         llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(),
                   loop.getYieldedValues(), loop.getResults())) {
      unite(arg, init);
      unite(arg, yielded);
      unite(arg, result);
    }
  }
}

FailureOr<FragmentLayout>
FragmentLayout::assign(const tile::ScheduleInfo &info) {
  FragmentLayout layout;
  info.getKernel()->walk([&](Operation *op) { layout.visit(op); });
  for (auto [fragment, transposed, op] : layout.wishes)
    if (failed(layout.fix(fragment, transposed, op)))
      return failure();
  return layout;
}

LogicalResult FragmentLayout::fix(Value fragment, bool transposed,
                                  Operation *op) {
  Value leader = classes.getLeaderValue(fragment);
  auto [it, isNew] = fixed.try_emplace(leader, transposed);
  if (isNew || it->second == transposed)
    return success();
  return op->emitOpError("expected its fragments to lie one way, but another "
                         "product needs them transposed; put one into SRAM");
}

bool FragmentLayout::isTransposed(Value value) const {
  if (Operation *op = value.getDefiningOp())
    if (auto put = dyn_cast<tile::PutOp>(op))
      return isTransposed(put.getTile());
  if (!isFragment(value) || !classes.contains(value))
    return false;
  return fixed.lookup(classes.getLeaderValue(value));
}

MatrixAttr FragmentLayout::getMatrix(Value sram) const {
  auto type = cast<tile::SramType>(sram.getType());
  if (type.getShape().size() != 2)
    return {};
  int64_t rows = type.getShape()[0], cols = type.getShape()[1];
  if (isTransposed(sram))
    std::swap(rows, cols);
  return hopper::getMatrix(sram.getContext(), rows, cols,
                           type.getElementType());
}

std::pair<int64_t, int64_t> FragmentLayout::getShape(Value fragment) const {
  ArrayRef<int64_t> shape = cast<tile::FragType>(fragment.getType()).getShape();
  if (isTransposed(fragment))
    return {shape[1], shape[0]};
  return {shape[0], shape[1]};
}

bool FragmentLayout::runsAlongRows(Value vector) const {
  bool rows = cast<tile::FragType>(vector.getType()).getAlong() == 0;
  return rows != isTransposed(vector);
}

int64_t FragmentLayout::getElements(Value fragment) const {
  ArrayRef<int64_t> shape = cast<tile::FragType>(fragment.getType()).getShape();
  if (shape.size() == 2)
    return shape[0] * shape[1] / groupThreads;
  int64_t sharers = runsAlongRows(fragment) ? rowSharers : colSharers;
  return shape[0] * sharers / groupThreads;
}

bool FragmentLayout::isAcrossWarps(tile::ReduceOp op) const {
  return (op.getDim() == 0) != isTransposed(op.getTile());
}
