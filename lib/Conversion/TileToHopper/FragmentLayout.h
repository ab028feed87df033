//===- FragmentLayout.h - Which way fragments and tiles lie -----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fragment of rank 2 lies in the accumulator layout of its warp group, either
// as it is or transposed: a product whose right operand is a fragment runs as
// C^T = B^T A^T, because only the left operand may stand in registers. The
// choice spreads through maps, reductions, loops and accumulators. A tile that
// is put into shared memory from a transposed fragment is stored transposed.
//
// A vector (a fragment of rank 1) lies like the rows or the columns of the
// fragments that it is used with: every thread has the values of the rows, or
// of the columns, in which it has elements.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILETOHOPPER_FRAGMENTLAYOUT_H
#define MMX_LIB_CONVERSION_TILETOHOPPER_FRAGMENTLAYOUT_H

#include "mmx/Dialect/Hopper/HopperDialect.h"
#include "mmx/Dialect/Tile/TileOps.h"
#include "mmx/Transforms/TileScheduleInfo.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mmx::hopper {

class FragmentLayout {
public:
  /// An error at the op whose operands cannot be brought together.
  static mlir::FailureOr<FragmentLayout> assign(const tile::ScheduleInfo &info);

  /// The rows of the layout run along the columns of `tile`.
  bool isTransposed(mlir::Value tile) const;
  /// How a tile of shared memory is stored.
  MatrixAttr getMatrix(mlir::Value sram) const;
  /// Rows and columns of the layout of a fragment of rank 2.
  std::pair<int64_t, int64_t> getShape(mlir::Value fragment) const;
  /// A vector has a value for each row of the layout, else for each column.
  bool runsAlongRows(mlir::Value vector) const;
  /// Elements of a fragment that a thread of the warp group has.
  int64_t getElements(mlir::Value fragment) const;
  /// Warps share what a reduction combines: it is over rows of the layout.
  bool isAcrossWarps(tile::ReduceOp op) const;

private:
  void visit(mlir::Operation *op);
  void unite(mlir::Value a, mlir::Value b);
  mlir::LogicalResult fix(mlir::Value fragment, bool transposed,
                          mlir::Operation *op);

  llvm::EquivalenceClasses<mlir::Value> classes;
  llvm::DenseMap<mlir::Value, bool> fixed;
  llvm::SmallVector<std::tuple<mlir::Value, bool, mlir::Operation *>> wishes;
};

/// The matrix of a tile of rank 2 with the widest swizzle that its rows allow;
/// none if they are no multiple of 32 bytes.
MatrixAttr getMatrix(mlir::MLIRContext *context, int64_t rows, int64_t cols,
                     mlir::Type element);

} // namespace mmx::hopper

#endif // MMX_LIB_CONVERSION_TILETOHOPPER_FRAGMENTLAYOUT_H
