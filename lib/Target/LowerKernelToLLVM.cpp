//===- LowerKernelToLLVM.cpp - Upstream dialects to the LLVM dialect ------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "mmx/Conversion/Passes.h"
#include "mmx/Target/CPUCodegen.h"

using namespace mlir;

static void addLoweringPasses(OpPassManager &manager) {
  manager.addPass(mmx::createConvertHopperToNVVM());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(createConvertVectorToSCFPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectorOptions;
  vectorOptions.reassociateFPReductions = false;
  manager.addPass(createConvertVectorToLLVMPass(vectorOptions));
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createConvertNVVMToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

/// The special register of a thread's or block's coordinate.
template <typename X, typename Y, typename Z>
static Value readRegister(OpBuilder &builder, Location loc,
                          gpu::Dimension dimension) {
  Type i32 = builder.getI32Type();
  switch (dimension) {
  case gpu::Dimension::x:
    return X::create(builder, loc, i32);
  case gpu::Dimension::y:
    return Y::create(builder, loc, i32);
  case gpu::Dimension::z:
    return Z::create(builder, loc, i32);
  }
  llvm_unreachable("expected one of three dimensions");
}

/// Coordinates become special registers, widened; upstream's patterns want a
/// gpu.module around the kernel.
static void lowerGPUOps(ModuleOp module) {
  auto replace = [](Operation *op, Value number) {
    OpBuilder builder(op);
    Value index = arith::IndexCastUIOp::create(builder, op->getLoc(),
                                               builder.getIndexType(), number);
    op->replaceAllUsesWith(ValueRange(index));
    op->erase();
  };
  module.walk([&](Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (auto id = dyn_cast<gpu::ThreadIdOp>(op)) {
      replace(
          op,
          readRegister<NVVM::ThreadIdXOp, NVVM::ThreadIdYOp, NVVM::ThreadIdZOp>(
              builder, loc, id.getDimension()));
    } else if (auto id = dyn_cast<gpu::BlockIdOp>(op)) {
      Value number =
          readRegister<NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>(
              builder, loc, id.getDimension());
      if (std::optional<llvm::APInt> bound = id.getUpperBound())
        number.getDefiningOp()->setAttr(
            "range", LLVM::ConstantRangeAttr::get(builder.getContext(),
                                                  llvm::APInt::getZero(32),
                                                  bound->trunc(32)));
      replace(op, number);
    } else if (auto size = dyn_cast<gpu::GridDimOp>(op)) {
      replace(
          op,
          readRegister<NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>(
              builder, loc, size.getDimension()));
    } else if (isa<gpu::BarrierOp>(op)) {
      NVVM::Barrier0Op::create(builder, loc);
      op->erase();
    }
  });
}

void mmx::registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                  index::IndexDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect,
                  ub::UBDialect, vector::VectorDialect>();
  // Kernels are lowered side by side, and a pass that finds a dialect of its
  // own missing would load it under the others.
  OpPassManager manager(ModuleOp::getOperationName());
  addLoweringPasses(manager);
  manager.getDependentDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

llvm::Error mmx::lowerKernelToLLVM(ModuleOp module) {
  lowerGPUOps(module);
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  addLoweringPasses(manager);
  std::string message;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (message.empty())
          llvm::raw_string_ostream(message) << diagnostic;
        return success();
      });
  if (failed(manager.run(module)))
    return llvm::createStringError("cannot lower to LLVM: " + message);
  return llvm::Error::success();
}
