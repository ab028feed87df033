//===- RowDemand.h - How many rows of a tile anybody needs ------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks from the stores of a kernel, which drop rows, to the tiles that the
// stored ones are computed from, row by row. A step with one token then
// computes one row of a tile of 64.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILELOWERING_ROWDEMAND_H
#define MMX_LIB_CONVERSION_TILELOWERING_ROWDEMAND_H

#include "mlir/IR/Dominance.h"
#include "mmx/Dialect/Tile/TileOps.h"

namespace mmx::lowering {

/// Rows from the smaller of `rows` and `extent of view dim - start` on are not
/// needed. Either part may be absent; values are of the tile program.
struct RowBound {
  mlir::Value rows;
  mlir::Value view, start;
  int64_t dim = 0;

  bool operator==(const RowBound &) const = default;
};

class RowDemand {
public:
  explicit RowDemand(tile::KernelOp kernel);

  /// The bounds of `tile` whose largest is the number of rows needed, all
  /// available where `at` stands. None: every row is needed.
  llvm::ArrayRef<RowBound> getBounds(mlir::Value tile,
                                     mlir::Operation *at) const;

private:
  struct Demand {
    bool all = false;
    llvm::SmallVector<RowBound, 2> bounds;
  };
  bool need(mlir::Value tile, const Demand &demand);
  bool needAll(mlir::Value tile);
  bool visit(mlir::Operation *op);
  bool visitBlock(mlir::Block &block);

  llvm::DenseMap<mlir::Value, Demand> demands;
  mlir::DominanceInfo dominance;
};

/// Moves the scalar ops of a kernel, which are pure, up to their operands, so
/// that bounds stand before the tiles that they bound.
void hoistScalars(tile::KernelOp kernel);

} // namespace mmx::lowering

#endif // MMX_LIB_CONVERSION_TILELOWERING_ROWDEMAND_H
