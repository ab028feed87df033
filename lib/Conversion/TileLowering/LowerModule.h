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
