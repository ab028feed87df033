//===- ScheduledProgram.h - Schedules under many interleavings --*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_UNITTESTS_TILE_SCHEDULEDPROGRAM_H
#define MMX_UNITTESTS_TILE_SCHEDULEDPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mmx/Reference/TileMachine.h"

namespace mmx::tile {

/// What came of a number of runs: how many ended with each outcome. "equal" is
/// the result of the sequential program, bit for bit, "wrong" another one;
/// everything else is a fault.
struct Outcomes {
  /// Why the schedule was refused; no runs then.
  std::string rejection;
  std::map<std::string, int> counts;

  bool isRejected() const { return !rejection.empty(); }
  bool allEqual() const {
    return !isRejected() && counts.size() == 1 && counts.count("equal");
  }
  int count(const std::string &outcome) const;
  /// Runs that did not end with the sequential result.
  int getNumFailed() const;
};

std::ostream &operator<<(std::ostream &out, const Outcomes &outcomes);

/// A kernel of test/Dialect/Tile/Inputs.
class ScheduledProgram {
public:
  using Edits = std::vector<std::pair<std::string, std::string>>;

  /// Parses a file after replacing texts, each of which must occur.
  ScheduledProgram(const std::string &file, std::vector<int64_t> extents,
                   const Edits &edits = {});

  KernelOp getKernel() const { return kernel; }

  /// Runs the schedule with seeds 0 .. `seeds` - 1.
  Outcomes run(int seeds, const ScheduleFaults &faults = {},
               bool ghostPhases = true);

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  KernelOp kernel;
  std::vector<int64_t> extents;
};

} // namespace mmx::tile

#endif // MMX_UNITTESTS_TILE_SCHEDULEDPROGRAM_H
