//===- VerifySupport.cpp - Short forms for verifiers of mmx ops -----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifySupport.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

LogicalResult mmx::expectExtent(Operation *op, StringRef what, int64_t expected,
                                int64_t got) {
  if (expected == got || ShapedType::isDynamic(expected) ||
      ShapedType::isDynamic(got))
    return success();
  return op->emitOpError("expected ")
         << what << " " << expected << ", but got " << got;
}

LogicalResult mmx::expectShapeOf(Operation *op, StringRef what, Value expected,
                                 Value got) {
  auto expectedType = cast<RankedTensorType>(expected.getType());
  auto gotType = cast<RankedTensorType>(got.getType());
  if (failed(
          verifyCompatibleShape(expectedType.getShape(), gotType.getShape())))
    return op->emitOpError("expected ")
           << what << " to have the shape of " << expectedType << ", but got "
           << gotType;
  return success();
}

LogicalResult mmx::expectRank(Operation *op, StringRef what, int64_t expected,
                              Value got) {
  if (rankOf(got) == expected)
    return success();
  return op->emitOpError("expected ")
         << what << " of rank " << expected << ", but got rank " << rankOf(got);
}

LogicalResult mmx::expectPositive(Operation *op, StringRef what, int64_t got) {
  if (got > 0)
    return success();
  return op->emitOpError("expected ")
         << what << " to be positive, but got " << got;
}

LogicalResult mmx::verifyDecay(Operation *op, DecayAttr decay, int64_t heads) {
  if (ShapedType::isDynamic(heads) ||
      decay.getFirst() + heads <= decay.getHeads())
    return success();
  return op->emitOpError("expected decay of at least ")
         << decay.getFirst() + heads << " heads, but got " << decay.getHeads();
}

LogicalResult mmx::verifyPool(Operation *op, StringRef what, Value pool,
                              Value result) {
  if (pool.getType() != result.getType())
    return op->emitOpError("expected ")
           << what << " to come out with type " << pool.getType()
           << ", but got " << result.getType();
  if (pool.hasOneUse())
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("expected ")
                                  << what
                                  << " to have one use, but it has more: that "
                                     "would need a copy of a state or cache";
  for (Operation *user : pool.getUsers())
    if (user != op)
      diagnostic.attachNote(user->getLoc()) << "also used here";
  return diagnostic;
}
