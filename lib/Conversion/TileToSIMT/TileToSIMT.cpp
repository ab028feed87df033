//===- TileToSIMT.cpp - Tile kernels for any GPU --------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../TileLowering/LowerModule.h"
#include "BlockLowering.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"
#include "mmx/Conversion/Passes.h"

namespace mmx {
#define GEN_PASS_DEF_CONVERTTILETOSIMT
#include "mmx/Conversion/Passes.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

namespace {

struct ConvertTileToSIMT
    : public mmx::impl::ConvertTileToSIMTBase<ConvertTileToSIMT> {
  using ConvertTileToSIMTBase::ConvertTileToSIMTBase;

  void runOnOperation() override {
    if (threads < 1 || threads > 1024) {
      getOperation().emitError("expected 1 to 1024 threads, but got ")
          << threads.getValue();
      return signalPassFailure();
    }
    StringRef sharedName = lowering::getSharedMemory(getOperation());
    auto lower = [&](tile::KernelOp kernel, OpBuilder &builder) {
      return simt::BlockLowering(kernel, builder, {threads, shared})
          .run(sharedName);
    };
    if (failed(lowering::lowerKernels(getOperation(), lower)))
      signalPassFailure();
  }
};

} // namespace
