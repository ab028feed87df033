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

/// Rewrites a function of `convert-tile-to-simt` into one for this CPU, with
/// `mmx.scratch` bytes that stand for shared memory:
///
///   void kernel(void *const *buffers, const int64_t *extents, int64_t i,
///               int64_t j, int64_t k, void *scratch, int64_t thread,
///               void (*barrier)(void *), void *context)
///
/// It is called by every thread of a block at the same time.
void emulateBlock(mlir::func::FuncOp function);

} // namespace mmx

#endif // MMX_LIB_TARGET_EMULATEBLOCK_H
