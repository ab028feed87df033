//===- ExecPasses.td - Passes on host programs -------------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TRANSFORMS_EXECPASSES_TD
#define MMX_TRANSFORMS_EXECPASSES_TD

include "mlir/Pass/PassBase.td"

def ExecEraseDeadLaunches
    : Pass<"exec-erase-dead-launches", "::mmx::exec::ProgramOp"> {
  let summary = "erases launches whose results nobody reads";
  let description = [{
    A launch stays if it writes a pool, an output, or a temporary that a launch
    which stays takes. Buffers that are left without a launch go too.

    Example:
    `mmx-opt p.mlir --pass-pipeline='builtin.module(exec.program(exec-erase-dead-launches))'`
  }];
  let statistics = [
    Statistic<"numErased", "launches-erased", "Launches erased">
  ];
}

def ExecPlanBuffers : Pass<"exec-plan-buffers", "::mmx::exec::ProgramOp"> {
  let summary = "gives every temporary a place in one arena";
  let description = [{
    Temporaries that are not live at the same time share memory; a temporary is
    live from the first to the last launch that takes it. Sizes are affine in
    the symbols of a step, and the plan holds for all values >= 0 of them:

    * a size is written as a number of units of `64 e` bytes, `e` an
      expression without a constant factor (rounded up where it must be), and
      the temporaries of one `e` are packed in a region of their own, in which
      offsets are whole numbers of units;
    * a temporary whose unit is never larger than that of another region takes
      a gap of that region where one is large enough.

    Offsets are multiples of 64 bytes. `print-plan` writes the plan to stderr:
    the arena, the sum of all temporaries, what is live at once, and each place;
    `at` gives the values of the symbols for which sizes are printed.

    Example:
    `mmx-opt p.mlir --pass-pipeline='builtin.module(exec.program(exec-plan-buffers{print-plan}))'`
  }];
  let options = [
    Option<"printPlan", "print-plan", "bool", /*default=*/"false",
           "Write the plan to stderr">,
    ListOption<"at", "at", "int64_t",
               "Values of s0 to s5 for which print-plan computes sizes">
  ];
  let statistics = [
    Statistic<"numTemporaries", "temporaries", "Temporaries placed">,
    Statistic<"numShared", "shared", "Temporaries in reused memory">
  ];
}

def ExecCheckPlan : Pass<"exec-check-plan", "::mmx::exec::ProgramOp"> {
  let summary = "checks a buffer plan at sampled sizes";
  let description = [{
    For corner cases and `samples` drawn values of the symbols: every temporary
    lies in the arena, starts at a multiple of 64 bytes and shares no byte with
    another one that is live at the same time.

    Example:
    `mmx-opt p.mlir --pass-pipeline='builtin.module(exec.program(exec-plan-buffers,exec-check-plan))'`
  }];
  let options = [
    Option<"samples", "samples", "unsigned", /*default=*/"32",
           "Values drawn for the symbols">,
    Option<"seed", "seed", "uint64_t", /*default=*/"1", "Seed of the drawing">
  ];
}

#endif // MMX_TRANSFORMS_EXECPASSES_TD
