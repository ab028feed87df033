//===- LowerModule.h - From tile kernels to functions -----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILELOWERING_LOWERMODULE_H
#define MMX_LIB_CONVERSION_TILELOWERING_LOWERMODULE_H

#include "mmx/Dialect/Tile/TileOps.h"

namespace mmx::lowering {

/// Affine ops of kernels become arithmetic, and equal bounds one value.
mlir::LogicalResult simplifyKernels(mlir::ModuleOp module);

/// The name of the global that stands for the shared memory that a launch on a
/// GPU asks for; created if it is missing.
llvm::StringRef getSharedMemory(mlir::ModuleOp module);

/// Replaces every tile.kernel of `module` by what `lower` creates before it,
/// between the steps that all lowerings need: affine ops become arithmetic
/// before; afterwards bf16 arithmetic becomes that of f32 rounded after every
/// op, and elementary functions become arithmetic.
mlir::LogicalResult lowerKernels(
    mlir::ModuleOp module,
    llvm::function_ref<mlir::LogicalResult(tile::KernelOp, mlir::OpBuilder &)>
        lower);

} // namespace mmx::lowering

#endif // MMX_LIB_CONVERSION_TILELOWERING_LOWERMODULE_H
