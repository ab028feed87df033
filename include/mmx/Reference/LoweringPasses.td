//===- LoweringPasses.td - Passes that compare levels ------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_LOWERINGPASSES_TD
#define MMX_REFERENCE_LOWERINGPASSES_TD

include "mlir/Pass/PassBase.td"

def CompareLoweringPass : Pass<"mmx-compare-lowering", "::mlir::ModuleOp"> {
  let summary = "runs a module before and after passes and compares";
  let description = [{
    Runs every function with the mmx interpreter on random arguments, sends a
    copy of the module through `pipeline`, runs the copy on the same arguments
    (with the tile interpreter where it consists of launches) and compares the
    results: integers must be equal, floats differ by no more than `tolerance`
    times the largest magnitude of the reference. The module itself stays as
    it is; the largest difference of every result is printed on standard
    output.

    Example:
    ```
    mmx-opt f.mlir --mmx-compare-lowering='seed=1 sizes=tokens:65,sequences:3 pipeline=builtin.module(func.func(mmx-fuse),convert-mmx-to-tile)'
    ```
  }];
  let options = [
    Option<"pipeline", "pipeline", "std::string", "",
           "passes to compare before and after">,
    Option<"seed", "seed", "uint64_t", "1", "seed of arguments and weights">,
    Option<"runs", "runs", "int64_t", "1",
           "number of seeds to try, from seed on">,
    Option<"sizes", "sizes", "std::string", "",
           "sizes of a random step, as name:value,...">,
    Option<"tolerance", "tolerance", "double", "1.0e-5",
           "largest difference, relative to the largest magnitude">
  ];
}

#endif // MMX_REFERENCE_LOWERINGPASSES_TD
