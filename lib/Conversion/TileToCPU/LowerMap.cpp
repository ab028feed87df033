//===- LowerMap.cpp - Elementwise bodies on vector registers --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes run along columns (along rows for one value a row). What depends on the
// row only stays scalar until it meets a vector.
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::cpu;

static bool isVector(Value value) { return isa<VectorType>(value.getType()); }

/// The element (row, col ..) of an operand: a vector, or a scalar where the
/// operand has one value for the row.
Value KernelLowering::loadOperand(const TilePlace &place, int64_t resultRank,
                                  Value row, Value col) {
  Type element = place.shape.element;
  if (place.shape.rank == 2 || resultRank == 1)
    return e.loadVector(element, elementAt(place, row, col));
  if (place.shape.along == 0)
    return e.load(element, e.at(place.rows->pointer, row, element));
  return e.loadVector(element, e.at(place.rows->pointer, col, element));
}

/// Copies the ops of a body; an op with a vector among its operands becomes one
/// on vectors.
LogicalResult KernelLowering::mapBlock(Block &block, IRMapping &values) {
  for (Operation &op : block.without_terminator()) {
    e.setLoc(op.getLoc());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(mapLoop(loop, values)))
        return failure();
      continue;
    }
    if (llvm::none_of(op.getOperands(), [&](Value operand) {
          return isVector(values.lookup(operand));
        })) {
      e.clone(op, values);
      continue;
    }
    if (!OpTrait::hasElementwiseMappableTraits(&op))
      return op.emitOpError("expected an elementwise op in a map");
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(toVector(values.lookup(operand)));
    // Lanes beyond the extent hold anything; they must not trap.
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
            op)) {
      Value &divisor = operands[1];
      Value zero = e.constant(divisor.getType(), 0);
      Value isZero = e.compare(arith::CmpIPredicate::eq, divisor, zero);
      divisor = e.select(isZero, e.constant(divisor.getType(), 1), divisor);
    }
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(e.vectorOf(type));
    Operation *copy =
        e.OpBuilder::create(op.getLoc(), op.getName().getIdentifier(), operands,
                            types, op.getAttrs());
    for (auto [from, to] : llvm::zip(op.getResults(), copy->getResults()))
      values.map(from, to);
  }
  return success();
}

/// A loop with uniform bounds; what it carries becomes vectors.
LogicalResult KernelLowering::mapLoop(scf::ForOp loop, IRMapping &values) {
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(toVector(values.lookup(init)));
  auto copy = scf::ForOp::create(e, values.lookup(loop.getLowerBound()),
                                 values.lookup(loop.getUpperBound()),
                                 values.lookup(loop.getStep()), inits);
  values.map(loop.getInductionVar(), copy.getInductionVar());
  values.map(loop.getRegionIterArgs(), copy.getRegionIterArgs());
  values.map(loop.getResults(), copy.getResults());
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(copy.getBody());
  if (failed(mapBlock(*loop.getBody(), values)))
    return failure();
  SmallVector<Value> yielded;
  for (Value value : loop.getYieldedValues())
    yielded.push_back(toVector(values.lookup(value)));
  if (!inits.empty())
    scf::YieldOp::create(e, yielded);
  return success();
}

Value KernelLowering::toVector(Value value) {
  return isVector(value) ? value : e.splat(value);
}

LogicalResult KernelLowering::mapVector(tile::MapOp op, Value row, Value col) {
  TileShape shape = getTileShape(op.getType(0));
  Block &body = op.getBody().front();
  IRMapping values(mapping);
  unsigned number = 0;
  for (Value operand : op.getOperands_())
    values.map(body.getArgument(number++),
               loadOperand(tiles.at(operand), shape.rank, row, col));
  Value lanes = arith::AddIOp::create(e, e.splat(e.toIndex(col)), e.iota());
  Value zero = e.toIndex(e.i64(0));
  bool alongRows = shape.along == 0;
  values.map(body.getArgument(number),
             shape.rank == 2 ? e.toIndex(row) : (alongRows ? lanes : zero));
  values.map(body.getArgument(number + 1), alongRows ? zero : lanes);
  if (failed(mapBlock(body, values)))
    return failure();
  e.setLoc(op.getLoc());
  // Every operand is read before a result takes its place.
  for (auto [result, yielded] :
       llvm::zip(op.getResults(), body.getTerminator()->getOperands())) {
    Value value = toVector(values.lookup(yielded));
    e.store(value, elementAt(tiles.at(result), row, col));
  }
  return success();
}

LogicalResult KernelLowering::lowerMap(tile::MapOp op) {
  if (op.getNumResults() == 0)
    return success();
  for (Value result : op.getResults())
    placeResult(result).rows = getRowPlace(result);
  TileShape shape = getTileShape(op.getType(0));
  Value rows = countRows(op.getResult(0), op);
  for (Value result : op.getResults().drop_front())
    rows = e.max(rows, countRows(result, op));
  LogicalResult status = success();
  auto compute = [&] {
    e.forEach(e.i64(0), rows, 1, [&](Value row) {
      e.forEach(e.i64(0), e.i64(shape.cols), e.width, [&](Value col) {
        if (failed(mapVector(op, row, col)))
          status = failure();
      });
    });
  };
  if (!op.getWhen()) {
    compute();
  } else {
    e.ifElse(lookup(op.getWhen()), compute,
             [&] { moveTile(op.getOperands_()[0], op.getResult(0), rows); });
  }
  for (Value result : op.getResults())
    completeForms(result);
  return status;
}
