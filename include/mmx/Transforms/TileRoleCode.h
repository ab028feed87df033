//===- TileRoleCode.h - What each role of a kernel executes -----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of the roles of a scheduled kernel: for every loop the step that is
// repeated, with all waits, arrivals and fences, and its prologue, steady state
// and epilogue. Derived from the schedule by rules that know no kernel.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TRANSFORMS_TILEROLECODE_H
#define MMX_TRANSFORMS_TILEROLECODE_H

#include "mmx/Transforms/TileScheduleInfo.h"
#include <memory>
#include <tuple>

namespace mmx::tile {

enum class InstructionKind {
  Op,          ///< a scheduled op
  Loop,        ///< an inner loop; ends with a wait for all products
  WaitMma,     ///< until at most `pending` later products are in flight
  WaitEmpty,   ///< until the slot to fill is free
  Expect,      ///< arrives on full and adds the bytes of the slot
  WaitStores,  ///< until the stores of a slot that a role reuses have read it
  Fence,       ///< makes writes of threads visible to asynchronous readers
  ArriveFull,  ///< every warp has written its part of the slot
  WaitFull,    ///< until the slot to read is full
  ArriveEmpty, ///< every warp has read the slot
  TurnBegin,
  TurnEnd
};

llvm::StringRef stringifyInstructionKind(InstructionKind kind);

/// A place in the steps of a loop. `phase` orders the instructions around one
/// op, which itself has phase 0.
struct Position {
  int64_t stage = 0, order = 0;
  int phase = 0;

  auto operator<=>(const Position &) const = default;
};

class RolesOp;
struct RoleCode;

struct Instruction {
  InstructionKind kind = InstructionKind::Op;
  Position at;
  /// The op, the loop, or the mma that is waited for.
  mlir::Operation *op = nullptr;
  int ring = -1;
  mlir::StringAttr turn;
  /// WaitMma: products that may stay in flight.
  int64_t pending = 0;
  /// Loop: the code inside.
  const RoleCode *body = nullptr;
  /// TurnBegin and TurnEnd: the stages of the instructions between.
  llvm::SmallVector<int64_t, 2> stages = {};
};

using Section = std::vector<Instruction>;

/// The code of one role in one loop (or in the kernel, which runs once). Step t
/// executes an instruction of stage s for iteration t - s. With N iterations of
/// its own a role runs prologue[0 .. S-1], N - S times steady and
/// epilogue[0 .. S-1]; if N < S, N + S times guarded, which skips what has no
/// iteration.
struct RoleCode {
  mlir::Operation *loop = nullptr;
  unsigned role = 0;
  /// Largest stage S.
  int64_t stages = 0;
  /// The step as the rules derive it, before it is cut.
  Section derived;
  std::vector<Section> prologue, epilogue;
  Section steady, guarded;
};

/// Mistakes to build in on purpose, to show that verifier and machine see them.
struct ScheduleFaults {
  /// Accept every schedule that can be derived at all.
  bool skipVerifier = false;
  /// Count of an empty barrier, by ring.
  llvm::StringMap<int64_t> emptyCount;
  /// Rings whose arrival stands before the fence, or that have no fence.
  std::string arriveBeforeFence, noFence;
  /// Where a role releases the slots of a ring.
  struct Release {
    std::string ring, role;
    Position at;
  };
  std::vector<Release> releases;
  /// Register copies of the result of the op of a role with an order.
  struct Copies {
    std::string role;
    int64_t order, count;
  };
  std::vector<Copies> copies;
  /// Wait counts of the steady state in all sections.
  bool steadyWaitCounts = false;
};

/// The derived code of all roles of a kernel.
class RolePrograms {
public:
  /// Derives and verifies. A schedule that is refused is an error at its op.
  static mlir::FailureOr<RolePrograms>
  derive(const ScheduleInfo &info, const ScheduleFaults &faults = {});

  /// The code of `role` in the kernel or in `loop`; null where it has none.
  const RoleCode *getCode(unsigned role, mlir::Operation *loop) const;
  /// Registers sets for the result of `op`, used in turn by iterations.
  int64_t getCopies(mlir::Operation *op) const { return copies.lookup(op); }

  llvm::DenseMap<std::pair<unsigned, mlir::Operation *>,
                 std::unique_ptr<RoleCode>>
      codes;
  llvm::DenseMap<mlir::Operation *, int64_t> copies;
};

/// What is independent of the emitted code: legality of stages (R2), roles that
/// alternate (B7), accesses to global memory (G1), multicast, stages of loops.
mlir::LogicalResult verifyScheduleRules(const ScheduleInfo &info);

/// Follows split dimensions (R3); an error where an op would need elements of
/// another instance.
mlir::FailureOr<llvm::DenseMap<mlir::Value, int64_t>>
computeSplits(const ScheduleInfo &info);

/// Refuses code in which roles wait for each other in a cycle (B9).
mlir::LogicalResult verifyNoCyclicWait(const ScheduleInfo &info,
                                       const RolePrograms &programs);

/// Checks the structure of derived code: fences between writes and arrivals,
/// counts of barriers.
mlir::LogicalResult verifyRoleCode(const ScheduleInfo &info,
                                   const RolePrograms &programs,
                                   const ScheduleFaults &faults);

/// Checks a listing of the roles of `kernel`, before or after the pipeline,
/// against the facts of its schedule: that every op runs once for each
/// iteration, in an order and with waits, fences, counts and releases that are
/// safe in every interleaving of the roles. An error stands at an instruction.
mlir::LogicalResult verifyListing(KernelOp kernel, RolesOp roles);

/// Registers of a thread and shared memory against their limits.
mlir::LogicalResult verifyBudget(const ScheduleInfo &info,
                                 const RolePrograms &programs);

} // namespace mmx::tile

#endif // MMX_TRANSFORMS_TILEROLECODE_H
