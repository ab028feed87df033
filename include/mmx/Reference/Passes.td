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

#endif // MMX_REFERENCE_PASSES_TD
