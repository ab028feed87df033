// RUN: mmx-opt %s --tile-interpret='kernel=gemm compare=naive extents=21,40,21 orders=3' -o /dev/null | FileCheck %s

// One chain of fused multiply-adds an element: tiling changes no bit.

// CHECK: @gemm grid 2x3
// CHECK: view 2 21x40xf32
// CHECK: view 2 agrees with @naive
tile.kernel @gemm(%x: !tile.view<?x32xf32, read>,
                  %w: !tile.view<?x32xf32, read, panel = 16 along 0>,
                  %y: !tile.view<?x40xf32, write>)
    grid(%i, %j) = affine_map<()[s0, s1, s2] -> (s0 ceildiv 16, s1 ceildiv 16)> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %m = affine.apply affine_map<(d0) -> (d0 * 16)>(%i)
  %n = affine.apply affine_map<(d0) -> (d0 * 16)>(%j)
  %zero = tile.map() : () -> !tile.frag<16x16xf32> {
  ^bb0(%r: index, %c: index):
    %z = arith.constant 0.0 : f32
    tile.yield %z : f32
  }
  %acc = scf.for %k = %c0 to %c32 step %c8 iter_args(%a0 = %zero) -> (!tile.frag<16x16xf32>) {
    %a = tile.load %x[%m, %k] dims(0, 1) : !tile.view<?x32xf32, read> -> !tile.sram<16x8xf32>
    %b = tile.load %w[%n, %k] dims(0, 1) : !tile.view<?x32xf32, read, panel = 16 along 0> -> !tile.sram<16x8xf32>
    %a1 = tile.mma %a, %b transpose_b acc %a0 : !tile.sram<16x8xf32>, !tile.sram<16x8xf32> -> !tile.frag<16x16xf32>
    scf.yield %a1 : !tile.frag<16x16xf32>
  }
  tile.store %acc, %y[%m, %n] dims(0, 1) : !tile.frag<16x16xf32>, !tile.view<?x40xf32, write>
}

tile.kernel @naive(%x: !tile.view<?x32xf32, read>,
                   %w: !tile.view<?x32xf32, read, panel = 16 along 0>,
                   %y: !tile.view<?x40xf32, write>)
    grid(%i, %j) = affine_map<()[s0, s1, s2] -> (s0, s1)> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%i, %c0] dims(0, 1) : !tile.view<?x32xf32, read> -> !tile.sram<1x32xf32>
  %b = tile.load %w[%j, %c0] dims(0, 1) : !tile.view<?x32xf32, read, panel = 16 along 0> -> !tile.sram<1x32xf32>
  %d = tile.mma %a, %b transpose_b : !tile.sram<1x32xf32>, !tile.sram<1x32xf32> -> !tile.frag<1x1xf32>
  tile.store %d, %y[%i, %j] dims(0, 1) : !tile.frag<1x1xf32>, !tile.view<?x40xf32, write>
}
