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
  for (Operation &inner : body.without_terminator()) {
    e.setLoc(inner.getLoc());
    bool vector = llvm::any_of(inner.getOperands(), [&](Value operand) {
      return isVector(values.lookup(operand));
    });
    if (!vector) {
      e.clone(inner, values);
      continue;
    }
    if (!OpTrait::hasElementwiseMappableTraits(&inner))
      return inner.emitOpError("expected an elementwise op in a map");
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands()) {
      Value value = values.lookup(operand);
      operands.push_back(isVector(value) ? value : e.splat(value));
    }
    // Lanes beyond the extent hold anything; they must not trap.
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
            inner)) {
      Value &divisor = operands[1];
      Value zero = e.constant(divisor.getType(), 0);
      Value isZero = e.compare(arith::CmpIPredicate::eq, divisor, zero);
      divisor = e.select(isZero, e.constant(divisor.getType(), 1), divisor);
    }
    SmallVector<Type> types;
    for (Type type : inner.getResultTypes())
      types.push_back(e.vectorOf(type));
    Operation *copy =
        e.OpBuilder::create(inner.getLoc(), inner.getName().getIdentifier(),
                            operands, types, inner.getAttrs());
    for (auto [from, to] : llvm::zip(inner.getResults(), copy->getResults()))
      values.map(from, to);
  }
  e.setLoc(op.getLoc());
  // Every operand is read before a result takes its place.
  for (auto [result, yielded] :
       llvm::zip(op.getResults(), body.getTerminator()->getOperands())) {
    Value value = values.lookup(yielded);
    if (!isVector(value))
      value = e.splat(value);
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
