//===- KernelCode.h - What every lowering of a kernel shares ----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Base of the classes that write one tile.kernel as a function of loops and
// scalar or vector arithmetic: views and their addresses, uniform scalars, the
// walk over ops, loops. How a tile is held and computed is up to the subclass.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILELOWERING_KERNELCODE_H
#define MMX_LIB_CONVERSION_TILELOWERING_KERNELCODE_H

#include "Emitter.h"
#include "RowDemand.h"
#include "ScratchPlan.h"
#include "mlir/IR/IRMapping.h"

namespace mmx::lowering {

/// A view: strides count elements; that of the dimension in panels is from
/// panel to panel.
struct View {
  mlir::Value base;
  llvm::SmallVector<mlir::Value> extents, strides;
  mlir::Type element;
  int64_t panel = 0, along = 0;
  bool constant = false;
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

/// Makes a kernel ready for a lowering to code: carried fragments that become
/// one another are copied, and scalars stand before the tiles they bound.
void prepareKernel(tile::KernelOp kernel);

class KernelCode {
public:
  virtual ~KernelCode() = default;

protected:
  KernelCode(tile::KernelOp kernel, mlir::OpBuilder &builder, int64_t width);

  // Structure of the kernel.
  /// Maps the parameters: `base` gives the pointer of view i, `extent` the i64
  /// of extent j. Extents of all views come first, then index parameters.
  mlir::LogicalResult
  setUpParameters(llvm::function_ref<mlir::Value(int64_t)> base,
                  llvm::function_ref<mlir::Value(int64_t)> extent);
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp loop);
  mlir::Value lookup(mlir::Value scalar) { return mapping.lookup(scalar); }

  /// Lowers an op on tiles.
  virtual mlir::LogicalResult lowerTileOp(mlir::Operation *op) = 0;
  /// Brings `init` to the place of the carried fragment `arg` of `loop`, which
  /// is that of `result` too.
  virtual void startCarried(mlir::scf::ForOp loop, mlir::Value arg,
                            mlir::Value init, mlir::Value result) = 0;
  /// Brings the yielded `value` to the place of `arg`.
  virtual void nextCarried(mlir::scf::ForOp loop, mlir::Value arg,
                           mlir::Value value) = 0;
  /// `tile`, a carried fragment or the result of a loop, has its value.
  virtual void finishCarried(mlir::Value tile) {}

  // Views.
  Window getWindow(mlir::Value view, mlir::ValueRange indices,
                   llvm::ArrayRef<int64_t> dims);
  mlir::Value addressOf(const View &view, llvm::ArrayRef<mlir::Value> indices);
  /// Address of element (row, col) of a window, counted from its start.
  mlir::Value addressIn(const Window &window, mlir::Value row, mlir::Value col);
  mlir::Value isInside(const View &view, int64_t dim, mlir::Value index);
  /// Element (row, col) of a window lies within the view.
  mlir::Value isInside(const Window &window, mlir::Value row, mlir::Value col);
  /// Elements from `start` to the end of a dimension, at most `limit`.
  mlir::Value countInside(const View &view, int64_t dim, mlir::Value start,
                          int64_t limit);
  /// Rows of `tile` that are needed, as known at `at`.
  mlir::Value countRows(mlir::Value tile, mlir::Operation *at);

  /// Gives the result of a tile.read or tile.put the place of its operand.
  template <typename Places>
  static mlir::LogicalResult shareOperandPlace(Places &places,
                                               mlir::Operation *op) {
    auto place = places.at(op->getOperand(0));
    place.shape = getTileShape(op->getResult(0).getType());
    places[op->getResult(0)] = place;
    return mlir::success();
  }

  tile::KernelOp kernel;
  Emitter e;
  RowDemand demand;
  mlir::IRMapping mapping;
  llvm::DenseMap<mlir::Value, View> views;

private:
  void setUpView(mlir::Value param, mlir::Value base,
                 llvm::function_ref<mlir::Value(int64_t)> extent,
                 int64_t &nextExtent);
  mlir::LogicalResult lowerDim(tile::DimOp op);
  mlir::LogicalResult lowerTable(tile::TableOp op);
};

} // namespace mmx::lowering

#endif // MMX_LIB_CONVERSION_TILELOWERING_KERNELCODE_H
