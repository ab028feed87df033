// Tiles that need more than there is of shared memory stand in global memory,
// in a slice for each block: those of a grid with three dimensions, numbered
// with x fastest.

// RUN: mmx-opt %s --tile-run-cpu='extents=35,35 threads=3 shared=0' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='extents=35,35 threads=3 shared=0 front=true' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --convert-tile-to-simt='threads=3 shared=0' | FileCheck %s --check-prefix=BLOCK

// CHECK: @transpose for cpu-v{{[34]}} in threads: {{.*}} bytes of scratch in each block
// CHECK: view 1 agrees

// The number of the block: (z * sizes of y + y) * sizes of x + x.
// BLOCK-LABEL: func.func @transpose(
// BLOCK-SAME: %[[SCRATCH:[a-z0-9]+]]: !llvm.ptr) attributes
// BLOCK: gpu.block_id z
// BLOCK: gpu.grid_dim y
// BLOCK: gpu.block_id y
// BLOCK: gpu.grid_dim x
// BLOCK: gpu.block_id x
// BLOCK: llvm.getelementptr %[[SCRATCH]][
tile.kernel @transpose(%x: !tile.view<?x3x2x4xf32, read>, %y: !tile.view<3x2x4x?xf32, write>)
    grid(%i, %j, %k) = affine_map<()[s0, s1] -> (s0 ceildiv 16, 3, 2)> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %row = arith.muli %i, %c16 : index
  %a = tile.load %x[%row, %j, %k, %c0] dims(0, 3) : !tile.view<?x3x2x4xf32, read> -> !tile.sram<16x4xf32>
  %one = tile.map() : () -> !tile.frag<4x4xf32> {
  ^bb0(%r: index, %c: index):
    %zero = arith.constant 0.0 : f32
    %unit = arith.constant 1.0 : f32
    %same = arith.cmpi eq, %r, %c : index
    %v = arith.select %same, %unit, %zero : f32
    tile.yield %v : f32
  }
  %t = tile.mma %one, %a transpose_b : !tile.frag<4x4xf32>, !tile.sram<16x4xf32> -> !tile.frag<4x16xf32>
  tile.store %t, %y[%j, %k, %c0, %row] dims(2, 3) : !tile.frag<4x16xf32>, !tile.view<3x2x4x?xf32, write>
}
