//===- TileToCPU.cpp - Tile kernels to functions for the CPU --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../TileLowering/LowerModule.h"
#include "KernelLowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mmx/Conversion/Passes.h"

namespace mmx {
#define GEN_PASS_DEF_CONVERTTILETOCPU
#include "mmx/Conversion/Passes.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

namespace {

struct ConvertTileToCPU
    : public mmx::impl::ConvertTileToCPUBase<ConvertTileToCPU> {
  using ConvertTileToCPUBase::ConvertTileToCPUBase;

  void runOnOperation() override {
    if (lanes != 8 && lanes != 16) {
      getOperation().emitError("expected 8 or 16 lanes, but got ")
          << lanes.getValue();
      return signalPassFailure();
    }
    auto lower = [&](tile::KernelOp kernel, OpBuilder &builder) {
      return cpu::KernelLowering(kernel, builder, lanes).run();
    };
    if (failed(lowering::lowerKernels(getOperation(), lower)))
      signalPassFailure();
  }
};

} // namespace
