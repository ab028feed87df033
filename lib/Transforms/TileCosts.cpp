//===- TileCosts.cpp - Cycles of tile ops ---------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileCosts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mmx/Transforms/TileScheduleInfo.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx::tile;

static double countElements(Value tile) {
  double count = 1;
  for (int64_t size : getTileExtents(tile))
    count *= double(size);
  return count;
}

/// Instructions of one scalar op: two elements of bf16 are converted at once,
/// by a unit of half the rate; the exponential is a product, a conversion to an
/// integer, a polynomial of degree 5 and a scaling by two steps.
static double countScalar(Operation *op) {
  if (isa<arith::ConstantOp, arith::NegFOp, arith::IndexCastOp>(op))
    return 0;
  if (isa<math::ExpOp>(op))
    return 16;
  if (isa<arith::DivFOp, math::SqrtOp>(op))
    return 10;
  if (isa<math::MathDialect>(op->getDialect()) && !isa<math::FmaOp>(op))
    return 20;
  return 1;
}

double costs::countElementInstructions(Operation *op, bool ofOperands) {
  auto map = cast<MapOp>(op);
  Block &body = map.getBody().front();
  llvm::DenseSet<Value> varying;
  for (Value argument : body.getArguments().drop_back(2))
    varying.insert(argument);
  if (!ofOperands || varying.empty())
    for (Value argument : body.getArguments())
      varying.insert(argument);
  double count = 0;
  body.walk([&](Operation *inner) {
    if (isa<YieldOp>(inner) ||
        llvm::none_of(inner->getOperands(),
                      [&](Value operand) { return varying.contains(operand); }))
      return;
    for (Value result : inner->getResults())
      varying.insert(result);
    count += countScalar(inner);
  });
  return count;
}

/// A fence, and for each 64 rows and 16 of the depth a product with the
/// addresses of its operands.
static double countProductInstructions(MmaOp mma) {
  bool swapped = isa<FragType>(mma.getB().getType());
  double rows = double(getTileExtents(mma.getResult())[swapped ? 1 : 0]);
  double depth = double(getProductDepth(mma));
  return 10 + 4 * std::ceil(rows / 64) * std::ceil(depth / 16);
}

double costs::countInstructions(Operation *op, double threads) {
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([&](MapOp map) {
        return map.getNumResults() == 0
                   ? 0
                   : countElements(map.getResult(0)) / threads *
                         countElementInstructions(map, /*ofOperands=*/true);
      })
      .Case([&](ReduceOp reduce) {
        // Within a thread, then between the threads of a row or column.
        return countElements(reduce.getTile()) / threads + 4 * 25;
      })
      .Case([&](ScanOp scan) {
        return 2 * countElements(scan->getOperand(0)) / threads + 5 * 25;
      })
      .Case<LoadOp, GatherOp>([&](Operation *load) {
        return 2 * countElements(load->getResult(0)) / threads;
      })
      .Case([&](StoreOp store) {
        return 2 * countElements(store.getTile()) / threads;
      })
      .Case<ReadOp, PutOp>([&](Operation *move) {
        // Matrices of 8 x 8, four at a time, 8 elements a thread.
        return 2 * countElements(move->getResult(0)) / threads / 8;
      })
      .Case([](MmaOp mma) { return countProductInstructions(mma); })
      .Default([](Operation *) { return instruction; });
}

double costs::getSharedBytes(Operation *op) {
  if (auto mma = dyn_cast<MmaOp>(op)) {
    // Operands are read once for each 64 rows of the result; one of the left
    // side stays in registers.
    double rows = double(getTileExtents(mma.getResult())[0]), bytes = 0;
    bool swapped = isa<FragType>(mma.getB().getType());
    if (swapped)
      rows = double(getTileExtents(mma.getResult())[1]);
    double times = std::max(rows / 64, 1.0);
    Value left = swapped ? mma.getB() : mma.getA();
    Value right = swapped ? mma.getA() : mma.getB();
    if (isa<SramType>(left.getType()))
      bytes += double(getTileBytes(left.getType()));
    return bytes + times * double(getTileBytes(right.getType()));
  }
  if (auto store = dyn_cast<StoreOp>(op))
    return double(getTileBytes(store.getTile().getType()));
  if (isa<LoadOp, GatherOp, PutOp, ReadOp>(op))
    return double(getTileBytes(op->getResult(0).getType()));
  return 0;
}

double costs::getTensorCycles(Operation *op, double rate) {
  auto mma = cast<MmaOp>(op);
  double depth = double(getProductDepth(mma));
  return 2 * countElements(mma.getResult()) * depth / rate;
}
