//===- ExecPasses.td - Passes that run host programs -------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_EXECPASSES_TD
#define MMX_REFERENCE_EXECPASSES_TD

include "mlir/Pass/PassBase.td"

def ExecRunPlan : Pass<"exec-run-plan", "::mlir::ModuleOp"> {
  let summary = "compares programs run with and without their buffer plan";
  let description = [{
    Runs every `exec.program` twice on the same inputs, its `tile.kernel`s
    through the tile interpreter: once with memory of its own for every
    temporary, once in the arena. Memory is filled with NaN before the run and
    where a temporary ends to be live. Pools and outputs must be the same bit
    for bit. `at` gives the values of the symbols and `seed` draws the inputs;
    with `program` only the one of that name runs.

    Example:
    `mmx-opt p.mlir --pass-pipeline='builtin.module(exec.program(exec-plan-buffers),exec-run-plan{at=5,2,2,3,128,1})'`
  }];
  let options = [
    ListOption<"at", "at", "int64_t", "Values of s0 to s5">,
    Option<"program", "program", "std::string", /*default=*/"",
           "Name of the program to run; empty: all">,
    Option<"seed", "seed", "uint64_t", /*default=*/"1", "Seed of the inputs">
  ];
}

#endif // MMX_REFERENCE_EXECPASSES_TD
