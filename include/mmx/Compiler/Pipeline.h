//===- Pipeline.h - The passes from mmx to host programs --------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order in which an imported module is lowered, as a named pipeline:
//
//   mmx-opt model.mlir --mmx-pipeline='target=cpu stop-after=tile'
//
//===----------------------------------------------------------------------===//

#ifndef MMX_COMPILER_PIPELINE_H
#define MMX_COMPILER_PIPELINE_H

#include "mlir/Pass/PassOptions.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace mmx {

/// Where the pipeline can stop, in order.
enum class Level {
  MMX,     ///< the module as imported
  Blocked, ///< lightning attention as loops over blocks
  Fused,   ///< ops grouped into mmx.kernel
  Tiles,   ///< kernels with their tile sizes
  Tile,    ///< kernels as tile programs
  Exec,    ///< host programs with planned buffers
  LLVM,    ///< kernels as functions ready for code generation
};

/// What --mmx-pipeline understands.
struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("machine to compile for"),
                             llvm::cl::init("cpu")};
  Option<int64_t> block{*this, "block",
                        llvm::cl::desc("tokens of a lightning block; 0: 64"),
                        llvm::cl::init(0)};
  Option<Level> stopAfter{
      *this, "stop-after", llvm::cl::desc("last level"),
      llvm::cl::init(Level::LLVM),
      llvm::cl::values(
          clEnumValN(Level::MMX, "mmx", "the imported model"),
          clEnumValN(Level::Blocked, "blocked", "lightning loops over blocks"),
          clEnumValN(Level::Fused, "fused", "ops grouped into kernels"),
          clEnumValN(Level::Tiles, "tiles", "kernels with tile sizes"),
          clEnumValN(Level::Tile, "tile", "kernels as tile programs"),
          clEnumValN(Level::Exec, "exec", "host programs"),
          clEnumValN(Level::LLVM, "llvm", "kernels ready for LLVM"))};
  Option<int64_t> lanes{
      *this, "lanes",
      llvm::cl::desc("f32 elements of a vector register of the CPU"),
      llvm::cl::init(16)};
  Option<bool> explain{*this, "explain",
                       llvm::cl::desc("say why tile sizes were chosen"),
                       llvm::cl::init(false)};
};

/// Adds the passes up to `options.stopAfter`.
void buildPipeline(mlir::OpPassManager &manager,
                   const PipelineOptions &options);

/// Makes --mmx-pipeline known to mmx-opt.
void registerPipeline();

/// The dialects and interface models that imported modules and the pipeline
/// need.
void registerPipelineDialects(mlir::DialectRegistry &registry);

} // namespace mmx

#endif // MMX_COMPILER_PIPELINE_H
