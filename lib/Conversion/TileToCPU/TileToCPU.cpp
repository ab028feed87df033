//===- TileToCPU.cpp - Tile kernels to functions for the CPU --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"
#include "KernelLowering.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mmx/Conversion/Passes.h"

namespace mmx {
#define GEN_PASS_DEF_CONVERTTILETOCPU
#include "mmx/Conversion/Passes.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

/// A carried fragment that becomes another one is copied first: all of them are
/// replaced at once.
static void copyYieldedArguments(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  OpBuilder builder(yield);
  for (auto [number, value] : llvm::enumerate(yield.getOperands())) {
    if (!isa<tile::FragType>(value.getType()) ||
        value.getParentBlock() != loop.getBody() || value.getDefiningOp() ||
        value == loop.getRegionIterArg(number))
      continue;
    auto copy = tile::MapOp::create(builder, yield.getLoc(), value.getType(),
                                    value, /*when=*/Value());
    Type index = builder.getIndexType();
    Block &body = copy.getBody().emplaceBlock();
    Location loc = yield.getLoc();
    Value element =
        body.addArgument(cpu::getTileShape(value.getType()).element, loc);
    body.addArguments({index, index}, {loc, loc});
    OpBuilder inner = OpBuilder::atBlockEnd(&body);
    tile::YieldOp::create(inner, loc, element);
    yield->setOperand(number, copy.getResult(0));
  }
}

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
    if (failed(simplify()))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      kernel.walk(copyYieldedArguments);
      cpu::hoistScalars(kernel);
      cpu::KernelLowering lowering(kernel, builder, lanes);
      if (failed(lowering.run()))
        return signalPassFailure();
      kernel.erase();
    }
    if (failed(expand()))
      signalPassFailure();
  }

  /// bf16 arithmetic becomes that of f32 rounded after every op, and functions
  /// become arithmetic.
  LogicalResult expand() {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(
        converter, {BFloat16Type::get(context)}, Float32Type::get(context));
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    RewritePatternSet emulation(context), expansions(context);
    arith::populateEmulateUnsupportedFloatsPatterns(emulation, converter);
    cpu::populateMathExpansions(expansions);
    return failure(
        failed(applyPartialConversion(getOperation(), target,
                                      std::move(emulation))) ||
        failed(applyPatternsGreedily(getOperation(), std::move(expansions))));
  }

  /// Affine ops become arithmetic, and equal bounds one value.
  LogicalResult simplify() {
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalDialect<affine::AffineDialect>();
    RewritePatternSet patterns(&getContext());
    populateAffineToStdConversionPatterns(patterns);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      return failure();
    IRRewriter rewriter(&getContext());
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      DominanceInfo dominance(kernel);
      eliminateCommonSubExpressions(rewriter, dominance, kernel);
    }
    return success();
  }
};

} // namespace
