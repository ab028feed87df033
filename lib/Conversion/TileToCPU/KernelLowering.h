//===- KernelLowering.h - One tile kernel to vector code --------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the function of one tile.kernel. Ops are visited in order; each
// becomes loops over vector registers on the places of its tiles.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILETOCPU_KERNELLOWERING_H
#define MMX_LIB_CONVERSION_TILETOCPU_KERNELLOWERING_H

#include "../TileLowering/KernelCode.h"
#include "../TileLowering/Partial.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mmx::cpu {

using namespace lowering;

/// Element (i, j) at pointer + i * stride + j.
struct RowForm {
  mlir::Value pointer, stride;
};

/// Element (i, j) at pointer + i / 16 * panelStride + j * stride + i % 16.
struct PanelForm {
  mlir::Value pointer, panelStride, stride;
};

struct TilePlace {
  TileShape shape;
  /// The rows may stand in a view instead of the scratch area.
  bool mayBeView = false;
  std::optional<RowForm> rows;
  std::optional<PanelForm> panels;
};

class KernelLowering : public KernelCode {
public:
  KernelLowering(tile::KernelOp kernel, mlir::OpBuilder &builder,
                 int64_t width);
  /// Creates the function before the kernel.
  mlir::LogicalResult run();

private:
  mlir::LogicalResult lowerTileOp(mlir::Operation *op) override;
  void startCarried(mlir::scf::ForOp loop, mlir::Value arg, mlir::Value init,
                    mlir::Value result) override;
  void nextCarried(mlir::scf::ForOp loop, mlir::Value arg,
                   mlir::Value value) override;
  void finishCarried(mlir::Value tile) override { completeForms(tile); }

  // Places.
  RowForm getRowPlace(mlir::Value tile);
  PanelForm getPanelPlace(mlir::Value tile);
  mlir::Value getScratch(int64_t offset);
  /// The place of a result of the op being lowered.
  TilePlace &placeResult(mlir::Value tile);
  /// Writes the panels of a tile from its rows, if anybody wants them.
  void completeForms(mlir::Value tile);
  /// Brings `from` to the place of `to`, unless it is there.
  void moveTile(mlir::Value from, mlir::Value to, mlir::Value rows);
  /// Address of element (row, col).
  mlir::Value elementAt(const TilePlace &place, mlir::Value row,
                        mlir::Value col);

  // Views (LowerMemory.cpp).
  mlir::LogicalResult lowerLoad(tile::LoadOp op);
  mlir::LogicalResult lowerGather(tile::GatherOp op);
  mlir::LogicalResult lowerStore(tile::StoreOp op);
  void lowerScatter(tile::StoreOp op, const Window &window, mlir::Value rows);
  mlir::Value
  forEachId(mlir::Value table, mlir::Value first, mlir::Value rows,
            int64_t limit,
            llvm::function_ref<void(mlir::Value, mlir::Value)> body);
  void loadRows(tile::LoadOp op, const Window &window, TilePlace &place,
                mlir::Value needed, mlir::Value valid);
  PanelForm loadPanelForm(tile::LoadOp op, const Window &window,
                          mlir::Value valid);
  void copyPanels(tile::LoadOp op, const Window &window, const PanelForm &to,
                  mlir::Value valid);
  void copyPanelElements(tile::LoadOp op, const Window &window,
                         const PanelForm &to, mlir::Value valid);
  void copyIn(const Window &window, const TilePlace &to, mlir::Value row,
              mlir::Value viewRow, mlir::Value valid, double fill);
  void fillRow(const TilePlace &to, mlir::Value row, double fill);
  void copyOut(const Window &window, const TilePlace &from, mlir::Value row,
               mlir::Value viewRow);
  mlir::Value isFullRow(const Window &window, int64_t cols);

  // Products (LowerMma.cpp).
  struct Product;
  mlir::LogicalResult lowerMma(tile::MmaOp op);
  void multiplyColumns(const Product &product, mlir::Value firstVector,
                       int64_t vectors);
  void multiplyBlock(const Product &product, mlir::Value row, int64_t rows,
                     mlir::Value firstVector, int64_t vectors);

  // Elementwise (LowerMap.cpp).
  mlir::LogicalResult lowerMap(tile::MapOp op);
  mlir::LogicalResult mapVector(tile::MapOp op, mlir::Value row,
                                mlir::Value col);
  mlir::LogicalResult mapBlock(mlir::Block &block, mlir::IRMapping &values);
  mlir::LogicalResult mapLoop(mlir::scf::ForOp loop, mlir::IRMapping &values);
  mlir::Value toVector(mlir::Value value);
  mlir::Value loadOperand(const TilePlace &place, int64_t resultRank,
                          mlir::Value row, mlir::Value col);

  // Along a dimension (LowerReduce.cpp).
  mlir::LogicalResult lowerReduce(tile::ReduceOp op);
  mlir::LogicalResult lowerScan(tile::ScanOp op);
  void reduceRows(tile::ReduceOp op);
  void reduceCols(tile::ReduceOp op);
  Partial foldVectors(tile::ReduceOp op, int64_t count,
                      llvm::function_ref<Partial(mlir::Value)> source,
                      mlir::Value partials);
  Partial foldLanes(tile::ReduceOp op, Partial vector);

  ScratchPlan plan;
  llvm::DenseMap<mlir::Value, TilePlace> tiles;
  mlir::Value scratch;
};

} // namespace mmx::cpu

#endif // MMX_LIB_CONVERSION_TILETOCPU_KERNELLOWERING_H
