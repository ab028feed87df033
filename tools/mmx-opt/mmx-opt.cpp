//===- mmx-opt.cpp - The optimizer driver ---------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/ToolDialects.h"
#include "tools/ToolVersion.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "mmx/Compiler/Pipeline.h"
#include "mmx/Conversion/MMXToTile/MMXToTile.h"
#include "mmx/Conversion/Passes.h"
#include "mmx/Reference/ExecPasses.h"
#include "mmx/Reference/LoweringPasses.h"
#include "mmx/Reference/Passes.h"
#include "mmx/Reference/TilePasses.h"
#include "mmx/Target/Passes.h"
#include "mmx/Transforms/ExecPasses.h"
#include "mmx/Transforms/MMXPasses.h"
#include "mmx/Transforms/TilePasses.h"
#include "llvm/Support/CommandLine.h"

/// Leaves out of --help what LLVM's code generators have registered: hundreds
/// of options, among which passes are not found.
static void hideGeneratorOptions() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    option->setHiddenFlag(llvm::cl::Hidden);
}

int main(int argc, char **argv) {
  hideGeneratorOptions();
  llvm::cl::SetVersionPrinter(mmx::printToolVersion);
  mlir::DialectRegistry registry;
  mmx::registerToolDialects(registry);
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
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "runs passes on modules of mmx, tile, exec and hopper ops\n",
      registry));
}
