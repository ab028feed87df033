//===- TileValues.h - Scalars, tiles and arrays of interpreters -*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the interpreters of the tile level compute with. Values are plain data:
// copying one copies its elements, and two threads may read the same value.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_TILEVALUES_H
#define MMX_REFERENCE_TILEVALUES_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace mmx::tile {

/// The element types of the level. F64, I64 and Index occur as scalars only.
enum class ElementKind : uint8_t { F32, F64, BF16, I1, I8, I32, I64, Index };

/// The kind of `type`, or none where the level does not know the type.
std::optional<ElementKind> getElementKind(mlir::Type type);
bool isFloatKind(ElementKind kind);
/// Bytes of an element in a host array.
unsigned getByteSize(ElementKind kind);
/// Bits of an integer kind (64 for Index).
unsigned getBitWidth(ElementKind kind);

/// The nearest bf16 number, ties to even; NaN stays NaN.
float roundToBF16(float value);

/// One scalar. F32 and BF16 (already rounded) are in `f`, F64 in `d`, integers
/// in `i`: sign-extended, but i1 as 0 or 1.
union Cell {
  float f;
  double d;
  int64_t i;
};

/// `value` brought to the width of `kind`, as Cell wants it.
int64_t wrapInteger(int64_t value, ElementKind kind);

/// The same bits, as elements of `kind`. Zeros of different signs differ, two
/// NaNs are the same only with the same payload.
bool equalBits(Cell lhs, Cell rhs, ElementKind kind);

/// A tile in shared memory or in registers: row-major elements. `along` is that
/// of a fragment of rank 1, else -1.
struct TileValue {
  llvm::SmallVector<int64_t, 2> shape;
  int64_t along = -1;
  ElementKind kind = ElementKind::F32;
  std::vector<Cell> cells;

  TileValue() = default;
  TileValue(llvm::ArrayRef<int64_t> shape, ElementKind kind,
            int64_t along = -1);
  /// A tile of the type of `type`, which is a !tile.sram or !tile.frag.
  explicit TileValue(mlir::Type type);

  int64_t getNumElements() const { return cells.size(); }
  /// Rows and columns of the tile as maps see it: a rank-1 tile along 1 is one
  /// row, any other rank-1 tile is one column.
  int64_t getRows() const;
  int64_t getColumns() const;
};

bool equalBits(const TileValue &lhs, const TileValue &rhs);

/// An array in host memory with the layout of a !tile.view: row-major, or with
/// dimension `along` in panels of `panel` (see docs/tile.md, "Panels").
class HostArray {
public:
  /// An array of zeros that owns its memory.
  HostArray(llvm::ArrayRef<int64_t> shape, ElementKind kind, int64_t panel = 0,
            int64_t along = 0);
  /// An array over `data`, which must outlive it and hold getStorageSize()
  /// bytes.
  HostArray(void *data, llvm::ArrayRef<int64_t> shape, ElementKind kind,
            int64_t panel = 0, int64_t along = 0);
  HostArray(HostArray &&) = default;
  HostArray &operator=(HostArray &&) = default;

  /// An owning copy of the contents.
  HostArray clone() const;

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  ElementKind getKind() const { return kind; }
  int64_t getPanel() const { return panel; }
  int64_t getAlong() const { return along; }
  uint8_t *getData() const { return data; }
  /// Elements within the extents.
  int64_t getNumElements() const;
  /// Elements in memory, the padding of panels included.
  int64_t getNumStored() const { return numStored; }
  int64_t getStorageSize() const { return numStored * getByteSize(kind); }

  /// Where the element at `indices` stands, in elements; -1 where an index is
  /// outside the extents.
  int64_t getOffset(llvm::ArrayRef<int64_t> indices) const;
  /// The inverse of getOffset, for messages.
  llvm::SmallVector<int64_t> getIndices(int64_t offset) const;

  Cell load(int64_t offset) const;
  /// Writes `value` of kind `from`, rounding a float to the kind of the array.
  void store(int64_t offset, Cell value, ElementKind from);

  /// Sets every byte of the storage.
  void fillBytes(uint8_t byte);

private:
  void computeLayout();

  llvm::SmallVector<int64_t> shape, strides;
  ElementKind kind;
  int64_t panel, along, numStored = 0;
  std::vector<uint8_t> owned;
  uint8_t *data = nullptr;
};

} // namespace mmx::tile

#endif // MMX_REFERENCE_TILEVALUES_H
