//===- Passes.td - Passes that go down a level -------------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_CONVERSION_PASSES_TD
#define MMX_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToCPU : Pass<"convert-tile-to-cpu", "::mlir::ModuleOp"> {
  let summary = "tile kernels to functions on vector registers";
  let description = [{
    Every `tile.kernel` becomes a function of the same name

    ```mlir
    func.func @kernel(%buffers: !llvm.ptr, %extents: !llvm.ptr, %i: i64,
                      %j: i64, %k: i64, %scratch: !llvm.ptr)
    ```

    that computes one cell of the grid: `buffers` are the views in order,
    `extents` their dynamic extents and then the index parameters. Attributes:
    `mmx.kernel`; `mmx.scratch`, the bytes that a running cell needs (64-byte
    aligned); `mmx.grid`, the map from extents to the size of the grid.

    Tiles stand in the scratch area, where those that are not needed at the
    same time share a place; tiles of views that are only read are not copied
    unless they hang over an edge. Ops become loops over registers of `lanes`
    32-bit elements. Only rows that a store keeps are computed.

    Example: `mmx-opt kernels.mlir --convert-tile-to-cpu=lanes=8`
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
  let options = [
    Option<"lanes", "lanes", "int64_t", /*default=*/"16",
           "32-bit elements of a vector register: 8 (AVX2) or 16 (AVX-512)">
  ];
}

def ConvertTileToHopper : Pass<"convert-tile-to-hopper", "::mlir::ModuleOp"> {
  let summary = "scheduled tile kernels to functions for sm_90a";
  let description = [{
    Every `tile.kernel` with a schedule becomes a function with the parameters
    and attributes that `convert-tile-to-simt` describes, and its tensor maps
    before them, whose recipes are `mmx.tensor_maps`.

    Roles of four warps are warp groups, roles of one warp share one. Rings are
    slots of shared memory with full and empty barriers; bulk tensor loads fill
    them, shared by the cells of a cluster where the schedule says so. Fragments
    lie in the accumulator layout of `hopper.wgmma`, transposed where a product
    needs its right operand in registers. Waits, fences, arrivals and the steps
    of loops are those that `tile-pipeline` derives.

    A kernel with `mmx.follows`, numbers of views, may start before the kernel
    launched before it has ended: the roles that access these views wait for
    that, the others do not. They are all views of which one of the two kernels
    writes elements that the other accesses. What was launched earlier must have
    ended before the kernel before started. `mmx.precedes` on that kernel lets
    the next one start when all of its own blocks have.

    Kernels without a schedule are left alone.

    With `delays` warps sleep up to 2 microseconds before an eighth of their
    steps, other ones for each seed: results must stay the same bit for bit.
    With `thread-arrivals` every thread arrives at a barrier, not one thread
    after its warp has met: race checkers follow the former alone.

    Example: `mmx-opt kernels.mlir --convert-tile-to-hopper
    --gpu-assemble-kernels`
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mmx::hopper::HopperDialect"
  ];
  let options = [
    Option<"delays", "delays", "int64_t", /*default=*/"0",
           "seed of random delays, to show races; 0 for none">,
    Option<"threadArrivals", "thread-arrivals", "bool", /*default=*/"false",
           "every thread arrives at barriers, for race checkers">
  ];
}

def ConvertTileToSIMT : Pass<"convert-tile-to-simt", "::mlir::ModuleOp"> {
  let summary = "tile kernels to functions for a block of threads on any GPU";
  let description = [{
    Every `tile.kernel` becomes a function of the same name whose parameters
    are a pointer for each view, an `i64` for each dynamic extent and index
    parameter, and the pointer of a scratch area. A block of threads computes
    one cell of the grid, the one of its block number. Attributes:
    `mmx.kernel`; `mmx.threads` of a block; `mmx.shared` and `mmx.scratch`, the
    bytes of shared memory and of the scratch area that a block needs;
    `mmx.grid`, the map from extents to the size of the grid.

    Simple and exact: any shape, any type, plain loads, fused multiply-adds in
    the order of the reduction index, a barrier after every op. Tiles stand in
    shared memory if it holds them all, otherwise in the scratch area. Schedules
    are ignored.

    Example: `mmx-opt kernels.mlir --convert-tile-to-simt=threads=256`
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"
  ];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"256",
           "threads of a block">,
    Option<"shared", "shared", "int64_t", /*default=*/"232448",
           "bytes of shared memory that a block may have">
  ];
}

def ConvertMMXToExec : Pass<"convert-mmx-to-exec", "::mlir::ModuleOp"> {
  let summary = "functions of launches to host programs";
  let description = [{
    Every function with the attribute `mmx.phase` becomes an `exec.program` of
    the same name. Its body may hold `mmx.weight`, constants, `mmx.launch` of
    `tile.kernel` and the return. Tensors become buffers:

    * an argument is the `exec.input` of its `mmx.role`, with the extents of
      its `mmx.shape`;
    * a weight is an `exec.weight` in the layout that the kernel's view asks
      for; a weight used in two layouts becomes two of them;
    * equal constants are one `exec.constant`;
    * a result of a launch is an `exec.temp`, or the `exec.input` of its role
      where the function returns it, and a result in place is the buffer of
      its operand.

    A state or cache is never copied: a value is not used after a launch has
    updated it in place, and what is returned under the role of a pool is that
    argument, updated. Anything else is an error.

    The dynamic extents of a launch follow from the extents of the buffers. A
    view may see a buffer in another shape of as many elements.

    Example: `mmx-opt launches.mlir --convert-mmx-to-exec`
  }];
  let dependentDialects = ["::mmx::exec::ExecDialect"];
}

def ConvertHopperToNVVM : Pass<"convert-hopper-to-nvvm"> {
  let summary = "tensor-core products to single instructions";
  let description = [{
    Replaces the ops of the hopper dialect, wherever they stand, by ops of
    `llvm` and `nvvm`; a `wgmma.mma_async` and what else lacks an op is inline
    assembly of one instruction. Accumulators stay in place from the first
    instruction of a product to the wait; none is filled with zeros.

    The fragments that `hopper.wait` returns are stored to shared memory under a
    predicate that is never true, unless a later product in the block reads
    them: without a use after the wait, the assembler gives their registers away
    while the product reads them. Such a kernel needs dynamic shared memory.

    An op that reads a product in flight is an error.

    Example: `mmx-opt kernels.mlir --convert-hopper-to-nvvm`
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

#endif // MMX_CONVERSION_PASSES_TD
