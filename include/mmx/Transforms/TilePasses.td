//===- TilePasses.td - Passes on the tile dialect ----------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TRANSFORMS_TILEPASSES_TD
#define MMX_TRANSFORMS_TILEPASSES_TD

include "mlir/Pass/PassBase.td"

def TileVerifySchedule : Pass<"tile-verify-schedule"> {
  let summary = "refuses schedules that would not give the sequential result";
  let description = [{
    Checks every `tile.kernel` that has a schedule: stages against the data
    flow, parities of rings with alternating instances, cyclic waits, released
    slots, split dimensions, accesses to global memory, registers and shared
    memory. Whatever it accepts computes, in every interleaving of the roles,
    what the program without schedule computes. Changes nothing.

    Example: a ring of depth 3 read by two instances that alternate over the
    loop that fills it is refused with
    ```
    ring @kv: role @out has 2 instances alternating over @i and depth 3 is not
    divisible by 2; change the depth or put its waits in a turn
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels with a schedule">,
    Statistic<"numRings", "rings", "Rings with barriers">
  ];
}

def TileSpecializeWarps : Pass<"tile-specialize-warps", "::mlir::ModuleOp"> {
  let summary = "derives the code of the roles of a scheduled kernel";
  let description = [{
    Puts a `tile.roles` behind every `tile.kernel` that has a schedule: the
    barriers of the rings with the counts they need, and for every role and
    loop the step that is repeated, with waits, arrivals, fences and turns.
    The kernel stays as it is. Refuses what `tile-verify-schedule` refuses.

    Example: for a `tile.put` into a ring that an mma of another role reads
    ```mlir
    tile.wait_empty @s stage 1
    tile.run "tile.put" order 50 stage 1
    tile.fence @s stage 1
    tile.arrive_full @s stage 1
    ```
  }];
  let statistics = [
    Statistic<"numRoles", "roles", "Roles with code">,
    Statistic<"numInstructions", "instructions", "Instructions in steps">
  ];
}

def TilePipeline : Pass<"tile-pipeline", "::mlir::ModuleOp"> {
  let summary = "cuts the steps of roles into prologue, steady state, epilogue";
  let description = [{
    Replaces the step of every loop in `tile.roles` by the sections that its
    stages need: step `t` runs an instruction of stage `s` for iteration
    `t - s`. In each section counts, for every wait, the products that were
    issued after the one that is waited for, and gives results that live longer
    than an iteration several sets of registers.

    Example: the wait of a loop that keeps one product in flight
    ```mlir
    tile.section prologue 0 of @j {
      tile.wait_mma for 0 pending 0 stage 0
    }
    tile.section steady 0 of @j {
      tile.wait_mma for 0 pending 1 stage 0
    }
    ```
  }];
  let statistics = [
    Statistic<"numSections", "sections", "Sections emitted">,
    Statistic<"numCopies", "copies", "Results with several sets of registers">
  ];
}

def TileCheckRoles : Pass<"tile-check-roles", "::mlir::ModuleOp"> {
  let summary = "checks the code of roles against the schedule";
  let description = [{
    Follows every `tile.role`, before or after `tile-pipeline`, instruction by
    instruction for loops of 0, 1, 2, ... iterations: each op runs once for each
    iteration and after what it uses; slots are waited for, filled, fenced,
    announced, read and released in that order; products are read after a wait
    that has let them retire; registers are not written before their last use;
    turns and the counts of barriers are those of the schedule. Shares nothing
    with the rules that derive the code. Both passes that write code end with
    this check. Changes nothing.

    Example: without the fence between a `tile.put` and its arrival
    ```
    'tile.arrive_full' op ring @s: no proxy fence between the write by @state
    and its arrive
    ```
  }];
  let statistics = [
    Statistic<"numListings", "listings", "Kernels whose code was checked">
  ];
}

#endif // MMX_TRANSFORMS_TILEPASSES_TD
