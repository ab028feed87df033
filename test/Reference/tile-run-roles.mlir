// A product whose operands a role of one warp loads, and whose row is found by a
// loop over scalars: 20 interleavings give what the program gives.
//
// RUN: mmx-opt %s --tile-run-roles='seeds=20' -o /dev/null | FileCheck %s
// RUN: not mmx-opt %s --tile-run-roles='seeds=1 extents=4' -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXTENTS
// RUN: mmx-opt %S/../Dialect/Tile/Inputs/lightning.mlir --tile-run-roles='extents=8,8,8,8' -o /dev/null | FileCheck %s --check-prefix=LIGHTNING

// CHECK: @product: 20 interleavings
// EXTENTS: got 1 extents more than are dynamic
// LIGHTNING: 100 interleavings

tile.kernel @product(%sizes: !tile.view<?xi32, read>, %a: !tile.view<8x4xbf16, read>,
                     %b: !tile.view<4x4xbf16, read>, %c: !tile.view<8x4xf32, write>)
    grid(%i) = affine_map<()[s0] -> (1)>
    attributes {
      schedule = #tile.schedule<
        roles = [@ld<warps = 1>, @mm<warps = 4, regs = 64>],
        rings = [@ab<depth = 2>]>,
      tile.inputs = [dense<[2, 1, 1]> : tensor<3xi32>, "random", "random", "poison"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %count = tile.dim %sizes, 0 : !tile.view<?xi32, read>
  %row = scf.for %s = %c0 to %count step %c1 iter_args(%sum = %c0) -> (index) {
    %size = tile.table %sizes[%s] : !tile.view<?xi32, read> -> index
    %next = arith.addi %sum, %size : index
    scf.yield %next : index
  }
  scf.for %k = %c0 to %c2 step %c1 {
    %at = tile.load %a[%row, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @ab>} : !tile.view<8x4xbf16, read> -> !tile.sram<4x4xbf16>
    %bt = tile.load %b[%c0, %c0] dims(0, 1) {at = #tile.at<@ld, order = 10, ring = @ab.1>} : !tile.view<4x4xbf16, read> -> !tile.sram<4x4xbf16>
    %p = tile.mma %at, %bt {at = #tile.at<@mm, order = 0>} : !tile.sram<4x4xbf16>, !tile.sram<4x4xbf16> -> !tile.frag<4x4xf32>
    %to = arith.muli %k, %row : index
    tile.store %p, %c[%to, %c0] dims(0, 1) {at = #tile.at<@mm, order = 10>} : !tile.frag<4x4xf32>, !tile.view<8x4xf32, write>
  } {at = #tile.loop<@k, order = 0>}
}
