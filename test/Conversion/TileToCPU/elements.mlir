// RUN: mmx-opt %s --tile-run-cpu='kernel=bf16_bodies' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=bf16_bodies target=cpu-v3' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=integers' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=integers target=cpu-v3' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=functions tolerance=3e-7' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=functions tolerance=3e-7 target=cpu-v3' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=bounds' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=bounds front=true' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=next_rows' -o /dev/null | FileCheck %s

// CHECK: agrees

// One value a row, one a column, conditions and constants in bf16; a tile of
// rank 1 through shared memory.
tile.kernel @bf16_bodies(%x: !tile.view<9x20xbf16, read>, %u: !tile.view<9xbf16, read>,
                         %v: !tile.view<20xbf16, read>, %y: !tile.view<9x20xbf16, write>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<9x20xbf16, read> -> !tile.frag<9x20xbf16>
  %s = tile.load %u[%c0] dims(0) : !tile.view<9xbf16, read> -> !tile.sram<9xbf16>
  %p = tile.read %s : !tile.sram<9xbf16> -> !tile.frag<9xbf16, along 0>
  %q = tile.load %v[%c0] dims(0) : !tile.view<20xbf16, read> -> !tile.frag<20xbf16, along 1>
  %b = tile.map(%a, %p, %q) : (!tile.frag<9x20xbf16>, !tile.frag<9xbf16, along 0>, !tile.frag<20xbf16, along 1>) -> !tile.frag<9x20xbf16> {
  ^bb0(%e: bf16, %r: bf16, %c: bf16, %row: index, %col: index):
    %half = arith.constant 0.5 : bf16
    %t = arith.mulf %e, %r : bf16
    %less = arith.cmpf olt, %e, %half : bf16
    %n = arith.negf %c : bf16
    %k = arith.select %less, %t, %n : bf16
    tile.yield %k : bf16
  }
  tile.store %b, %y[%c0, %c0] dims(0, 1) : !tile.frag<9x20xbf16>, !tile.view<9x20xbf16, write>
}

tile.kernel @integers(%x: !tile.view<5x18xi8, read>, %y: !tile.view<5x18xi32, write>,
                      %z: !tile.view<5x18xi8, write>, %w: !tile.view<5x18xf32, write>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<5x18xi8, read> -> !tile.frag<5x18xi8>
  %b, %c, %d = tile.map(%a) : (!tile.frag<5x18xi8>) -> (!tile.frag<5x18xi32>, !tile.frag<5x18xi8>, !tile.frag<5x18xf32>) {
  ^bb0(%e: i8, %row: index, %col: index):
    %f = arith.extsi %e : i8 to i32
    %r = arith.index_cast %row : index to i32
    %c7 = arith.constant 7 : i32
    %g = arith.divsi %f, %c7 : i32
    %h = arith.addi %g, %r : i32
    %k = arith.trunci %h : i32 to i8
    %m = arith.sitofp %f : i32 to f32
    tile.yield %h, %k, %m : i32, i8, f32
  }
  tile.store %b, %y[%c0, %c0] dims(0, 1) : !tile.frag<5x18xi32>, !tile.view<5x18xi32, write>
  tile.store %c, %z[%c0, %c0] dims(0, 1) : !tile.frag<5x18xi8>, !tile.view<5x18xi8, write>
  tile.store %d, %w[%c0, %c0] dims(0, 1) : !tile.frag<5x18xf32>, !tile.view<5x18xf32, write>
}

// exp over its range, divided by a value nearby; sin and cos of angles
// up to 1e7, in f64.
tile.kernel @functions(%x: !tile.view<32x64xf32, read>, %e: !tile.view<32x64xf32, write>,
                       %s: !tile.view<32x64xf32, write>, %c: !tile.view<32x64xf32, write>,
                       %t: !tile.view<32x64xf32, write>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<32x64xf32, read> -> !tile.frag<32x64xf32>
  %0:4 = tile.map(%a) : (!tile.frag<32x64xf32>) -> (!tile.frag<32x64xf32>, !tile.frag<32x64xf32>, !tile.frag<32x64xf32>, !tile.frag<32x64xf32>) {
  ^bb0(%v: f32, %row: index, %col: index):
    %n = arith.index_cast %row : index to i32
    %f = arith.sitofp %n : i32 to f32
    %k = arith.constant -2.7 : f32
    %k2 = arith.constant 0.5 : f32
    %shift = arith.mulf %f, %k : f32
    %p = math.fma %v, %k2, %shift : f32
    %q = math.exp %p : f32
    %r = arith.negf %shift : f32
    %u = math.exp %r : f32
    %ratio = arith.mulf %q, %u : f32
    %big = arith.constant 1.0e7 : f64
    %wide = arith.extf %v : f32 to f64
    %angle = arith.mulf %wide, %big : f64
    %sin = math.sin %angle : f64
    %cos = math.cos %angle : f64
    %sin32 = arith.truncf %sin : f64 to f32
    %cos32 = arith.truncf %cos : f64 to f32
    %direct = math.sin %v : f32
    tile.yield %ratio, %sin32, %cos32, %direct : f32, f32, f32, f32
  }
  tile.store %0#0, %e[%c0, %c0] dims(0, 1) : !tile.frag<32x64xf32>, !tile.view<32x64xf32, write>
  tile.store %0#1, %s[%c0, %c0] dims(0, 1) : !tile.frag<32x64xf32>, !tile.view<32x64xf32, write>
  tile.store %0#2, %c[%c0, %c0] dims(0, 1) : !tile.frag<32x64xf32>, !tile.view<32x64xf32, write>
  tile.store %0#3, %t[%c0, %c0] dims(0, 1) : !tile.frag<32x64xf32>, !tile.view<32x64xf32, write>
}

// Tiles that begin before a view or end behind it, in any dimension; columns
// that are not neighbours in memory; rows of a rank-1 tile.
tile.kernel @bounds(%x: !tile.view<10x40x3xf32, read>, %y: !tile.view<10x40x3xf32, write>,
                    %z: !tile.view<16x48xf32, write>, %w: !tile.view<40xf32, write>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c11 = arith.constant 11 : index
  %before = arith.constant -3 : index
  %a = tile.load %x[%before, %before, %c1] dims(0, 1) {fill = 2.0} : !tile.view<10x40x3xf32, read> -> !tile.frag<16x48xf32>
  %b = tile.load %x[%c0, %c1, %c11] dims(0, 1) {fill = 3.0} : !tile.view<10x40x3xf32, read> -> !tile.frag<16x48xf32>
  %s = tile.map(%a, %b) : (!tile.frag<16x48xf32>, !tile.frag<16x48xf32>) -> !tile.frag<16x48xf32> {
  ^bb0(%u: f32, %v: f32, %row: index, %col: index):
    %t = arith.addf %u, %v : f32
    tile.yield %t : f32
  }
  tile.store %s, %z[%c0, %c0] dims(0, 1) : !tile.frag<16x48xf32>, !tile.view<16x48xf32, write>
  tile.store %s, %y[%before, %before, %c1] dims(0, 1) : !tile.frag<16x48xf32>, !tile.view<10x40x3xf32, write>
  tile.store %s, %y[%c0, %c0, %c11] dims(0, 1) : !tile.frag<16x48xf32>, !tile.view<10x40x3xf32, write>
  %line = tile.load %x[%c1, %before, %c0] dims(1) rows %c11 : !tile.view<10x40x3xf32, read> -> !tile.frag<48xf32, along 1>
  tile.store %line, %w[%before] rows %c11 dims(0) : !tile.frag<48xf32, along 1>, !tile.view<40xf32, write>
}

// A carried fragment of which every iteration stores more rows than the one
// before.
tile.kernel @next_rows(%x: !tile.view<8x16xf32, read>, %y: !tile.view<4x8x16xf32, write>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<8x16xf32, read> -> !tile.frag<8x16xf32>
  %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%p = %a) -> (!tile.frag<8x16xf32>) {
    %m = arith.muli %k, %c2 : index
    tile.store %p, %y[%k, %c0, %c0] rows %m dims(1, 2) : !tile.frag<8x16xf32>, !tile.view<4x8x16xf32, write>
    %q = tile.map(%p) : (!tile.frag<8x16xf32>) -> !tile.frag<8x16xf32> {
    ^bb0(%v: f32, %row: index, %col: index):
      %s = arith.addf %v, %v : f32
      tile.yield %s : f32
    }
    scf.yield %q : !tile.frag<8x16xf32>
  }
}
