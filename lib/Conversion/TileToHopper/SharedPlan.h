//===- SharedPlan.h - Slots and barriers in shared memory -------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILETOHOPPER_SHAREDPLAN_H
#define MMX_LIB_CONVERSION_TILETOHOPPER_SHAREDPLAN_H

#include "FragmentLayout.h"

namespace mmx::hopper {

/// Shared memory of a block in bytes: the slots of every ring, tile by tile,
/// each at a multiple of 1024 (what the widest swizzle needs), then a full and
/// an empty barrier for every slot, then what warps of an instance put together
/// when they reduce rows.
class SharedPlan {
public:
  SharedPlan(const tile::ScheduleInfo &info, const FragmentLayout &layout);

  int64_t getBytes() const { return bytes; }
  /// Start of slot 0 and distance of slots.
  int64_t getRing(unsigned ring) const { return rings[ring].offset; }
  int64_t getSlotBytes(unsigned ring) const { return rings[ring].slot; }
  /// Of the tile that `push` fills, from the start of its slot.
  int64_t getField(mlir::Operation *push) const { return fields.lookup(push); }
  /// Full barrier of slot 0; those of other slots follow at 8 bytes.
  int64_t getFull(unsigned ring) const { return rings[ring].full; }
  int64_t getEmpty(unsigned ring) const { return rings[ring].empty; }
  /// Scratch of a role's first instance and the bytes of each; one row of the
  /// widest fragment that is reduced for every warp.
  int64_t getScratch(unsigned role) const { return scratch[role].offset; }
  int64_t getScratchBytes(unsigned role) const { return scratch[role].bytes; }

private:
  struct Ring {
    int64_t offset, slot, full, empty;
  };
  struct Scratch {
    int64_t offset, bytes;
  };
  int64_t bytes = 0;
  llvm::SmallVector<Ring> rings;
  llvm::SmallVector<Scratch> scratch;
  llvm::DenseMap<mlir::Operation *, int64_t> fields;
};

} // namespace mmx::hopper

#endif // MMX_LIB_CONVERSION_TILETOHOPPER_SHAREDPLAN_H
