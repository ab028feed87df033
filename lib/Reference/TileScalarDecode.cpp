//===- TileScalarDecode.cpp - Which scalar ops there are ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mmx/Reference/TileScalars.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mmx::tile;
using Form = ScalarInstruction::Form;

namespace {
/// What an op computes, by the name of the op. Generic lambdas without captures
/// become both the f32 and the f64 function.
struct Entry {
  Form form;
  bool isUnsigned = false;
  ScalarInstruction::FloatUnary unary = nullptr;
  ScalarInstruction::DoubleUnary unaryDouble = nullptr;
  ScalarInstruction::FloatBinary binary = nullptr;
  ScalarInstruction::DoubleBinary binaryDouble = nullptr;
  ScalarInstruction::IntBinary binaryInt = nullptr;
};
using Table = llvm::StringMap<Entry>;
} // namespace

template <typename Fn>
static void addUnary(Table &table, StringRef name, Fn fn) {
  Entry entry{Form::UnaryFloat};
  entry.unary = fn;
  entry.unaryDouble = fn;
  table[name] = entry;
}

template <typename Fn>
static void addBinary(Table &table, StringRef name, Fn fn) {
  Entry entry{Form::BinaryFloat};
  entry.binary = fn;
  entry.binaryDouble = fn;
  table[name] = entry;
}

static void addInt(Table &table, StringRef name,
                   ScalarInstruction::IntBinary fn) {
  Entry entry{Form::BinaryInt};
  entry.binaryInt = fn;
  table[name] = entry;
}

/// An integer op that is defined everywhere.
#define MMX_INT_OP(table, name, expr)                                          \
  addInt(table, name,                                                          \
         [](int64_t a, int64_t b, ElementKind kind, int64_t &result) {         \
           (void)kind;                                                         \
           result = (expr);                                                    \
           return true;                                                        \
         })

/// An integer division: not defined by 0, nor for the least number by -1.
#define MMX_DIVISION(table, name, expr)                                        \
  addInt(table, name,                                                          \
         [](int64_t a, int64_t b, ElementKind kind, int64_t &result) {         \
           if (b == 0 ||                                                       \
               (b == -1 && a == std::numeric_limits<int64_t>::min()))          \
             return false;                                                     \
           (void)kind;                                                         \
           result = (expr);                                                    \
           return true;                                                        \
         })

/// The bits of `value` without its sign.
static uint64_t toUnsigned(int64_t value, ElementKind kind) {
  return uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(getBitWidth(kind));
}

static void addFloatOps(Table &table) {
  addUnary(table, "arith.negf", [](auto x) { return -x; });
  addUnary(table, "math.exp", [](auto x) { return std::exp(x); });
  addUnary(table, "math.exp2", [](auto x) { return std::exp2(x); });
  addUnary(table, "math.expm1", [](auto x) { return std::expm1(x); });
  addUnary(table, "math.log", [](auto x) { return std::log(x); });
  addUnary(table, "math.log2", [](auto x) { return std::log2(x); });
  addUnary(table, "math.log1p", [](auto x) { return std::log1p(x); });
  addUnary(table, "math.sqrt", [](auto x) { return std::sqrt(x); });
  addUnary(table, "math.rsqrt",
           [](auto x) { return decltype(x)(1) / std::sqrt(x); });
  addUnary(table, "math.tanh", [](auto x) { return std::tanh(x); });
  addUnary(table, "math.sin", [](auto x) { return std::sin(x); });
  addUnary(table, "math.cos", [](auto x) { return std::cos(x); });
  addUnary(table, "math.erf", [](auto x) { return std::erf(x); });
  addUnary(table, "math.absf", [](auto x) { return std::fabs(x); });
  addUnary(table, "math.floor", [](auto x) { return std::floor(x); });
  addUnary(table, "math.ceil", [](auto x) { return std::ceil(x); });
  addUnary(table, "math.round", [](auto x) { return std::round(x); });
  addUnary(table, "math.roundeven", [](auto x) { return std::nearbyint(x); });
  addUnary(table, "math.trunc", [](auto x) { return std::trunc(x); });

  addBinary(table, "arith.addf", [](auto a, auto b) { return a + b; });
  addBinary(table, "arith.subf", [](auto a, auto b) { return a - b; });
  addBinary(table, "arith.mulf", [](auto a, auto b) { return a * b; });
  addBinary(table, "arith.divf", [](auto a, auto b) { return a / b; });
  addBinary(table, "arith.remf",
            [](auto a, auto b) { return std::fmod(a, b); });
  addBinary(table, "math.powf", [](auto a, auto b) { return std::pow(a, b); });
  addBinary(table, "math.atan2",
            [](auto a, auto b) { return std::atan2(a, b); });
  addBinary(table, "math.copysign",
            [](auto a, auto b) { return std::copysign(a, b); });
  addBinary(table, "arith.maximumf", [](auto a, auto b) {
    return std::isnan(a) || std::isnan(b) ? a + b : a < b ? b : a;
  });
  addBinary(table, "arith.minimumf", [](auto a, auto b) {
    return std::isnan(a) || std::isnan(b) ? a + b : b < a ? b : a;
  });
  addBinary(table, "arith.maxnumf",
            [](auto a, auto b) { return std::fmax(a, b); });
  addBinary(table, "arith.minnumf",
            [](auto a, auto b) { return std::fmin(a, b); });
}

static void addIntOps(Table &table) {
  MMX_INT_OP(table, "arith.addi", int64_t(uint64_t(a) + uint64_t(b)));
  MMX_INT_OP(table, "arith.subi", int64_t(uint64_t(a) - uint64_t(b)));
  MMX_INT_OP(table, "arith.muli", int64_t(uint64_t(a) * uint64_t(b)));
  MMX_INT_OP(table, "arith.andi", a & b);
  MMX_INT_OP(table, "arith.ori", a | b);
  MMX_INT_OP(table, "arith.xori", a ^ b);
  MMX_INT_OP(table, "arith.maxsi", std::max(a, b));
  MMX_INT_OP(table, "arith.minsi", std::min(a, b));
  MMX_INT_OP(table, "arith.maxui",
             toUnsigned(a, kind) < toUnsigned(b, kind) ? b : a);
  MMX_INT_OP(table, "arith.minui",
             toUnsigned(b, kind) < toUnsigned(a, kind) ? b : a);
  MMX_DIVISION(table, "arith.divsi", a / b);
  MMX_DIVISION(table, "arith.remsi", a % b);
  MMX_DIVISION(table, "arith.floordivsi", llvm::divideFloorSigned(a, b));
  MMX_DIVISION(table, "arith.ceildivsi", llvm::divideCeilSigned(a, b));
  MMX_DIVISION(table, "arith.divui",
               int64_t(toUnsigned(a, kind) / toUnsigned(b, kind)));
  MMX_DIVISION(table, "arith.remui",
               int64_t(toUnsigned(a, kind) % toUnsigned(b, kind)));
  MMX_DIVISION(
      table, "arith.ceildivui",
      int64_t(llvm::divideCeil(toUnsigned(a, kind), toUnsigned(b, kind))));
  // A shift by the width or more is not defined.
  addInt(table, "arith.shli",
         [](int64_t a, int64_t b, ElementKind kind, int64_t &result) {
           bool defined = toUnsigned(b, kind) < getBitWidth(kind);
           result = defined ? int64_t(uint64_t(a) << b) : 0;
           return defined;
         });
  addInt(table, "arith.shrsi",
         [](int64_t a, int64_t b, ElementKind kind, int64_t &result) {
           bool defined = toUnsigned(b, kind) < getBitWidth(kind);
           result = defined ? a >> b : 0;
           return defined;
         });
  addInt(table, "arith.shrui",
         [](int64_t a, int64_t b, ElementKind kind, int64_t &result) {
           bool defined = toUnsigned(b, kind) < getBitWidth(kind);
           result = defined ? int64_t(toUnsigned(a, kind) >> b) : 0;
           return defined;
         });
}

#undef MMX_INT_OP
#undef MMX_DIVISION

static Table makeTable() {
  Table table;
  addFloatOps(table);
  addIntOps(table);
  table["arith.constant"] = {Form::Constant};
  table["math.fma"] = {Form::Fma};
  table["arith.cmpf"] = {Form::CompareFloat};
  table["arith.cmpi"] = {Form::CompareInt};
  table["arith.select"] = {Form::Select};
  table["arith.bitcast"] = {Form::Bitcast};
  for (StringRef name :
       {"arith.extf", "arith.truncf", "arith.extsi", "arith.trunci",
        "arith.sitofp", "arith.fptosi", "arith.index_cast"})
    table[name] = {Form::Convert};
  for (StringRef name :
       {"arith.extui", "arith.uitofp", "arith.fptoui", "arith.index_castui"})
    table[name] = {Form::Convert, /*isUnsigned=*/true};
  table["affine.apply"] = {Form::AffineApply};
  table["affine.min"] = {Form::AffineMin};
  table["affine.max"] = {Form::AffineMax};
  return table;
}

FailureOr<ScalarInstruction> mmx::tile::decodeScalarOp(Operation *op) {
  static const Table table = makeTable();
  auto found = table.find(op->getName().getStringRef());
  if (found == table.end() || op->getNumResults() != 1)
    return op->emitError("expected a scalar op of the tile level, but got '")
           << op->getName() << "'";
  const Entry &entry = found->second;
  std::optional<ElementKind> to = getElementKind(op->getResult(0).getType());
  std::optional<ElementKind> from =
      op->getNumOperands() ? getElementKind(op->getOperand(0).getType()) : to;
  if (!to || !from)
    return op->emitError("expected scalars of the tile level, but got ")
           << op->getResult(0).getType();

  ScalarInstruction instruction;
  instruction.form = entry.form;
  instruction.from = *from;
  instruction.to = *to;
  instruction.isUnsigned = entry.isUnsigned;
  instruction.unary = entry.unary;
  instruction.unaryDouble = entry.unaryDouble;
  instruction.binary = entry.binary;
  instruction.binaryDouble = entry.binaryDouble;
  instruction.binaryInt = entry.binaryInt;
  instruction.op = op;
  TypeSwitch<Operation *>(op)
      .Case([&](arith::ConstantOp constant) {
        if (auto value = dyn_cast<FloatAttr>(constant.getValue())) {
          if (*to == ElementKind::F64)
            instruction.constant.d = value.getValueAsDouble();
          else
            instruction.constant.f = float(value.getValueAsDouble());
        } else {
          instruction.constant.i = wrapInteger(
              cast<IntegerAttr>(constant.getValue()).getValue().getSExtValue(),
              *to);
        }
      })
      .Case([&](arith::CmpIOp cmp) {
        instruction.predicate = int64_t(cmp.getPredicate());
      })
      .Case([&](arith::CmpFOp cmp) {
        instruction.predicate = int64_t(cmp.getPredicate());
      })
      .Case<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
          [&](auto affine) { instruction.map = affine.getAffineMap(); });
  return instruction;
}
