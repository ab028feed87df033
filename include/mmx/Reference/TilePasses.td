//===- TilePasses.td - Passes that run tile programs -------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_TILEPASSES_TD
#define MMX_REFERENCE_TILEPASSES_TD

include "mlir/Pass/PassBase.td"

def TileInterpret : Pass<"tile-interpret", "::mlir::ModuleOp"> {
  let summary = "runs a tile kernel and prints what it wrote";
  let description = [{
    Runs `kernel` cell by cell on arrays made for it, and prints for every view
    that is not `read` its shape, sum and a hash of its bits. The module is not
    changed. Errors of the program (races between cells, indices out of range)
    are reported at the op.

    The attribute `tile.inputs` of the kernel, an array with one entry for each
    parameter, says what is in the arrays at first: elements (`dense<...>`), a
    number for a scalar parameter, or one of

    * `"random"`: floats in [-1, 1), i8 in [-127, 127]; for views that are
      `read` or `inplace` the default;
    * `"integers"`: whole numbers in [-3, 3], so that sums are exact;
    * `"ramp"`: element `n` in row-major order is `n`;
    * `"zero"`;
    * `"poison"`: every byte 0xff (NaN, -1), the default of `write` views.

    `extents` are the extents that no elements fix and the index parameters
    that are not given, in the order of the grid map's symbols.

    The kernel runs once in order and `orders` times with the cells in random
    order; the results must have the same bits. With `compare` a second kernel
    with the same parameters runs on the same arrays and must give the same
    within `tolerance` times the largest magnitude in the view.

    Example: `mmx-opt gemm.mlir --tile-interpret='kernel=gemm extents=65,64'`
    prints
    ```
    @gemm grid 2
    view 2 65x64xf32: sum 12.0625, hash 8c2f0e1a77b3d514
    ```
  }];
  let options = [
    Option<"kernel", "kernel", "std::string", /*default=*/"",
           "Symbol of the kernel to run; empty: the first one">,
    ListOption<"extents", "extents", "int64_t",
               "Extents that no given elements fix">,
    Option<"seed", "seed", "uint64_t", /*default=*/"0",
           "Seed of random contents and of cell orders">,
    Option<"orders", "orders", "unsigned", /*default=*/"1",
           "Number of further runs with the cells in random order">,
    Option<"compare", "compare", "std::string", /*default=*/"",
           "Symbol of a kernel that must give the same">,
    Option<"tolerance", "tolerance", "double", /*default=*/"0.0",
           "Largest difference for compare, relative to the largest element">,
    Option<"printValues", "print-values", "bool", /*default=*/"false",
           "Print all elements">
  ];
}

def TileRunRoles : Pass<"tile-run-roles", "::mlir::ModuleOp"> {
  let summary = "runs the roles of scheduled kernels in many interleavings";
  let description = [{
    Derives the code of the roles of every kernel that has a schedule and runs
    it on `TileMachine` (docs/tile-schedules.md) under `seeds` orders of the
    roles, copies, products and stores. Every run must give what the program
    gives without its schedule, bit for bit. Inputs and `extents`, which all
    kernels share, are those of `tile-interpret`. The module is not changed.

    Example: `mmx-opt lightning.mlir --tile-run-roles='seeds=100 extents=26'`
    prints
    ```
    @lightning: 100 interleavings
    ```
  }];
  let options = [
    Option<"seeds", "seeds", "unsigned", /*default=*/"100",
           "Number of interleavings">,
    ListOption<"extents", "extents", "int64_t",
               "Extents that no given elements fix">
  ];
}

#endif // MMX_REFERENCE_TILEPASSES_TD
