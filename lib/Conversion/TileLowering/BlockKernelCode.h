//===- BlockKernelCode.h - Functions that blocks of a GPU run ---*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Base of the classes that write one tile.kernel as a function of which every
// block of a launch runs one cell. Its parameters are those of
// mmx/Target/GPUCodegen.h: tensor maps, a pointer for every view, an i64 for
// every extent, the pointer of the scratch area.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILELOWERING_BLOCKKERNELCODE_H
#define MMX_LIB_CONVERSION_TILELOWERING_BLOCKKERNELCODE_H

#include "KernelCode.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mmx::lowering {

/// What a launch gives a block, in bytes where it is memory.
struct BlockNeeds {
  int64_t threads;
  int64_t shared = 0;
  int64_t scratch = 0; ///< of global memory
};

class BlockKernelCode : public KernelCode {
protected:
  BlockKernelCode(tile::KernelOp kernel, mlir::OpBuilder &builder)
      : KernelCode(kernel, builder, /*width=*/1) {}

  /// Creates the function before the kernel, its attributes but those of
  /// tensor maps included, and goes on at the start of its body.
  mlir::func::FuncOp createFunction(const BlockNeeds &needs,
                                    unsigned numTensorMaps = 0);
  /// Maps the parameters of the kernel and the coordinates of its cell.
  mlir::LogicalResult setUpCell(mlir::func::FuncOp function,
                                unsigned numTensorMaps = 0);
};

} // namespace mmx::lowering

#endif // MMX_LIB_CONVERSION_TILELOWERING_BLOCKKERNELCODE_H
