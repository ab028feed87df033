//===- Partial.cpp - Elements of a reduction on their way -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Partial.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::lowering;

Value mmx::lowering::neutral(Emitter &e, tile::ReduceKind kind, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (kind == tile::ReduceKind::Add)
    return e.constant(type, -0.0);
  if (isa<FloatType>(element))
    return e.constant(type, -std::numeric_limits<double>::infinity());
  return e.constant(type,
                    -std::ldexp(1.0, element.getIntOrFloatBitWidth() - 1));
}

Partial mmx::lowering::combine(Emitter &e, tile::ReduceOp op, Partial a,
                               Partial b) {
  bool floats = isa<FloatType>(getElementTypeOrSelf(a.value.getType()));
  if (op.getKind() == tile::ReduceKind::Add)
    return {floats ? arith::AddFOp::create(e, a.value, b.value).getResult()
                   : arith::AddIOp::create(e, a.value, b.value).getResult(),
            {}};
  auto compare = [&](arith::CmpFPredicate f, arith::CmpIPredicate i) -> Value {
    if (floats)
      return arith::CmpFOp::create(e, f, b.value, a.value);
    return arith::CmpIOp::create(e, i, b.value, a.value);
  };
  Value take = compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
  if (!a.position)
    return {e.select(take, b.value, a.value), {}};
  // Among equals the smallest position.
  Value equal = compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
  Value before = arith::CmpIOp::create(e, arith::CmpIPredicate::slt, b.position,
                                       a.position);
  take = arith::OrIOp::create(e, take, e.both(equal, before));
  return {e.select(take, b.value, a.value),
          e.select(take, b.position, a.position)};
}
