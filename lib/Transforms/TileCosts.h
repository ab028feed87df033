//===- TileCosts.h - Cycles of tile ops ------------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The figures of a multiprocessor of compute capability 9.0 by which times are
// estimated, in its cycles.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_TRANSFORMS_TILECOSTS_H
#define MMX_LIB_TRANSFORMS_TILECOSTS_H

#include "mlir/IR/Operation.h"

namespace mmx::tile::costs {

/// Threads of which an instruction is issued in a cycle: 4 warps.
inline constexpr double lanes = 128;
/// Bytes of shared memory that are read or written in a cycle.
inline constexpr double sharedBytes = 128;
/// Bytes from or to the memory beyond in a cycle, and the time to the first one
/// from memory or from the cache that all share.
inline constexpr double memoryBytes = 64, memory = 900, sharedCache = 300;
/// From the operands to the result of an instruction, by what it does.
inline constexpr double instruction = 8, sharedLatency = 33,
                        productLatency = 60;
/// A barrier in shared memory: to arrive and be seen, to go on after a wait,
/// and the way to another multiprocessor of the cluster.
inline constexpr double arrive = 40, wait = 30, cluster = 200;
/// All warps of a role meet, and their writes are seen by asynchronous reads.
inline constexpr double fence = 60;
/// To issue a bulk copy between global and shared memory.
inline constexpr double bulkCopy = 30;

/// Instructions that a thread of so many issues for its part of the elements.
/// What is the same in every iteration is not counted.
double countInstructions(mlir::Operation *op, double threads);

/// Instructions of the body of a map for one element, or those alone that
/// depend on an element of an operand.
double countElementInstructions(mlir::Operation *map, bool ofOperands);

/// Bytes that an op moves to or from shared memory.
double getSharedBytes(mlir::Operation *op);

/// Cycles of the tensor cores, at so many multiplications and additions of a
/// cycle.
double getTensorCycles(mlir::Operation *mma, double rate);

} // namespace mmx::tile::costs

#endif // MMX_LIB_TRANSFORMS_TILECOSTS_H
