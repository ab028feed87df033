//===- EmulateBlock.h - Threads of a GPU as threads of this CPU -*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_TARGET_EMULATEBLOCK_H
#define MMX_LIB_TARGET_EMULATEBLOCK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mmx {

/// Rewrites a function of `convert-tile-to-simt` into one for this CPU:
///
///   void kernel(void *const *buffers, const int64_t *extents, int64_t i,
///               int64_t j, int64_t k, void *scratch, int64_t thread,
///               void (*barrier)(void *), void *context, const int64_t *grid)
///
/// It is called by every thread of a block at the same time. `grid` has the
/// blocks along i, j, k. `scratch` stands for the shared memory of the block,
/// or, if it has none, for the global memory of all blocks; `mmx.scratch` bytes
/// of it are the block's in either case.
void emulateBlock(mlir::func::FuncOp function);

} // namespace mmx

#endif // MMX_LIB_TARGET_EMULATEBLOCK_H
