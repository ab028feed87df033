//===- Passes.td - Passes that run generated code ----------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TARGET_PASSES_TD
#define MMX_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileRunCPU : Pass<"tile-run-cpu", "::mlir::ModuleOp"> {
  let summary = "compiles a tile kernel for this CPU and compares it";
  let description = [{
    Compiles `kernel`, runs all cells of its grid on arrays as described at
    `tile-interpret` and compares what it wrote with the interpreter: every
    element within `tolerance` times the largest magnitude in the view. The
    module is not changed.

    Arrays end at a page that cannot be accessed, or begin after one where
    `front` is given, and the scratch area is filled with NaN before each cell,
    so that stray accesses and reads of what was not written show.

    With `threads` the code is that of `convert-tile-to-simt` for so many
    threads, which run on threads of this CPU with true barriers. The scratch
    area then stands for shared memory, or, for a kernel that needs more than
    `shared` bytes, for global memory with a slice for each block.

    With `repeat` the grid is run so often again, and the smallest processor
    time of a run is printed.

    Example: `mmx-opt gemm.mlir --tile-run-cpu='kernel=gemm extents=65,64'`
    prints
    ```
    @gemm for cpu-v4: 1280 bytes of code, 16384 bytes of scratch
    view 2 agrees
    ```
  }];
  let options = [
    Option<"kernel", "kernel", "std::string", /*default=*/"",
           "Symbol of the kernel to run; empty: the first one">,
    ListOption<"extents", "extents", "int64_t",
               "Extents that no given elements fix">,
    Option<"seed", "seed", "uint64_t", /*default=*/"0",
           "Seed of random contents">,
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "cpu (this machine), cpu-v3 or cpu-v4">,
    Option<"tolerance", "tolerance", "double", /*default=*/"0.0",
           "Largest difference, relative to the largest element">,
    Option<"front", "front", "bool", /*default=*/"false",
           "Guard the beginning of arrays instead of the end">,
    Option<"threads", "threads", "int64_t", /*default=*/"0",
           "Threads of a block in the form for GPUs; 0: the form for CPUs">,
    Option<"shared", "shared", "int64_t",
           /*default=*/"std::numeric_limits<int64_t>::max()",
           "Bytes of shared memory in the form for GPUs">,
    Option<"interpret", "interpret", "bool", /*default=*/"true",
           "Compare with the interpreter">,
    Option<"repeat", "repeat", "unsigned", /*default=*/"0",
           "Number of timed runs">
  ];
}

def CompileCPUKernels : Pass<"cpu-compile-kernels", "::mlir::ModuleOp"> {
  let summary = "compiles the kernels of a module and prints their sizes";
  let description = [{
    Compiles and links the functions that `convert-tile-to-cpu` makes, as a
    package would hold them, and prints for each its machine code and scratch
    area in bytes. The module is not changed.

    Example: `mmx-opt kernels.mlir --convert-tile-to-cpu --cpu-compile-kernels`
    prints
    ```
    @gemm: 1280 bytes of code, 16384 bytes of scratch
    1 kernels, object of 5240 bytes
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "cpu (this machine), cpu-v3 or cpu-v4">
  ];
}

def AssembleGPUKernels : Pass<"gpu-assemble-kernels", "::mlir::ModuleOp"> {
  let summary = "compiles the kernels of a module for GPUs";
  let description = [{
    Compiles the functions that `convert-tile-to-simt` makes to PTX, and to
    machine code for sm_90a where NVIDIA's assembler is found. What the
    assembler says of a kernel becomes its attribute `mmx.report`: registers,
    bytes of spills and stack, barriers. Remarks of serialised matrix products
    and spills beyond `mmx.spills` are errors.

    With `directory` every kernel becomes three files there: SYMBOL.ptx,
    SYMBOL.cubin, and SYMBOL.json with the attributes that a launch needs.

    Example: `mmx-opt kernels.mlir --convert-tile-to-simt
    --gpu-assemble-kernels='directory=out'`
  }];
  let options = [
    Option<"directory", "directory", "std::string", /*default=*/"",
           "Folder for the files of each kernel; empty: none">,
    Option<"print", "print", "bool", /*default=*/"false",
           "Print the PTX of every kernel to standard output">,
    Option<"assembler", "assembler", "bool", /*default=*/"true",
           "Run the assembler">
  ];
}

def TileExplain : Pass<"tile-explain", "::mlir::ModuleOp"> {
  let summary = "predicts the time of tile kernels on a GPU";
  let description = [{
    For every `tile.kernel` a remark: the predicted time and what limits it;
    bytes and the time that they need at the rate of a copy; operations of
    products and the time of the tensor cores; what one cell takes, and how many
    cells a multiprocessor holds; threads, shared memory, registers of the roles.
    The form is that of `convert-tile-to-hopper` for a kernel with a schedule,
    else that of `convert-tile-to-simt`. docs/performance.md describes the model
    and what it was compared with.

    `extents` are the dynamic extents of the views in order, then the index
    parameters. In a module with `exec.program`, as
    `mmx-compile --emit exec` prints it, the kernels are those of its launches,
    in a step of `sequences` prompts of `tokens` tokens, or of as many next
    tokens, and the sum is printed, too. The module is not changed.

    Example: `mmx-opt lightning.mlir --tile-explain='target=h200
    extents=2,1,1,65536,65536'` prints
    ```
    remark: on h200 predicted 1006 us, limited by memory: ...
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"h200\"",
           "h20, h800, h100 or h200">,
    ListOption<"extents", "extents", "int64_t",
               "Dynamic extents of the views in order, then index parameters">,
    Option<"tokens", "tokens", "int64_t", /*default=*/"4096",
           "Tokens of a prompt in programs">,
    Option<"sequences", "sequences", "int64_t", /*default=*/"1",
           "Prompts of a step in programs">
  ];
}

#endif // MMX_TARGET_PASSES_TD
