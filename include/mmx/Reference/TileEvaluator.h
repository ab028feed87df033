//===- TileEvaluator.h - What tile ops compute ------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of single tile ops on values, shared by the sequential
// interpreter and by machines that run roles. Everything is computed in the
// order that docs/tile.md fixes, so results can be compared bit for bit.
// Failures are reported at the op.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_TILEEVALUATOR_H
#define MMX_REFERENCE_TILEEVALUATOR_H

#include "mmx/Dialect/Tile/TileOps.h"
#include "mmx/Reference/TileScalars.h"
#include "mmx/Reference/TileValues.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mmx::tile {

/// Where each element of a tile stands in an array: one offset in elements for
/// each element of the tile in row-major order, -1 for those that a load fills
/// and a store leaves out.
using Footprint = std::vector<int64_t>;

/// The indices of a load, gather or store, evaluated.
struct TileAddress {
  llvm::SmallVector<int64_t, 4> indices;
  /// Rows that are accessed; none for all.
  std::optional<int64_t> rows;
  /// With row ids: their array and the place of the first one.
  const HostArray *ids = nullptr;
  int64_t start = 0;
};

/// Evaluates ops. Keeps compiled map bodies, so the ops must outlive it and not
/// change. Not thread-safe.
class TileEvaluator {
public:
  /// tile.map. `scalar` gives the uniform scalars that the body uses. With
  /// `when` false the first operand is the result.
  mlir::FailureOr<llvm::SmallVector<TileValue, 1>>
  evaluateMap(MapOp op, llvm::ArrayRef<const TileValue *> operands,
              llvm::function_ref<Cell(mlir::Value)> scalar, bool when = true);

  /// tile.mma; `accumulator` may be null.
  static TileValue evaluateMma(MmaOp op, const TileValue &a, const TileValue &b,
                               const TileValue *accumulator);
  /// tile.reduce: the result and, where asked for, the positions.
  static llvm::SmallVector<TileValue, 2> evaluateReduce(ReduceOp op,
                                                        const TileValue &tile);
  static TileValue evaluateScan(ScanOp op, const TileValue &tile);
  /// tile.read and tile.put: the same elements as a value of `type`.
  static TileValue evaluateCopy(const TileValue &tile, mlir::Type type);

  /// Where the tile of a tile.load, tile.gather or tile.store stands in
  /// `array`. Row ids must be within both arrays and, in a store, unique; `op`
  /// gets the error otherwise.
  static mlir::FailureOr<Footprint> computeFootprint(
      mlir::Operation *op, const HostArray &array, llvm::ArrayRef<int64_t> dims,
      llvm::ArrayRef<int64_t> tileShape, const TileAddress &address);
  static TileValue load(const HostArray &array, const Footprint &footprint,
                        mlir::Type type, double fill);
  static void store(HostArray &array, const Footprint &footprint,
                    const TileValue &tile);

private:
  llvm::DenseMap<mlir::Operation *, ScalarProgram> programs;
};

} // namespace mmx::tile

#endif // MMX_REFERENCE_TILEEVALUATOR_H
