//===- TileRoleSteps.h - The repeated step of a role ------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_TRANSFORMS_TILEROLESTEPS_H
#define MMX_LIB_TRANSFORMS_TILEROLESTEPS_H

#include "mmx/Transforms/TileRoleCode.h"

namespace mmx::tile {

/// Phases of instructions around an op, which has phase 0.
enum Phase : int {
  PhaseWait = -300,      ///< waits for slots
  PhaseExpect = -200,    ///< bytes announced before the loads
  PhaseBeforeUse = -100, ///< wait for a product that the op reads
  PhaseFence = 20,
  PhaseArrive = 30,
  PhaseRead = 60,    ///< the op has read its operands
  PhaseRelease = 5,  ///< added to the end of the last read
  PhaseIssued = 100, ///< wait for a product right after an issue
};

/// Derives the step of `role` in one loop.
class StepBuilder {
public:
  StepBuilder(const ScheduleInfo &info, const ScheduleFaults &faults,
              mlir::Operation *loop, unsigned role)
      : info(info), faults(faults), loop(loop), role(role),
        items(info.getItems(loop, role)) {}

  /// The step in emitted order, without turns; inner loops have no body yet.
  mlir::FailureOr<Section> build();

  /// Register copies for the results of the ops (P3).
  mlir::LogicalResult
  computeCopies(llvm::DenseMap<mlir::Operation *, int64_t> &copies);

private:
  struct Use {
    mlir::Operation *user;
    int64_t distance;
    bool isAccumulator;
  };
  llvm::SmallVector<Use> getUses(mlir::Operation *op) const;
  Position place(mlir::Operation *item, int64_t distance = 0,
                 int phase = 0) const;
  llvm::SmallVector<Position>
  getWaits(mlir::Operation *mma,
           llvm::ArrayRef<mlir::Operation *> seen = {}) const;
  mlir::FailureOr<Position> getDone(mlir::Operation *op) const;

  mlir::LogicalResult addFilling(unsigned ring);
  mlir::LogicalResult addReading(unsigned ring);
  mlir::LogicalResult checkLocalRing(unsigned ring, Position first);
  void rotate();
  void add(InstructionKind kind, Position at, int ring = -1,
           mlir::Operation *op = nullptr, mlir::StringAttr turn = {});

  const ScheduleInfo &info;
  const ScheduleFaults &faults;
  mlir::Operation *loop;
  unsigned role;
  llvm::SmallVector<mlir::Operation *> items;
  Section step;
};

/// Cuts a step into prologue, steady state and epilogue, counts the products
/// that may stay in flight at each wait (W3) and puts turns around (T1).
void buildSections(RoleCode &code, const Section &step,
                   const ScheduleFaults &faults);

} // namespace mmx::tile

#endif // MMX_LIB_TRANSFORMS_TILEROLESTEPS_H
