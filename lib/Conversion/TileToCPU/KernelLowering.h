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

#include "Emitter.h"
#include "RowDemand.h"
#include "ScratchPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace mmx::cpu {

/// A view: strides count elements; that of the dimension in panels is from
/// panel to panel.
struct View {
  mlir::Value base;
  llvm::SmallVector<mlir::Value> extents, strides;
  mlir::Type element;
  int64_t panel = 0, along = 0;
  bool constant = false;
};

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

/// The part of a view that a load or a store touches.
struct Window {
  const View *view;
  /// One i64 per dimension of the view.
  llvm::SmallVector<mlir::Value> start;
  /// Dimension of the view for rows and columns; a tile of rank 1 has columns
  /// only.
  int64_t rowDim = -1, colDim = -1;
  /// The coordinates of the other dimensions lie within the view.
  mlir::Value inside;
};

class KernelLowering {
public:
  KernelLowering(tile::KernelOp kernel, mlir::OpBuilder &builder,
                 int64_t width);
  /// Creates the function before the kernel.
  mlir::LogicalResult run();

private:
  // Structure of the kernel.
  mlir::LogicalResult setUpParameters(mlir::func::FuncOp function);
  void setUpView(mlir::Value param, mlir::Value buffers, mlir::Value extents,
                 int64_t index, int64_t &nextExtent);
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp loop);
  mlir::Value lookup(mlir::Value scalar) { return mapping.lookup(scalar); }

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
  /// Rows of `tile` that are needed, as known at `at`.
  mlir::Value countRows(mlir::Value tile, mlir::Operation *at);
  /// Elements from `start` to the end of a dimension, at most `limit`.
  mlir::Value countInside(const View &view, int64_t dim, mlir::Value start,
                          int64_t limit);
  /// Address of element (row, col).
  mlir::Value elementAt(const TilePlace &place, mlir::Value row,
                        mlir::Value col);

  // Views (LowerMemory.cpp).
  Window getWindow(mlir::Value view, mlir::ValueRange indices,
                   llvm::ArrayRef<int64_t> dims);
  mlir::Value addressOf(const View &view, llvm::ArrayRef<mlir::Value> indices);
  mlir::Value addressIn(const Window &window, mlir::Value row, mlir::Value col);
  mlir::Value isInside(const View &view, int64_t dim, mlir::Value index);
  mlir::LogicalResult lowerDim(tile::DimOp op);
  mlir::LogicalResult lowerTable(tile::TableOp op);
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
  struct Partial;
  mlir::LogicalResult lowerReduce(tile::ReduceOp op);
  mlir::LogicalResult lowerScan(tile::ScanOp op);
  void reduceRows(tile::ReduceOp op);
  void reduceCols(tile::ReduceOp op);
  Partial combine(tile::ReduceOp op, Partial a, Partial b);
  Partial foldVectors(tile::ReduceOp op, int64_t count,
                      llvm::function_ref<Partial(mlir::Value)> source,
                      mlir::Value partials);
  Partial foldLanes(tile::ReduceOp op, Partial vector);

  tile::KernelOp kernel;
  Emitter e;
  ScratchPlan plan;
  RowDemand demand;
  mlir::IRMapping mapping;
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, TilePlace> tiles;
  mlir::Value scratch;
};

} // namespace mmx::cpu

#endif // MMX_LIB_CONVERSION_TILETOCPU_KERNELLOWERING_H
