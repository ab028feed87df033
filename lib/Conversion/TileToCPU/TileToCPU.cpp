//===- TileToCPU.cpp - Tile kernels to functions for the CPU --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"
#include "KernelLowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
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
      getOperation().emitError("expected 8 or 16 lanes, but got ") << lanes;
      return signalPassFailure();
    }
    OpBuilder builder(&getContext());
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      cpu::hoistScalars(kernel);
      cpu::KernelLowering lowering(kernel, builder, lanes);
      if (failed(lowering.run()))
        return signalPassFailure();
      kernel.erase();
    }
    RewritePatternSet patterns(&getContext());
    cpu::populateMathExpansions(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
