//===- ScratchPlan.h - Where the tiles of a kernel stand --------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives every tile of a kernel a place in the scratch area of the caller. Two
// tiles share a place if they are never needed at the same time; accumulators,
// loop-carried fragments and elementwise results take the place of the operand
// that they replace.
//
// A tile stands in one or both of two forms:
//   rows    row-major, rows padded;
//   panels  groups of 16 rows, the row within the group innermost: the form of
//           an operand that is read along its rows (B of a transposed mma),
//           where the layout has panels.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILELOWERING_SCRATCHPLAN_H
#define MMX_LIB_CONVERSION_TILELOWERING_SCRATCHPLAN_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mmx/Dialect/Tile/TileOps.h"

namespace mmx::lowering {

/// Rows of a panel.
inline constexpr int64_t panelRows = 16;

/// Shape of a tile. A tile of rank 1 is one row.
struct TileShape {
  int64_t rows, cols;
  mlir::Type element;
  /// 1 or 2.
  int64_t rank;
  /// Dimension that a fragment of rank 1 runs along, or -1.
  int64_t along;

  bool operator==(const TileShape &) const = default;
};
bool isTile(mlir::Type type);
TileShape getTileShape(mlir::Type type);

/// True if `load` reads a view in panels along the first dimension of the tile.
bool loadsPanels(tile::LoadOp load);

/// How the elements of a tile follow one another.
struct TileLayout {
  /// Rows are padded to a multiple of this many elements.
  int64_t width = 1;
  /// Operands read along their rows stand in panels.
  bool panels = true;
  /// Rows start in different banks of shared memory: an odd number of words
  /// apart.
  bool oddWords = false;

  /// Elements from one row to the next.
  int64_t getRowStride(const TileShape &shape) const;
};

class ScratchPlan {
public:
  ScratchPlan(tile::KernelOp kernel, TileLayout layout);

  bool needsRows(mlir::Value tile) const { return rowUsers.contains(tile); }
  bool needsPanels(mlir::Value tile) const { return panelUsers.contains(tile); }
  /// Bytes from the start of the scratch area.
  int64_t getRowsOffset(mlir::Value tile) const;
  /// Elements from one row to the next in the row form.
  int64_t getRowStride(mlir::Value tile) const {
    return layout.getRowStride(getTileShape(tile.getType()));
  }
  int64_t getPanelsOffset(mlir::Value tile) const;
  /// Room for as many elements as the operand of a reduction has, and for as
  /// many i32 positions after them if it gives positions.
  int64_t getTemporaryOffset(mlir::Operation *op) const;
  /// True if the row forms of two tiles share their place.
  bool sharePlace(mlir::Value a, mlir::Value b) const;
  /// Size of the scratch area.
  int64_t getBytes() const { return bytes; }

private:
  /// Program points, both included: an op at position p reads at 2p the
  /// operands that a result may replace, the others until 2p + 1, and writes
  /// at 2p + 1.
  struct Range {
    int64_t first, last;
  };
  struct Place {
    int64_t bytes;
    llvm::SmallVector<Range> ranges;
    int64_t offset = -1;
  };

  void numberOps(mlir::Block &block);
  void findForms(mlir::Block &block);
  void addTile(mlir::Value tile);
  void addPlaces(mlir::Block &block);
  void shareForced(mlir::Block &block);
  void shareLoops(mlir::Block &block);
  void shareElementwise(mlir::Block &block);
  /// At point `meet` both may be needed: there the one becomes the other.
  void tryShare(mlir::Value a, mlir::Value b, int64_t meet = -1);
  void unite(unsigned a, unsigned b);
  void assignOffsets();
  unsigned find(unsigned place) const;
  int64_t getDefinition(mlir::Value value) const;
  int64_t getUse(mlir::OpOperand &use) const;
  int64_t getLastUse(mlir::Value value) const;

  TileLayout layout;
  int64_t bytes = 0;
  int64_t nextPosition = 0;
  llvm::DenseMap<mlir::Operation *, int64_t> positions, ends;
  llvm::DenseSet<mlir::Value> rowUsers, panelUsers;
  llvm::SmallVector<Place> places;
  llvm::SmallVector<unsigned> leaders;
  llvm::DenseMap<mlir::Value, unsigned> rowPlaces, panelPlaces;
  llvm::DenseMap<mlir::Operation *, unsigned> temporaries;
};

} // namespace mmx::lowering

#endif // MMX_LIB_CONVERSION_TILELOWERING_SCRATCHPLAN_H
