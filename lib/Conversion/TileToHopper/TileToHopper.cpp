//===- TileToHopper.cpp - Scheduled tile kernels for sm_90a ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../TileLowering/ExpandMath.h"
#include "../TileLowering/LowerModule.h"
#include "RoleWriter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mmx/Conversion/Passes.h"

namespace mmx {
#define GEN_PASS_DEF_CONVERTTILETOHOPPER
#include "mmx/Conversion/Passes.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

/// What uniform scalars compute; maps have their own.
static void expandUniformMath(Operation *function) {
  SmallVector<Operation *> ops;
  function->walk([&](Operation *op) {
    if (isa<math::MathDialect>(op->getDialect()) && !isa<math::FmaOp>(op))
      ops.push_back(op);
  });
  RewritePatternSet patterns(function->getContext());
  lowering::populateMathExpansions(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps);
  (void)applyOpPatternsGreedily(ops, std::move(patterns), config);
}

namespace {

struct ConvertTileToHopper
    : public mmx::impl::ConvertTileToHopperBase<ConvertTileToHopper> {
  using ConvertTileToHopperBase::ConvertTileToHopperBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(lowering::simplifyKernels(module)))
      return signalPassFailure();
    StringRef shared = lowering::getSharedMemory(module);
    OpBuilder builder(&getContext());
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<tile::KernelOp>())) {
      if (!kernel.getScheduleAttr())
        continue;
      if (failed(convert(kernel, builder, shared)))
        return signalPassFailure();
      kernel.erase();
    }
  }

  LogicalResult convert(tile::KernelOp kernel, OpBuilder &builder,
                        StringRef shared) {
    FailureOr<tile::ScheduleInfo> info = tile::ScheduleInfo::create(kernel);
    if (failed(info))
      return failure();
    FailureOr<tile::RolePrograms> programs = tile::RolePrograms::derive(*info);
    if (failed(programs))
      return failure();
    FailureOr<hopper::FragmentLayout> layout =
        hopper::FragmentLayout::assign(*info);
    if (failed(layout))
      return failure();
    hopper::RoleWriter writer(*info, *programs, *layout, builder,
                              {delays, threadArrivals});
    if (failed(writer.run(shared)))
      return failure();
    expandUniformMath(kernel->getPrevNode());
    return success();
  }
};

} // namespace
