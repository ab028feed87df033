//===- TileRoleTrace.h - What a role executes, in order ---------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_TRANSFORMS_TILEROLETRACE_H
#define MMX_LIB_TRANSFORMS_TILEROLETRACE_H

#include "mmx/Dialect/Tile/TileRoleOps.h"
#include "mmx/Transforms/TileScheduleInfo.h"

namespace mmx::tile {

/// Numbers of the iterations of the loops around, outermost first. The kernel
/// is a loop of one iteration.
using Iteration = llvm::SmallVector<int64_t, 4>;

/// An instruction of a listing as it runs for one iteration of its loop.
struct TraceStep {
  mlir::Operation *instruction;
  /// The op of the kernel that is run or waited for, or the inner loop, which
  /// has ended at this step; null for others.
  mlir::Operation *item = nullptr;
  int ring = -1;
  Iteration iteration = {};
};

/// A run of the sections of a loop.
struct TraceLoop {
  mlir::Operation *loop;
  mlir::Operation *listing; ///< tile.role or tile.run_loop
  Iteration around;
  int64_t trips;
};

struct RoleTrace {
  llvm::SmallVector<TraceStep, 0> steps;
  llvm::SmallVector<TraceLoop, 0> loops;
};

/// Unrolls the listing of `role` for loops of `trips` iterations; loops with
/// loops inside run twice. An instruction that does not fit the kernel, or runs
/// for an iteration that does not exist, is an error.
mlir::FailureOr<RoleTrace> traceRole(const ScheduleInfo &info, RoleOp listing,
                                     unsigned role, int64_t trips);

} // namespace mmx::tile

#endif // MMX_LIB_TRANSFORMS_TILEROLETRACE_H
