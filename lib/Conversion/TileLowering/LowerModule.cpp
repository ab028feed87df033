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
#include "mlir/Dialect/Func/IR/FuncOps.h"
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

static LogicalResult expand(ArrayRef<Operation *> functions,
                            MLIRContext *context) {
  TypeConverter converter;
  arith::populateEmulateUnsupportedFloatsConversions(
      converter, {BFloat16Type::get(context)}, Float32Type::get(context));
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  arith::populateEmulateUnsupportedFloatsLegality(target, converter);
  RewritePatternSet emulation(context), expansions(context);
  arith::populateEmulateUnsupportedFloatsPatterns(emulation, converter);
  lowering::populateMathExpansions(expansions);
  if (failed(applyPartialConversion(functions, target, std::move(emulation))))
    return failure();
  FrozenRewritePatternSet frozen(std::move(expansions));
  for (Operation *function : functions)
    if (failed(applyPatternsGreedily(function, frozen)))
      return failure();
  return success();
}

LogicalResult mmx::lowering::lowerKernels(
    ModuleOp module,
    llvm::function_ref<LogicalResult(tile::KernelOp, OpBuilder &)> lower) {
  if (failed(simplifyKernels(module)))
    return failure();
  OpBuilder builder(module.getContext());
  // Functions that stand there are finished, each op where its writer wants it.
  DenseSet<Operation *> finished;
  for (auto function : module.getOps<func::FuncOp>())
    finished.insert(function);
  for (auto kernel :
       llvm::make_early_inc_range(module.getOps<tile::KernelOp>())) {
    prepareKernel(kernel);
    if (failed(lower(kernel, builder)))
      return failure();
    kernel.erase();
  }
  SmallVector<Operation *> written;
  for (auto function : module.getOps<func::FuncOp>())
    if (!finished.contains(function))
      written.push_back(function);
  return expand(written, module.getContext());
}
