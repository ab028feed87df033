//===- LowerModule.cpp - From tile kernels to functions -------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerModule.h"

#include "ExpandMath.h"
#include "KernelCode.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mmx;

LogicalResult mmx::lowering::simplifyKernels(ModuleOp module) {
  MLIRContext *context = module.getContext();
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addIllegalDialect<affine::AffineDialect>();
  RewritePatternSet patterns(context);
  populateAffineToStdConversionPatterns(patterns);
  if (failed(applyPartialConversion(module, target, std::move(patterns))))
    return failure();
  IRRewriter rewriter(context);
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    DominanceInfo dominance(kernel);
    eliminateCommonSubExpressions(rewriter, dominance, kernel);
  }
  return success();
}

StringRef mmx::lowering::getSharedMemory(ModuleOp module) {
  static constexpr llvm::StringLiteral name = "mmx_shared";
  if (module.lookupSymbol(name))
    return name;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Type type =
      LLVM::LLVMArrayType::get(builder.getIntegerType(8), /*elements=*/0);
  // Tiles with the widest swizzle start at multiples of 1024 bytes.
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false,
                         LLVM::Linkage::External, name, Attribute(),
                         /*alignment=*/1024, /*addrSpace=*/3);
  return name;
}

static LogicalResult expand(ModuleOp module) {
  MLIRContext *context = module.getContext();
  TypeConverter converter;
  arith::populateEmulateUnsupportedFloatsConversions(
      converter, {BFloat16Type::get(context)}, Float32Type::get(context));
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  arith::populateEmulateUnsupportedFloatsLegality(target, converter);
  RewritePatternSet emulation(context), expansions(context);
  arith::populateEmulateUnsupportedFloatsPatterns(emulation, converter);
  lowering::populateMathExpansions(expansions);
  return failure(
      failed(applyPartialConversion(module, target, std::move(emulation))) ||
      failed(applyPatternsGreedily(module, std::move(expansions))));
}

LogicalResult mmx::lowering::lowerKernels(
    ModuleOp module,
    llvm::function_ref<LogicalResult(tile::KernelOp, OpBuilder &)> lower) {
  if (failed(simplifyKernels(module)))
    return failure();
  OpBuilder builder(module.getContext());
  for (auto kernel :
       llvm::make_early_inc_range(module.getOps<tile::KernelOp>())) {
    prepareKernel(kernel);
    if (failed(lower(kernel, builder)))
      return failure();
    kernel.erase();
  }
  return expand(module);
}
