//===- TileMachine.h - Runs the roles of a kernel ---------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A machine on which the derived code of a scheduled kernel runs: every
// instance of every role in every cell of a cluster is an agent, and so are
// copies under way, products in flight and stores that still read their slot.
// Which agent goes next is drawn from a seed, with speeds over three decades.
//
// What the machine has that an ordinary run would hide: barriers with parity
// and a ghost phase number that every wait checks, slots that are poisoned when
// the last reader of a cell starts to release them, writes of threads that
// asynchronous readers do not see before a fence, fragments that are
// overwritten in place, products that read their operands when they retire.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_TILEMACHINE_H
#define MMX_REFERENCE_TILEMACHINE_H

#include "mmx/Reference/TileInterpreter.h"
#include "mmx/Transforms/TileRoleCode.h"
#include <memory>

namespace mmx::tile {

struct TileMachineOptions {
  uint64_t seed = 0;
  /// Check on which phase a wait goes on; hardware has only the parity.
  bool ghostPhases = true;
  /// Steps of agents after which a run counts as hung.
  int64_t stepLimit = 400000;
};

class TileMachine {
public:
  /// `info`, `programs` and `faults` must outlive the machine.
  static mlir::FailureOr<TileMachine> create(const ScheduleInfo &info,
                                             const RolePrograms &programs,
                                             const ScheduleFaults &faults);
  TileMachine(TileMachine &&);
  ~TileMachine();

  /// Runs all cells, cluster by cluster, on the arrays in place. Returns what
  /// went wrong, empty if every agent came to its end; the arrays are then to
  /// be compared with those of a sequential run, bit for bit.
  std::string run(llvm::ArrayRef<KernelArgument> arguments,
                  const TileMachineOptions &options);

  /// What stays the same over many runs.
  struct Context;

private:
  explicit TileMachine(std::unique_ptr<Context> context);
  std::unique_ptr<Context> context;
};

} // namespace mmx::tile

#endif // MMX_REFERENCE_TILEMACHINE_H
