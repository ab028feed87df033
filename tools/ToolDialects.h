//===- ToolDialects.h - Dialects that tools read ----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Our dialects and those of MLIR that our levels are made of.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_TOOLDIALECTS_H
#define MMX_TOOLS_TOOLDIALECTS_H

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
#include "mmx/Dialect/Exec/ExecDialect.h"
#include "mmx/Dialect/Hopper/HopperDialect.h"
#include "mmx/Dialect/MMX/MMXDialect.h"
#include "mmx/Dialect/Tile/TileDialect.h"

namespace mmx {

inline void registerToolDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::gpu::GPUDialect,
                  mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::tensor::TensorDialect,
                  mlir::vector::VectorDialect, MMXDialect, tile::TileDialect,
                  exec::ExecDialect, hopper::HopperDialect>();
}

} // namespace mmx

#endif // MMX_TOOLS_TOOLDIALECTS_H
