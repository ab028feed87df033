//===- Emitter.cpp - Short forms for scalar and vector code ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mmx::lowering;

Type mmx::lowering::getMemoryType(Type type) {
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  return type;
}

int64_t mmx::lowering::getElementBytes(Type type) {
  if (!type.isIntOrFloat())
    return 8; // an index or a pointer
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

Type mmx::lowering::getCopyType(Type from, Type to) {
  if (from == to && from.isBF16())
    return IntegerType::get(from.getContext(), 16);
  return from;
}

std::optional<int64_t> mmx::lowering::getConstant(Value value) {
  return getConstantIntValue(value);
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

Value Emitter::i64(int64_t value) {
  return arith::ConstantIntOp::create(*this, getI64Type(), value);
}

Value Emitter::toI64(Value index) {
  if (index.getType().isInteger(64))
    return index;
  return createOrFold<arith::IndexCastOp>(getI64Type(), index);
}

Value Emitter::toIndex(Value value) {
  if (value.getType().isIndex())
    return value;
  return createOrFold<arith::IndexCastOp>(getIndexType(), value);
}

Value Emitter::add(Value a, Value b) {
  return createOrFold<arith::AddIOp>(a, b);
}

Value Emitter::sub(Value a, Value b) {
  return createOrFold<arith::SubIOp>(a, b);
}

Value Emitter::mul(Value a, Value b) {
  return createOrFold<arith::MulIOp>(a, b);
}

// Operands of div and rem are never negative.
Value Emitter::div(Value a, int64_t b) {
  return createOrFold<arith::DivUIOp>(a, i64(b));
}

Value Emitter::rem(Value a, int64_t b) {
  return createOrFold<arith::RemUIOp>(a, i64(b));
}

Value Emitter::min(Value a, Value b) {
  return createOrFold<arith::MinSIOp>(a, b);
}

Value Emitter::max(Value a, Value b) {
  return createOrFold<arith::MaxSIOp>(a, b);
}

Value Emitter::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return createOrFold<arith::CmpIOp>(predicate, a, b);
}

Value Emitter::le(Value a, Value b) {
  return compare(arith::CmpIPredicate::sle, a, b);
}

Value Emitter::lt(Value a, Value b) {
  return compare(arith::CmpIPredicate::slt, a, b);
}

Value Emitter::both(Value a, Value b) {
  return createOrFold<arith::AndIOp>(a, b);
}

Value Emitter::truth(bool value) {
  return arith::ConstantIntOp::create(*this, getI1Type(), value);
}

Value Emitter::select(Value condition, Value a, Value b) {
  return createOrFold<arith::SelectOp>(condition, a, b);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Emitter::at(Value pointer, Value offset, Type type) {
  if (getConstant(offset) == 0)
    return pointer;
  type = getMemoryType(type);
  return LLVM::GEPOp::create(*this, pointer.getType(), type, pointer,
                             ValueRange{offset}, LLVM::GEPNoWrapFlags::none);
}

Value Emitter::at(Value pointer, int64_t offset, Type type) {
  if (offset == 0)
    return pointer;
  type = getMemoryType(type);
  return LLVM::GEPOp::create(
      *this, pointer.getType(), type, pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)},
      LLVM::GEPNoWrapFlags::none);
}

/// Between an element and what stands in memory for it; both may be vectors.
static Value castInteger(Emitter &e, Value value, Type type) {
  Type from = getElementTypeOrSelf(value.getType());
  Type to = type;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(type);
  if (from == type)
    return value;
  if (from.isIndex() || type.isIndex())
    return e.createOrFold<arith::IndexCastOp>(to, value);
  if (type.isInteger(1))
    return arith::TruncIOp::create(e, to, value);
  return arith::ExtUIOp::create(e, to, value);
}

// Elements are aligned to their size only.
Value Emitter::load(Type type, Value pointer) {
  Value value = LLVM::LoadOp::create(*this, getMemoryType(type), pointer,
                                     getElementBytes(type));
  return castInteger(*this, value, type);
}

Value Emitter::loadVector(Type type, Value pointer) {
  Value value = LLVM::LoadOp::create(*this, vectorOf(getMemoryType(type)),
                                     pointer, getElementBytes(type));
  return castInteger(*this, value, type);
}

void Emitter::store(Value value, Value pointer) {
  Type type = getElementTypeOrSelf(value.getType());
  value = castInteger(*this, value, getMemoryType(type));
  LLVM::StoreOp::create(*this, value, pointer, getElementBytes(type));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

VectorType Emitter::vectorOf(Type type) {
  return VectorType::get({width}, type);
}

Value Emitter::splat(Value scalar) {
  return vector::BroadcastOp::create(*this, vectorOf(scalar.getType()), scalar);
}

Value Emitter::constant(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr;
  if (isa<FloatType>(element))
    attr = getFloatAttr(element, value);
  else
    attr = getIntegerAttr(element, static_cast<int64_t>(value));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(*this, attr);
}

Value Emitter::bitsOf(Type type, double value) {
  if (!type.isBF16())
    return constant(type, value);
  APInt bits = getFloatAttr(type, value).getValue().bitcastToAPInt();
  return arith::ConstantOp::create(*this, getIntegerAttr(getI16Type(), bits));
}

Value Emitter::iota() {
  SmallVector<int64_t> lanes = llvm::to_vector(llvm::seq<int64_t>(width));
  SmallVector<Attribute> attrs;
  for (int64_t lane : lanes)
    attrs.push_back(getIndexAttr(lane));
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(vectorOf(getIndexType()), attrs));
}

Value Emitter::convert(Value value, Type type) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == type || getCopyType(type, type) == from)
    return value;
  Type to = type;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(type);
  bool wider = from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth();
  if (isa<IntegerType>(type)) {
    if (wider)
      return arith::ExtSIOp::create(*this, to, value);
    return arith::TruncIOp::create(*this, to, value);
  }
  if (wider)
    return arith::ExtFOp::create(*this, to, value);
  return arith::TruncFOp::create(*this, to, value);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void Emitter::forEach(Value from, Value to, int64_t step, Body body) {
  forEach(from, to, step, ValueRange(), [&](Value iv, ValueRange) {
    body(iv);
    return SmallVector<Value>();
  });
}

SmallVector<Value> Emitter::forEach(Value from, Value to, int64_t step,
                                    ValueRange inits, CarryingBody body) {
  auto loop = scf::ForOp::create(*this, from, to, i64(step), inits);
  {
    InsertionGuard guard(*this);
    setInsertionPointToStart(loop.getBody());
    SmallVector<Value> results =
        body(loop.getInductionVar(), loop.getRegionIterArgs());
    if (!inits.empty())
      scf::YieldOp::create(*this, results);
  }
  return llvm::to_vector(ValueRange(loop.getResults()));
}

void Emitter::ifThen(Value condition, llvm::function_ref<void()> then) {
  if (std::optional<int64_t> known = getConstant(condition)) {
    if (*known)
      then();
    return;
  }
  auto op = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  InsertionGuard guard(*this);
  setInsertionPointToStart(&op.getThenRegion().front());
  then();
}

void Emitter::ifElse(Value condition, llvm::function_ref<void()> then,
                     llvm::function_ref<void()> otherwise) {
  if (std::optional<int64_t> known = getConstant(condition)) {
    *known ? then() : otherwise();
    return;
  }
  auto op = scf::IfOp::create(*this, condition, /*withElseRegion=*/true);
  InsertionGuard guard(*this);
  setInsertionPointToStart(&op.getThenRegion().front());
  then();
  setInsertionPointToStart(&op.getElseRegion().front());
  otherwise();
}
