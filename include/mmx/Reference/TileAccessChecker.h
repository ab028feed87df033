//===- TileAccessChecker.h - Races between cells ----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_TILEACCESSCHECKER_H
#define MMX_REFERENCE_TILEACCESSCHECKER_H

#include "mmx/Reference/TileEvaluator.h"

namespace mmx::tile {

/// Watches the accesses of one run of a kernel for conflicts that a sequential
/// run hides (docs/tile.md, T50 and T51). The verdict does not depend on the
/// order of the cells. Arrays over one address are one array; they must have
/// elements of one size.
class TileAccessChecker {
public:
  /// Which access: the cell, and the loops around the op with the iteration
  /// each is in, outermost first.
  struct Context {
    int64_t cell;
    llvm::SmallVector<std::pair<mlir::Operation *, int64_t>, 2> loops;
  };

  /// Records an access of `footprint` in `array`, an error at `op` if it
  /// conflicts with an earlier one. With `inplace` iterations must own what
  /// they touch.
  mlir::LogicalResult access(mlir::Operation *op, const HostArray &array,
                             const Footprint &footprint, bool isStore,
                             bool inplace, const Context &context);

private:
  /// What was done to an element. Contexts are indices into `contexts`.
  struct Shadow {
    int32_t writer = -1, reader = -1;
    int32_t firstLoad = -1, lastLoad = -1, lastStore = -1;
  };
  mlir::LogicalResult checkCells(mlir::Operation *op, const HostArray &array,
                                 int64_t offset, bool isStore, int64_t cell,
                                 Shadow &shadow);
  mlir::LogicalResult checkIterations(mlir::Operation *op,
                                      const HostArray &array, int64_t offset,
                                      bool isStore, Shadow &shadow);

  llvm::DenseMap<const void *, std::vector<Shadow>> shadows;
  std::vector<Context> contexts;
};

} // namespace mmx::tile

#endif // MMX_REFERENCE_TILEACCESSCHECKER_H
