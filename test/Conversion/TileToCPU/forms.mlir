// RUN: mmx-opt %s --tile-run-cpu='kernel=both_ways extents=50,50,50,50' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=both_ways extents=50,50,50,50 target=cpu-v3' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=both_ways extents=40,40,40,40 front=true' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=bf16_both_ways' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=bf16_both_ways target=cpu-v3' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=panels' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=panels target=cpu-v3 front=true' -o /dev/null | FileCheck %s

// CHECK: agrees

// One tile as A, as A transposed, as B and as B transposed; 3 heads beside
// each other in memory.
tile.kernel @both_ways(%q: !tile.view<?x3x24xf32, read>,
                       %k: !tile.view<?x3x24xf32, read>,
                       %s: !tile.view<?x3x40xf32, write>,
                       %o: !tile.view<?x3x24xf32, write>,
                       %u: !tile.view<3x24x24xf32, write>)
    grid(%h) = affine_map<()[s0, s1, s2, s3] -> (3)> {
  %c0 = arith.constant 0 : index
  %n = tile.dim %k, 0 : !tile.view<?x3x24xf32, read>
  %Q = tile.load %q[%c0, %h, %c0] dims(0, 2) : !tile.view<?x3x24xf32, read> -> !tile.sram<40x24xf32>
  %K = tile.load %k[%c0, %h, %c0] dims(0, 2) rows %n : !tile.view<?x3x24xf32, read> -> !tile.sram<40x24xf32>
  %S = tile.mma %Q, %K transpose_b : !tile.sram<40x24xf32>, !tile.sram<40x24xf32> -> !tile.frag<40x40xf32>
  %O = tile.mma %S, %K : !tile.frag<40x40xf32>, !tile.sram<40x24xf32> -> !tile.frag<40x24xf32>
  %U = tile.mma %K transpose_a, %O : !tile.sram<40x24xf32>, !tile.frag<40x24xf32> -> !tile.frag<24x24xf32>
  tile.store %S, %s[%c0, %h, %c0] dims(0, 2) : !tile.frag<40x40xf32>, !tile.view<?x3x40xf32, write>
  tile.store %O, %o[%c0, %h, %c0] dims(0, 2) : !tile.frag<40x24xf32>, !tile.view<?x3x24xf32, write>
  tile.store %U, %u[%h, %c0, %c0] dims(1, 2) : !tile.frag<24x24xf32>, !tile.view<3x24x24xf32, write>
}

tile.kernel @bf16_both_ways(%q: !tile.view<37x32xbf16, read>,
                            %k: !tile.view<45x32xbf16, read>,
                            %o: !tile.view<37x32xbf16, write>,
                            %u: !tile.view<32x32xf32, write>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %Q = tile.load %q[%c0, %c0] dims(0, 1) : !tile.view<37x32xbf16, read> -> !tile.sram<37x32xbf16>
  %K = tile.load %k[%c0, %c0] dims(0, 1) : !tile.view<45x32xbf16, read> -> !tile.sram<48x32xbf16>
  %S = tile.mma %Q, %K transpose_b : !tile.sram<37x32xbf16>, !tile.sram<48x32xbf16> -> !tile.frag<37x48xf32>
  %T = tile.map(%S) : (!tile.frag<37x48xf32>) -> !tile.frag<37x48xbf16> {
  ^bb0(%v: f32, %r: index, %c: index):
    %t = arith.truncf %v : f32 to bf16
    tile.yield %t : bf16
  }
  %O = tile.mma %T, %K : !tile.frag<37x48xbf16>, !tile.sram<48x32xbf16> -> !tile.frag<37x32xf32>
  %U = tile.mma %K transpose_a, %K : !tile.sram<48x32xbf16>, !tile.sram<48x32xbf16> -> !tile.frag<32x32xf32>
  tile.store %O, %o[%c0, %c0] dims(0, 1) : !tile.frag<37x32xf32>, !tile.view<37x32xbf16, write>
  tile.store %U, %u[%c0, %c0] dims(0, 1) : !tile.frag<32x32xf32>, !tile.view<32x32xf32, write>
}

// Panels in place, with rows cut off, from within a panel, as rows, and of one
// expert of three.
tile.kernel @panels(%x: !tile.view<9x40xf32, read>,
                    %w: !tile.view<3x70x40xf32, read, panel = 16 along 1>,
                    %y: !tile.view<5x9x32xf32, write>,
                    %z: !tile.view<32x40xf32, write>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c21 = arith.constant 21 : index
  %c48 = arith.constant 48 : index
  %X = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<9x40xf32, read> -> !tile.sram<9x40xf32>
  %A = tile.load %w[%c1, %c16, %c0] dims(1, 2) : !tile.view<3x70x40xf32, read, panel = 16 along 1> -> !tile.sram<32x40xf32>
  %B = tile.load %w[%c1, %c48, %c0] dims(1, 2) : !tile.view<3x70x40xf32, read, panel = 16 along 1> -> !tile.sram<32x40xf32>
  %C = tile.load %w[%c2, %c16, %c0] dims(1, 2) rows %c21 : !tile.view<3x70x40xf32, read, panel = 16 along 1> -> !tile.sram<32x40xf32>
  %D = tile.load %w[%c0, %c21, %c0] dims(1, 2) : !tile.view<3x70x40xf32, read, panel = 16 along 1> -> !tile.sram<32x40xf32>
  %E = tile.load %w[%c3, %c0, %c0] dims(1, 2) : !tile.view<3x70x40xf32, read, panel = 16 along 1> -> !tile.sram<32x40xf32>
  %0 = tile.mma %X, %A transpose_b : !tile.sram<9x40xf32>, !tile.sram<32x40xf32> -> !tile.frag<9x32xf32>
  %1 = tile.mma %X, %B transpose_b : !tile.sram<9x40xf32>, !tile.sram<32x40xf32> -> !tile.frag<9x32xf32>
  %2 = tile.mma %X, %C transpose_b : !tile.sram<9x40xf32>, !tile.sram<32x40xf32> -> !tile.frag<9x32xf32>
  %3 = tile.mma %X, %D transpose_b : !tile.sram<9x40xf32>, !tile.sram<32x40xf32> -> !tile.frag<9x32xf32>
  %4 = tile.mma %X, %E transpose_b : !tile.sram<9x40xf32>, !tile.sram<32x40xf32> -> !tile.frag<9x32xf32>
  tile.store %0, %y[%c0, %c0, %c0] dims(1, 2) : !tile.frag<9x32xf32>, !tile.view<5x9x32xf32, write>
  tile.store %1, %y[%c1, %c0, %c0] dims(1, 2) : !tile.frag<9x32xf32>, !tile.view<5x9x32xf32, write>
  tile.store %2, %y[%c2, %c0, %c0] dims(1, 2) : !tile.frag<9x32xf32>, !tile.view<5x9x32xf32, write>
  tile.store %3, %y[%c3, %c0, %c0] dims(1, 2) : !tile.frag<9x32xf32>, !tile.view<5x9x32xf32, write>
  tile.store %4, %y[%c4, %c0, %c0] dims(1, 2) : !tile.frag<9x32xf32>, !tile.view<5x9x32xf32, write>
  %F = tile.read %C : !tile.sram<32x40xf32> -> !tile.frag<32x40xf32>
  tile.store %F, %z[%c0, %c0] dims(0, 1) : !tile.frag<32x40xf32>, !tile.view<32x40xf32, write>
}
