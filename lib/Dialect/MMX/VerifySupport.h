//===- VerifySupport.h - Short forms for verifiers of mmx ops ---*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constraint numbers (C1, C2, ...) in comments beside uses of these functions
// are those of docs/spec.md. A dynamic extent agrees with every extent.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_DIALECT_MMX_VERIFYSUPPORT_H
#define MMX_LIB_DIALECT_MMX_VERIFYSUPPORT_H

#include "mlir/IR/Operation.h"
#include "mmx/Dialect/MMX/MMXDialect.h"

namespace mmx {

/// Extent `dim` of a ranked tensor.
inline int64_t extentOf(mlir::Value value, unsigned dim) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getDimSize(dim);
}

inline int64_t rankOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getRank();
}

/// "expected WHAT EXPECTED, but got GOT" unless the two extents agree.
mlir::LogicalResult expectExtent(mlir::Operation *op, llvm::StringRef what,
                                 int64_t expected, int64_t got);

/// Like `expectExtent` for all extents of `got` after the leading one, which
/// may only differ where one of both is dynamic.
mlir::LogicalResult expectShapeOf(mlir::Operation *op, llvm::StringRef what,
                                  mlir::Value expected, mlir::Value got);

/// "expected WHAT of rank EXPECTED, but got rank GOT".
mlir::LogicalResult expectRank(mlir::Operation *op, llvm::StringRef what,
                               int64_t expected, mlir::Value got);

/// "expected WHAT to be positive, but got GOT".
mlir::LogicalResult expectPositive(mlir::Operation *op, llvm::StringRef what,
                                   int64_t got);

/// C13: every one of `heads` heads has a rate.
mlir::LogicalResult verifyDecay(mlir::Operation *op, DecayAttr decay,
                                int64_t heads);

/// C36: a pool that `op` updates has no other use, so that it can be updated
/// in place, and the result has its type.
mlir::LogicalResult verifyPool(mlir::Operation *op, llvm::StringRef what,
                               mlir::Value pool, mlir::Value result);

} // namespace mmx

#endif // MMX_LIB_DIALECT_MMX_VERIFYSUPPORT_H
