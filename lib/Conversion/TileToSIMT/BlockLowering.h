//===- BlockLowering.h - One tile kernel for a block of threads -*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the function of one tile.kernel for a GPU. A block of threads runs one
// cell of the grid. Tiles stand in shared memory, or in a slice of global
// memory where they need more than there is; every op is a loop in which the
// threads take elements in turn, and a barrier. Thread t always takes the same
// elements of tiles of equal shape, so elementwise results may replace
// operands.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILETOSIMT_BLOCKLOWERING_H
#define MMX_LIB_CONVERSION_TILETOSIMT_BLOCKLOWERING_H

#include "../TileLowering/BlockKernelCode.h"
#include "../TileLowering/Partial.h"

namespace mmx::simt {

using namespace lowering;

/// What a block may use.
struct BlockLimits {
  int64_t threads;
  /// Bytes of shared memory.
  int64_t shared;
};

class BlockLowering : public BlockKernelCode {
public:
  BlockLowering(tile::KernelOp kernel, mlir::OpBuilder &builder,
                const BlockLimits &limits);
  /// Creates the function before the kernel. `shared` names the global that
  /// stands for dynamic shared memory.
  mlir::LogicalResult run(llvm::StringRef shared);

private:
  struct TilePlace {
    TileShape shape;
    mlir::Value pointer, stride;
  };

  // Structure.
  void setUpPlaces(mlir::func::FuncOp function, llvm::StringRef shared);
  mlir::LogicalResult lowerTileOp(mlir::Operation *op) override;
  void startCarried(mlir::scf::ForOp loop, mlir::Value arg, mlir::Value init,
                    mlir::Value result) override;
  void nextCarried(mlir::scf::ForOp loop, mlir::Value arg,
                   mlir::Value value) override;

  // Threads.
  using ElementBody = llvm::function_ref<void(mlir::Value, mlir::Value)>;
  /// body(row, col) for the elements of this thread.
  void forElements(mlir::Value rows, int64_t cols, ElementBody body);
  void barrier();

  // Places.
  TilePlace &placeResult(mlir::Value tile);
  mlir::Value getScratch(int64_t offset);
  mlir::Value elementAt(const TilePlace &place, mlir::Value row,
                        mlir::Value col);
  mlir::Value loadElement(const TilePlace &place, mlir::Value row,
                          mlir::Value col);
  /// Copies rows unless both have the same place.
  void moveTile(mlir::Value from, mlir::Value to, mlir::Value rows);

  // Memory (BlockMemory.cpp).
  void copyIn(const TilePlace &to, mlir::Value row, mlir::Value col,
              const View &view, mlir::Value valid,
              llvm::function_ref<mlir::Value()> from, double fill);
  void copyOut(const TilePlace &from, mlir::Value row, mlir::Value col,
               const View &view, mlir::Value to);
  mlir::Value boundRows(mlir::Value rows, const TileShape &shape);
  void withId(mlir::Value table, mlir::Value start, mlir::Value row,
              llvm::function_ref<void(mlir::Value)> body,
              llvm::function_ref<void()> otherwise);
  void lowerLoad(tile::LoadOp op);
  void lowerGather(tile::GatherOp op);
  void lowerStore(tile::StoreOp op);
  void lowerScatter(tile::StoreOp op, const Window &window);

  // Tiles (BlockTiles.cpp).
  void lowerMma(tile::MmaOp op);
  void lowerMap(tile::MapOp op);
  void mapElement(tile::MapOp op, mlir::Value row, mlir::Value col);
  void lowerReduce(tile::ReduceOp op);
  void lowerScan(tile::ScanOp op);

  const BlockLimits limits;
  ScratchPlan plan;
  llvm::DenseMap<mlir::Value, TilePlace> tiles;
  mlir::Value thread, scratch;
};

} // namespace mmx::simt

#endif // MMX_LIB_CONVERSION_TILETOSIMT_BLOCKLOWERING_H
