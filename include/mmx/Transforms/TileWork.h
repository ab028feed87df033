//===- TileWork.h - What a kernel moves and computes ------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the bytes, products and iterations of a tile.kernel on given extents,
// from the program alone. What depends on the contents of tables is estimated:
// loops between two entries of a table share the rows that they index evenly
// among the cells, other loops run over all of them. Reads the IR, changes
// nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TRANSFORMS_TILEWORK_H
#define MMX_TRANSFORMS_TILEWORK_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mmx/Dialect/Tile/TileOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mmx::tile {

class KernelWork {
public:
  /// `extents` are the symbols of the grid: dynamic extents of the views in
  /// order, then index parameters. A wrong number of them is an error.
  static mlir::FailureOr<KernelWork> measure(KernelOp kernel,
                                             llvm::ArrayRef<int64_t> extents);

  /// Cells along each dimension of the grid, at least 0.
  llvm::SmallVector<int64_t, 3> grid;
  /// Cells that find rows to work on; the grid may be larger.
  double activeCells = 0;
  /// Bytes of views that are read or written, each byte once, by all cells.
  double distinctBytes = 0;
  /// Bytes of all loads and stores; what is multicast in a cluster counts once.
  double movedBytes = 0;
  /// Multiplications and additions of products, whole tiles.
  double flops = 0;

  int64_t getCells() const;
  /// How often `op` runs in a cell, in the mean over those.
  double getRuns(mlir::Operation *op) const;
  double getIterations(mlir::scf::ForOp loop) const {
    return iterations.lookup(loop);
  }
  /// Rows of a tile that views have, at most: its own or fewer.
  int64_t getRows(mlir::Value tile) const;
  /// Bytes of one run of a load, gather or store.
  int64_t getBytes(mlir::Operation *access) const;
  /// Cells read `view` twice and more, so the cache that they share has it.
  bool isReread(mlir::Value view) const { return reread.contains(view); }

private:
  explicit KernelWork(KernelOp kernel) : kernel(kernel) {}

  mlir::LogicalResult setExtents(llvm::ArrayRef<int64_t> symbols);
  void countIterations();
  void countWork();

  KernelOp kernel;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> extents;
  llvm::DenseMap<mlir::Value, int64_t> scalars; ///< index parameters
  llvm::DenseMap<mlir::Operation *, double> iterations;
  llvm::DenseSet<mlir::Value> reread;
};

} // namespace mmx::tile

#endif // MMX_TRANSFORMS_TILEWORK_H
