//===- RoleReduce.cpp - Fragments combined along a dimension --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Columns of the layout stand in four lanes of one warp and are folded in the
// order of tile.reduce: elements of a thread, lanes, the two columns of a pair.
// Rows stand in all four warps, bits 4 and 5 of their numbers in the warp.
// Keeping the order would send every element through shared memory, so that
// each warp first folds what it has: another order, the same in every run.
//
//===----------------------------------------------------------------------===//

#include "../TileLowering/Partial.h"
#include "RoleWriter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::hopper;

/// The upper half onto the lower one until one is left, of as many as a power
/// of two; those that lack are neutral.
Value RoleWriter::fold(tile::ReduceOp op, SmallVector<Value> values) {
  for (size_t half = llvm::PowerOf2Ceil(values.size()) / 2; half >= 1;
       half /= 2) {
    for (size_t i = 0; i + half < values.size(); ++i)
      values[i] = combine(e, op, {values[i], {}}, {values[i + half], {}}).value;
    values.resize(std::min(values.size(), half));
  }
  return values.front();
}

/// Over lanes whose numbers differ in the bits from `from` down to `to`.
Value RoleWriter::foldLanes(tile::ReduceOp op, Value value, int64_t from,
                            int64_t to) {
  for (int64_t bit = from; bit >= to; bit /= 2) {
    Value other = NVVM::ShflOp::create(e, value.getType(), number32(-1), value,
                                       number32(bit), number32(31),
                                       NVVM::ShflKind::bfly, UnitAttr());
    value = combine(e, op, {value, {}}, {other, {}}).value;
  }
  return value;
}

/// A value for each of the thread's rows.
SmallVector<Value> RoleWriter::reduceCols(tile::ReduceOp op, Value fragment) {
  auto [rows, cols] = layout.getShape(op.getTile());
  SmallVector<Value> results;
  for (int64_t row = 0; row < rows / 32; ++row) {
    SmallVector<Value> pair;
    for (int64_t parity = 0; parity < 2; ++parity) {
      SmallVector<Value> values;
      for (int64_t step = 0; step < cols / 8; ++step)
        values.push_back(
            element(fragment, getElementAt(row, 2 * step + parity, cols)));
      pair.push_back(foldLanes(op, fold(op, values), 2, 1));
    }
    results.push_back(fold(op, pair));
  }
  return results;
}

/// A value for each of the thread's columns.
SmallVector<Value> RoleWriter::reduceRows(tile::ReduceOp op, Value fragment) {
  auto [rows, cols] = layout.getShape(op.getTile());
  SmallVector<Value> results;
  for (int64_t col = 0; col < cols / 4; ++col) {
    SmallVector<Value> values;
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t block = 0; block < rows / 64; ++block)
        values.push_back(
            element(fragment, getElementAt(2 * block + half, col, cols)));
    results.push_back(foldLanes(op, fold(op, values), 16, 4));
  }
  return foldWarps(op, results);
}

/// Through shared memory: a row of values for each warp.
SmallVector<Value> RoleWriter::foldWarps(tile::ReduceOp op,
                                         ArrayRef<Value> values) {
  constexpr int64_t warps = 4;
  Type type = values.front().getType();
  auto pair = VectorType::get({2}, type);
  int64_t cols = layout.getShape(op.getTile()).second;
  Value start = arith::AddIOp::create(
      e, number32(plan.getScratch(role)),
      arith::MulIOp::create(e, instance, number32(plan.getScratchBytes(role))));
  auto at = [&](Value row, int64_t step) {
    Value col = arith::AddIOp::create(e, getFirstCol(), number32(8 * step));
    Value place = arith::AddIOp::create(
        e, arith::MulIOp::create(e, row, number32(cols)), col);
    place = arith::AddIOp::create(
        e, start,
        arith::MulIOp::create(e, place, number32(getElementBytes(type))));
    return sharedAt(arith::ExtUIOp::create(e, e.getI64Type(), place));
  };
  int64_t alignment = 2 * getElementBytes(type);
  Value inGroup = arith::AndIOp::create(e, warp, number32(warps - 1));
  Value first =
      arith::CmpIOp::create(e, arith::CmpIPredicate::ult, lane, number32(4));
  e.ifThen(first, [&] {
    for (int64_t step = 0; step < cols / 8; ++step) {
      Value two = vector::FromElementsOp::create(
          e, pair, ValueRange{values[2 * step], values[2 * step + 1]});
      LLVM::StoreOp::create(e, two, at(inGroup, step), alignment);
    }
  });
  roleBarrier();
  SmallVector<Value> results;
  for (int64_t step = 0; step < cols / 8; ++step) {
    SmallVector<Value> parts;
    for (int64_t row = 0; row < warps; ++row)
      parts.push_back(
          LLVM::LoadOp::create(e, pair, at(number32(row), step), alignment));
    Value two = fold(op, parts);
    results.append({element(two, 0), element(two, 1)});
  }
  // Nobody writes the next values before all have read these.
  roleBarrier();
  return results;
}

LogicalResult RoleWriter::writeReduce(tile::ReduceOp op, int64_t stage,
                                      State &state, Operation *loop) {
  if (op.getIndex())
    return op.emitOpError("expected no positions of largest elements for "
                          "sm_90a");
  VectorType type = getVectorType(op.getResult());
  if (type.getElementTypeBitWidth() != 32)
    return op.emitOpError("expected elements of 32 bits for sm_90a, but got ")
           << type.getElementType();
  Value fragment = get(state, op.getTile(), stage, loop);
  SmallVector<Value> values = layout.isAcrossWarps(op)
                                  ? reduceRows(op, fragment)
                                  : reduceCols(op, fragment);
  state.tiles[{op.getResult(), stage}] =
      vector::FromElementsOp::create(e, type, values);
  return success();
}
