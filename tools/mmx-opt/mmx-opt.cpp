//===- mmx-opt.cpp - The optimizer driver ---------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "mmx/Compiler/Pipeline.h"
#include "mmx/Conversion/MMXToTile/MMXToTile.h"
#include "mmx/Conversion/Passes.h"
#include "mmx/Dialect/Exec/ExecDialect.h"
#include "mmx/Dialect/Hopper/HopperDialect.h"
#include "mmx/Dialect/MMX/MMXDialect.h"
#include "mmx/Dialect/Tile/TileDialect.h"
#include "mmx/Reference/ExecPasses.h"
#include "mmx/Reference/LoweringPasses.h"
#include "mmx/Reference/Passes.h"
#include "mmx/Reference/TilePasses.h"
#include "mmx/Target/Passes.h"
#include "mmx/Transforms/ExecPasses.h"
#include "mmx/Transforms/MMXPasses.h"
#include "mmx/Transforms/TilePasses.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::gpu::GPUDialect,
                  mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::tensor::TensorDialect,
                  mlir::vector::VectorDialect, mmx::MMXDialect,
                  mmx::tile::TileDialect, mmx::exec::ExecDialect,
                  mmx::hopper::HopperDialect>();
  mlir::registerTransformsPasses();
  mmx::registerTileEmitterModels(registry);
  mmx::reference::registerMMXReferencePasses();
  mmx::tile::registerTileReferencePasses();
  mmx::registerConversionPasses();
  mmx::registerTargetPasses();
  mmx::registerMMXTransformsPasses();
  mmx::registerMMXToTilePasses();
  mmx::exec::registerExecTransformsPasses();
  mmx::exec::registerExecReferencePasses();
  mmx::reference::registerLoweringReferencePasses();
  mmx::tile::registerTileTransformsPasses();
  mmx::registerPipeline();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "mmx optimizer driver\n", registry));
}
