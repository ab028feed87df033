//===- TileTimeline.h - How long a cell of a kernel takes -------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates of cycles on a multiprocessor of compute capability 9.0. The code
// of the roles of a scheduled kernel is run with times instead of values: every
// instance has a clock, a wait takes what the arrival it waits for takes, and
// products and shared memory are one resource each. Memory beyond the
// multiprocessor answers after its latency and is never busy: that bound is the
// caller's. docs/performance.md says where the figures are from.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TRANSFORMS_TILETIMELINE_H
#define MMX_TRANSFORMS_TILETIMELINE_H

#include "mmx/Transforms/TileRoleCode.h"
#include "mmx/Transforms/TileWork.h"

namespace mmx::tile {

/// Cycles of one cell that has its multiprocessor to itself.
struct CellTime {
  double cycles = 0;
  /// In which the tensor cores, or shared memory, are busy.
  double tensor = 0, shared = 0;
  /// In which instructions are issued, if other cells keep the schedulers busy.
  double issue = 0;
};

/// `tensorRate` is multiplications and additions of a multiprocessor in a
/// cycle.
CellTime timeRoles(const ScheduleInfo &info, const RolePrograms &programs,
                   const KernelWork &work, double tensorRate);

/// The time of a kernel without schedule, whose ops a block of so many threads
/// runs one after the other (convert-tile-to-simt).
CellTime timeBlock(KernelOp kernel, const KernelWork &work, int64_t threads);

} // namespace mmx::tile

#endif // MMX_TRANSFORMS_TILETIMELINE_H
