//===- ExecShapes.h - Symbolic extents of exec buffers ----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Extents are affine expressions (floordiv, ceildiv and mod by constants
// included) in the symbols of a step, all of which are >= 0.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_EXEC_EXECSHAPES_H
#define MMX_DIALECT_EXEC_EXECSHAPES_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace mmx::exec {

/// A map from the symbols of a step to `results`.
mlir::AffineMap getStepMap(llvm::ArrayRef<mlir::AffineExpr> results,
                           mlir::MLIRContext *context);

/// The extents of a buffer, which is the result of a buffer op.
mlir::AffineMap getShape(mlir::Value buffer);

/// The product of the extents, or null where it is not affine because two
/// extents vary.
mlir::AffineExpr getNumElements(llvm::ArrayRef<mlir::AffineExpr> shape,
                                mlir::MLIRContext *context);

/// The size of a buffer in bytes, or null where it is not affine.
mlir::AffineExpr getSizeInBytes(mlir::Value buffer);

/// The dynamic extents, in order, with which a kernel sees an array of extents
/// `shape` as an array of extents `view` (dynamic ones as in ShapedType) and
/// the same number of elements; nothing where there is no such reading or it
/// is not the only one.
std::optional<llvm::SmallVector<mlir::AffineExpr>>
deriveViewExtents(llvm::ArrayRef<mlir::AffineExpr> shape,
                  llvm::ArrayRef<int64_t> view, mlir::MLIRContext *context);

/// The value of `expr` for the given values of the symbols.
int64_t evaluate(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> symbols);

/// Whether `small <= large` for all values >= 0 of the symbols. False may also
/// mean that it was not proved.
bool isNeverLarger(mlir::AffineExpr small, mlir::AffineExpr large);

} // namespace mmx::exec

#endif // MMX_DIALECT_EXEC_EXECSHAPES_H
