//===- TileScalarEval.cpp - What scalar ops compute -----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mmx/Reference/TileScalars.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mmx::tile;
using Form = ScalarInstruction::Form;

//===----------------------------------------------------------------------===//
// Affine expressions
//===----------------------------------------------------------------------===//

std::optional<int64_t> mmx::tile::evaluateAffine(AffineExpr expr,
                                                 ArrayRef<int64_t> dims,
                                                 ArrayRef<int64_t> symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> lhs = evaluateAffine(binary.getLHS(), dims, symbols);
  std::optional<int64_t> rhs = evaluateAffine(binary.getRHS(), dims, symbols);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *lhs + *rhs;
  case AffineExprKind::Mul:
    return *lhs * *rhs;
  default:
    break;
  }
  if (*rhs <= 0)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Mod:
    return llvm::mod(*lhs, *rhs);
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(*lhs, *rhs);
  default:
    return llvm::divideCeilSigned(*lhs, *rhs);
  }
}

static LogicalResult evaluateAffineOp(const ScalarInstruction &instruction,
                                      int64_t lanes,
                                      ArrayRef<const Cell *> operands,
                                      Cell *result) {
  AffineMap map = instruction.map;
  SmallVector<int64_t, 8> values(operands.size());
  for (int64_t lane = 0; lane < lanes; ++lane) {
    for (auto [value, row] : llvm::zip_equal(values, operands))
      value = row[lane].i;
    ArrayRef<int64_t> all(values);
    std::optional<int64_t> best;
    for (AffineExpr expr : map.getResults()) {
      std::optional<int64_t> value =
          evaluateAffine(expr, all.take_front(map.getNumDims()),
                         all.drop_front(map.getNumDims()));
      if (!value)
        return instruction.op->emitError("division by zero");
      if (!best || (instruction.form == Form::AffineMin && *value < *best) ||
          (instruction.form == Form::AffineMax && *value > *best))
        best = value;
    }
    result[lane].i = *best;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Comparisons and conversions
//===----------------------------------------------------------------------===//

static double toDouble(Cell cell, ElementKind kind) {
  return kind == ElementKind::F64 ? cell.d : double(cell.f);
}

static bool compareFloats(arith::CmpFPredicate predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::OEQ:
    return a == b;
  case P::OGT:
    return a > b;
  case P::OGE:
    return a >= b;
  case P::OLT:
    return a < b;
  case P::OLE:
    return a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::ORD:
    return !unordered;
  case P::UEQ:
    return unordered || a == b;
  case P::UGT:
    return unordered || a > b;
  case P::UGE:
    return unordered || a >= b;
  case P::ULT:
    return unordered || a < b;
  case P::ULE:
    return unordered || a <= b;
  case P::UNE:
    return unordered || a != b;
  case P::UNO:
    return unordered;
  case P::AlwaysTrue:
    return true;
  }
  llvm_unreachable("a float predicate");
}

static bool compareInts(arith::CmpIPredicate predicate, int64_t a, int64_t b,
                        ElementKind kind) {
  using P = arith::CmpIPredicate;
  // i1 is kept as 0 or 1, but signed it is 0 or -1.
  int64_t sa = kind == ElementKind::I1 ? -a : a;
  int64_t sb = kind == ElementKind::I1 ? -b : b;
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(getBitWidth(kind));
  uint64_t ua = uint64_t(a) & mask, ub = uint64_t(b) & mask;
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
    return sa < sb;
  case P::sle:
    return sa <= sb;
  case P::sgt:
    return sa > sb;
  case P::sge:
    return sa >= sb;
  case P::ult:
    return ua < ub;
  case P::ule:
    return ua <= ub;
  case P::ugt:
    return ua > ub;
  case P::uge:
    return ua >= ub;
  }
  llvm_unreachable("an integer predicate");
}

/// `value` as kind `to`; none where the float is out of the integer's range.
static std::optional<Cell> convert(Cell value, ElementKind from, ElementKind to,
                                   bool isUnsigned) {
  if (isFloatKind(from) && isFloatKind(to)) {
    if (to == ElementKind::F64)
      return Cell{.d = toDouble(value, from)};
    float narrow = from == ElementKind::F64 ? float(value.d) : value.f;
    return Cell{.f = to == ElementKind::BF16 ? roundToBF16(narrow) : narrow};
  }
  if (isFloatKind(from)) {
    double number = std::trunc(toDouble(value, from));
    unsigned width = getBitWidth(to);
    double limit = std::ldexp(1.0, isUnsigned ? width : width - 1);
    if (!(number >= (isUnsigned ? 0.0 : -limit) && number < limit))
      return std::nullopt;
    int64_t integer = isUnsigned ? int64_t(uint64_t(number)) : int64_t(number);
    return Cell{.i = wrapInteger(integer, to)};
  }
  int64_t integer = value.i;
  if (from == ElementKind::I1 && !isUnsigned)
    integer = -integer;
  if (isUnsigned)
    integer &= llvm::maskTrailingOnes<uint64_t>(getBitWidth(from));
  if (!isFloatKind(to))
    return Cell{.i = wrapInteger(integer, to)};
  if (to == ElementKind::F64)
    return Cell{.d = isUnsigned ? double(uint64_t(integer)) : double(integer)};
  float narrow = isUnsigned ? float(uint64_t(integer)) : float(integer);
  return Cell{.f = to == ElementKind::BF16 ? roundToBF16(narrow) : narrow};
}

static Cell bitcastCell(Cell value, ElementKind from, ElementKind to) {
  uint64_t bits = 0;
  if (from == ElementKind::F32)
    bits = llvm::bit_cast<uint32_t>(value.f);
  else if (from == ElementKind::BF16)
    bits = llvm::bit_cast<uint32_t>(value.f) >> 16;
  else
    bits = uint64_t(value.i);
  if (to == ElementKind::F32)
    return {.f = llvm::bit_cast<float>(uint32_t(bits))};
  if (to == ElementKind::BF16)
    return {.f = llvm::bit_cast<float>(uint32_t(bits) << 16)};
  if (to == ElementKind::F64)
    return {.i = int64_t(bits)};
  return {.i = wrapInteger(int64_t(bits), to)};
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static void evaluateFloatRow(const ScalarInstruction &instruction,
                             int64_t lanes, ArrayRef<const Cell *> operands,
                             Cell *result) {
  bool wide = instruction.to == ElementKind::F64;
  const Cell *a = operands[0];
  const Cell *b = operands.size() > 1 ? operands[1] : nullptr;
  const Cell *c = operands.size() > 2 ? operands[2] : nullptr;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    if (instruction.form == Form::UnaryFloat) {
      if (wide)
        result[lane].d = instruction.unaryDouble(a[lane].d);
      else
        result[lane].f = instruction.unary(a[lane].f);
    } else if (instruction.form == Form::BinaryFloat) {
      if (wide)
        result[lane].d = instruction.binaryDouble(a[lane].d, b[lane].d);
      else
        result[lane].f = instruction.binary(a[lane].f, b[lane].f);
    } else {
      if (wide)
        result[lane].d = std::fma(a[lane].d, b[lane].d, c[lane].d);
      else
        result[lane].f = std::fma(a[lane].f, b[lane].f, c[lane].f);
    }
  }
  if (instruction.to == ElementKind::BF16)
    for (int64_t lane = 0; lane < lanes; ++lane)
      result[lane].f = roundToBF16(result[lane].f);
}

static void evaluateCompareRow(const ScalarInstruction &instruction,
                               int64_t lanes, ArrayRef<const Cell *> operands,
                               Cell *result) {
  const Cell *a = operands[0], *b = operands[1];
  ElementKind kind = instruction.from;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    if (instruction.form == Form::CompareFloat)
      result[lane].i =
          compareFloats(arith::CmpFPredicate(instruction.predicate),
                        toDouble(a[lane], kind), toDouble(b[lane], kind));
    else
      result[lane].i = compareInts(arith::CmpIPredicate(instruction.predicate),
                                   a[lane].i, b[lane].i, kind);
  }
}

LogicalResult mmx::tile::evaluateScalar(const ScalarInstruction &instruction,
                                        int64_t lanes,
                                        ArrayRef<const Cell *> operands,
                                        Cell *result) {
  switch (instruction.form) {
  case Form::Constant:
    std::fill_n(result, lanes, instruction.constant);
    return success();
  case Form::UnaryFloat:
  case Form::BinaryFloat:
  case Form::Fma:
    evaluateFloatRow(instruction, lanes, operands, result);
    return success();
  case Form::CompareFloat:
  case Form::CompareInt:
    evaluateCompareRow(instruction, lanes, operands, result);
    return success();
  case Form::BinaryInt:
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t value = 0;
      if (!instruction.binaryInt(operands[0][lane].i, operands[1][lane].i,
                                 instruction.from, value))
        return instruction.op->emitError("undefined for ")
               << operands[0][lane].i << " and " << operands[1][lane].i;
      result[lane].i = wrapInteger(value, instruction.to);
    }
    return success();
  case Form::Select:
    for (int64_t lane = 0; lane < lanes; ++lane)
      result[lane] =
          operands[0][lane].i ? operands[1][lane] : operands[2][lane];
    return success();
  case Form::Convert:
    for (int64_t lane = 0; lane < lanes; ++lane) {
      std::optional<Cell> value =
          convert(operands[0][lane], instruction.from, instruction.to,
                  instruction.isUnsigned);
      if (!value)
        return instruction.op->emitError("expected a value in the range of ")
               << instruction.op->getResult(0).getType() << ", but got "
               << toDouble(operands[0][lane], instruction.from);
      result[lane] = *value;
    }
    return success();
  case Form::Bitcast:
    for (int64_t lane = 0; lane < lanes; ++lane)
      result[lane] =
          bitcastCell(operands[0][lane], instruction.from, instruction.to);
    return success();
  case Form::AffineApply:
  case Form::AffineMin:
  case Form::AffineMax:
    return evaluateAffineOp(instruction, lanes, operands, result);
  case Form::For:
    break;
  }
  llvm_unreachable("loops are run by ScalarProgram");
}
