//===- Passes.td - Passes that run the interpreters --------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_PASSES_TD
#define MMX_REFERENCE_PASSES_TD

include "mlir/Pass/PassBase.td"

def InterpretPass : Pass<"mmx-interpret", "::mlir::ModuleOp"> {
  let summary = "runs functions in double precision and prints their results";
  let description = [{
    Runs the function `entry`, or every function that has no arguments, with
    the reference interpreter and prints the results on standard output. With
    a `seed`, functions with arguments run too, on random values that are
    valid for what the arguments are (`mmx.role` and `mmx.shape`, or else
    their uses), and weights are random. `sizes` sets the symbols of a step:
    `tokens`, `sequences`, `outputs`, `slots`, `cache_rows`, `page_columns`.

    A result of at most `max-elements` elements is printed row by row, a
    larger one as its mean, root mean square, least and largest element.

    Example:
    ```
    mmx-opt f.mlir --mmx-interpret='seed=1 sizes=tokens:5,sequences:2' -o /dev/null
    ```
  }];
  let options = [
    Option<"entry", "entry", "std::string", "",
           "the function to run; all that can be run if empty">,
    Option<"seed", "seed", "uint64_t", "0",
           "seed of random arguments and weights; 0: neither">,
    Option<"sizes", "sizes", "std::string", "",
           "sizes of a random step, as name:value,...">,
    Option<"maxElements", "max-elements", "int64_t", "256",
           "elements of a result that are printed">,
    Option<"roundResults", "round", "bool", "false",
           "round results to their element types">
  ];
}

def CheckMeaningPass : Pass<"mmx-check-meaning", "::mlir::ModuleOp"> {
  let summary = "compares a module with what a pipeline makes of it";
  let description = [{
    Runs the pipeline `passes` on a copy of the module, then every function of
    both on the same random arguments and weights with the reference
    interpreter, `runs` times with seeds from `seed` on. It is an error if a
    result differs by more than `tolerance` times its largest element. The
    module itself does not change.

    Example:
    ```
    mmx-opt f.mlir --mmx-check-meaning='passes=func.func(mmx-decompose,mmx-block-lightning{block=2},mmx-fuse) runs=5' -o /dev/null
    ```
  }];
  let options = [
    Option<"passes", "passes", "std::string", "",
           "the pipeline to check, over a module">,
    Option<"seed", "seed", "uint64_t", "1", "seed of the first run">,
    Option<"runs", "runs", "uint64_t", "3", "random inputs to compare on">,
    Option<"tolerance", "tolerance", "double", "1e-9",
           "largest difference, relative to the largest element">,
    Option<"sizes", "sizes", "std::string", "",
           "sizes of a random step, as name:value,...">
  ];
}

#endif // MMX_REFERENCE_PASSES_TD
