// RUN: mmx-opt %s --convert-tile-to-cpu | FileCheck %s --check-prefix=CODE
// RUN: mmx-opt %s --tile-run-cpu='extents=70,70' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='extents=70,70 target=cpu-v3 front=true' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='extents=1,1' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='extents=64,64' -o /dev/null | FileCheck %s

// A product with tails in all three dimensions gives the bits of the
// interpreter, whatever the number of rows.

// CHECK: view 2 agrees

// Sums stay in registers over the reduction: 6 rows times 4 vectors.
// CODE: func.func @gemm
// CODE-SAME: mmx.grid
// CODE-SAME: mmx.kernel
// CODE-SAME: mmx.scratch
// CODE-NOT: tile.
// CODE: scf.for {{.*}} iter_args
// CODE-COUNT-96: math.fma
tile.kernel @gemm(%x: !tile.view<?x200xf32, read>,
                  %w: !tile.view<90x200xbf16, read, panel = 16 along 0>,
                  %y: !tile.view<?x90xf32, write>)
    grid(%i, %j) = affine_map<()[s0, s1] -> (s0 ceildiv 64, 2)> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c200 = arith.constant 200 : index
  %m = arith.muli %i, %c64 : index
  %n = arith.muli %j, %c64 : index
  %zero = tile.map() : () -> !tile.frag<64x64xf32> {
  ^bb0(%r: index, %c: index):
    %z = arith.constant 0.0 : f32
    tile.yield %z : f32
  }
  %acc = scf.for %k = %c0 to %c200 step %c64 iter_args(%a0 = %zero) -> (!tile.frag<64x64xf32>) {
    %a = tile.load %x[%m, %k] dims(0, 1) : !tile.view<?x200xf32, read> -> !tile.sram<64x64xf32>
    %b = tile.load %w[%n, %k] dims(0, 1) : !tile.view<90x200xbf16, read, panel = 16 along 0> -> !tile.sram<64x64xbf16>
    %a1 = tile.mma %a, %b transpose_b acc %a0 : !tile.sram<64x64xf32>, !tile.sram<64x64xbf16> -> !tile.frag<64x64xf32>
    scf.yield %a1 : !tile.frag<64x64xf32>
  }
  tile.store %acc, %y[%m, %n] dims(0, 1) : !tile.frag<64x64xf32>, !tile.view<?x90xf32, write>
}
