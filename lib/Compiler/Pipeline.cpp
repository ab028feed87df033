//===- Pipeline.cpp - The passes from mmx to host programs ----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Compiler/Pipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mmx/Conversion/MMXToTile/MMXToTile.h"
#include "mmx/Conversion/Passes.h"
#include "mmx/Dialect/Exec/ExecOps.h"
#include "mmx/Dialect/MMX/MMXDialect.h"
#include "mmx/Dialect/Tile/TileDialect.h"
#include "mmx/Target/CPUCodegen.h"
#include "mmx/Target/Passes.h"
#include "mmx/Transforms/ExecPasses.h"
#include "mmx/Transforms/MMXPasses.h"
#include "targets.h"

using namespace mlir;
using namespace mmx;

/// Tensor level: functions of mmx ops, one at a time.
static void addTensorPasses(OpPassManager &manager,
                            const PipelineOptions &options) {
  constexpr int64_t defaultBlock = 64;
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(createMMXDecompose());
  MMXBlockLightningOptions blocking;
  blocking.block = options.block > 0 ? int64_t(options.block) : defaultBlock;
  function.addPass(createMMXBlockLightning(blocking));
  function.addPass(createMMXFuseLightning());
  if (options.stopAfter == Level::Blocked)
    return;
  function.addPass(createMMXFuse());
  if (options.stopAfter == Level::Fused)
    return;
  MMXChooseTilesOptions tiles;
  // Tiles are those of any CPU; only the code differs with its features.
  tiles.target = options.target;
  if (StringRef(tiles.target).starts_with("cpu"))
    tiles.target = "cpu";
  tiles.explain = options.explain;
  function.addPass(createMMXChooseTiles(tiles));
}

/// Host level: programs of launches on planned buffers.
static void addHostPasses(OpPassManager &manager) {
  manager.addPass(createConvertMMXToExec());
  OpPassManager &program = manager.nest<exec::ProgramOp>();
  program.addPass(exec::createExecEraseDeadLaunches());
  program.addPass(exec::createExecPlanBuffers());
}

/// GPUs read weights and caches as they stand in memory.
static bool isGPU(const PipelineOptions &options) {
  const Target *target = findTarget(options.target.getValue());
  return target && !target->isCPU();
}

void mmx::buildPipeline(OpPassManager &manager,
                        const PipelineOptions &options) {
  Level last = options.stopAfter;
  if (last == Level::MMX)
    return;
  addTensorPasses(manager, options);
  if (last < Level::Tile)
    return;
  ConvertMMXToTileOptions tile;
  if (isGPU(options))
    tile.panel = 0;
  manager.addPass(createConvertMMXToTile(tile));
  if (last == Level::Tile)
    return;
  addHostPasses(manager);
  if (last == Level::Exec)
    return;
  if (isGPU(options)) {
    if (options.explain) {
      TileExplainOptions explain;
      explain.target = options.target;
      manager.addPass(createTileExplain(explain));
    }
    // Kernels with a schedule; the others are left to the second.
    manager.addPass(createConvertTileToHopper());
    manager.addPass(createConvertTileToSIMT());
    return;
  }
  ConvertTileToCPUOptions cpu;
  cpu.lanes = options.lanes;
  manager.addPass(createConvertTileToCPU(cpu));
}

void mmx::registerPipeline() {
  PassPipelineRegistration<PipelineOptions>(
      "mmx-pipeline", "lowers an imported model, level by level",
      buildPipeline);
}

void mmx::registerPipelineDialects(DialectRegistry &registry) {
  registry.insert<func::FuncDialect, MMXDialect, tile::TileDialect,
                  exec::ExecDialect>();
  registerTileEmitterModels(registry);
  registerCodegenDialects(registry);
}
