// RUN: mmx-opt %s --split-input-file --verify-diagnostics

// One case or more for each constraint of docs/tile.md that verifiers see.

// T1
// expected-error @+1 {{expected elements of f32, bf16, i32 or i8, but got 'f64' (T1)}}
tile.kernel @k(%x: !tile.view<4xf64, read>) grid() = affine_map<() -> ()> {
}

// -----

// T1
// expected-error @+1 {{expected elements of f32, bf16, i32 or i8, but got 'i1' (T1)}}
tile.kernel @k(%x: !tile.sram<4xi1>) grid() = affine_map<() -> ()> {
}

// -----

// T1
// expected-error @+1 {{expected elements of f32, bf16, i32, i8 or i1, but got 'f16' (T1)}}
tile.kernel @k(%x: !tile.frag<4x4xf16>) grid() = affine_map<() -> ()> {
}

// -----

// T2
// expected-error @+1 {{expected dynamic extents or extents of at least 1, but got 0 (T2)}}
tile.kernel @k(%x: !tile.view<0x4xf32, read>) grid() = affine_map<() -> ()> {
}

// -----

// T2
// expected-error @+1 {{expected a view of rank 1 or more (T2)}}
tile.kernel @k(%x: !tile.view<f32, read>) grid() = affine_map<() -> ()> {
}

// -----

// T3
// expected-error @+1 {{expected a panel of at least 1, but got -8 (T3)}}
tile.kernel @k(%x: !tile.view<16x4xf32, read, panel = -8 along 0>) grid() = affine_map<() -> ()> {
}

// -----

// T3
// expected-error @+1 {{expected a panel along a dimension of the view, but got 2 (T3)}}
tile.kernel @k(%x: !tile.view<16x4xf32, read, panel = 16 along 2>) grid() = affine_map<() -> ()> {
}

// -----

// T4
// expected-error @+1 {{expected a tile of rank 1 or 2, but got rank 3 (T4)}}
tile.kernel @k(%x: !tile.sram<2x4x4xf32>) grid() = affine_map<() -> ()> {
}

// -----

// T4
// expected-error @+1 {{expected extents of at least 1, but got 0 (T4)}}
tile.kernel @k(%x: !tile.frag<4x0xf32>) grid() = affine_map<() -> ()> {
}

// -----

// T5
// expected-error @+1 {{expected along 0 or 1 for a fragment of rank 1, but got -1 (T5)}}
tile.kernel @k(%x: !tile.frag<4xf32>) grid() = affine_map<() -> ()> {
}

// -----

// T5
// expected-error @+1 {{expected no along for a fragment of rank 2, but got 0 (T5)}}
tile.kernel @k(%x: !tile.frag<4x4xf32, along 0>) grid() = affine_map<() -> ()> {
}

// -----

// T6
// expected-error @+1 {{expected views, index and f32 as parameters, but got '!tile.sram<4xf32>' (T6)}}
tile.kernel @k(%x: !tile.sram<4xf32>) grid() = affine_map<() -> ()> {
}

// -----

// T7
// expected-error @+1 {{expected a grid map without dimensions, but got 1 (T7)}}
tile.kernel @k() grid(%i) = affine_map<(d0) -> (d0)> {
}

// -----

// T7
// expected-error @+1 {{expected at most 3 grid dimensions, but got 4 (T7)}}
tile.kernel @k() grid(%i, %j, %k, %l) = affine_map<() -> (1, 2, 3, 4)> {
}

// -----

// T7
// expected-error @+1 {{expected one symbol for each of 3 extents in the grid map, but got 2 (T7)}}
tile.kernel @k(%x: !tile.view<?x4x?xf32, read>, %n: index, %r: f32) grid(%i) = affine_map<()[s0, s1] -> (s0)> {
}

// -----

// T8
// expected-error @+1 {{expected a body argument for each of 1 grid dimensions, but got 0 (T8)}}
tile.kernel @k() grid() = affine_map<() -> (4)> {
}

// -----

// T8
// expected-error @+1 {{expected coordinates of index type, but got 'f32' (T8)}}
tile.kernel @k(%r: f32) grid() = affine_map<() -> (4)> {
}

// -----

// T9
// expected-error @+1 {{expected a grid dimension and a size of at least 1 as the cluster (T9)}}
tile.kernel @k() grid(%i) = affine_map<() -> (4)> attributes {cluster = array<i64: 1, 2>} {
}

// -----

// T9
// expected-error @+1 {{expected a grid size divisible by the cluster size 3, but got 4 (T9)}}
tile.kernel @k() grid(%i) = affine_map<() -> (4)> attributes {cluster = array<i64: 0, 3>} {
}

// -----

// T10
tile.kernel @k() grid() = affine_map<()[] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected tile ops, scalar ops, scf.for and scf.if in a tile.kernel (T10)}}
  %a = memref.alloc() : memref<4xf32>
}

// -----

// T11
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %n = tile.dim %x, 0 : !tile.view<?x16xf32, read>
  %b = arith.cmpi eq, %n, %c0 : index
  scf.if %b {
    // expected-error @+1 {{expected no conditional around a tile op, but got scf.if (T11)}}
    %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.sram<4x16xf32>
  }
}

// -----

// T12
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.sram<4x16xf32>
  // expected-error @+1 {{expected fragments and scalars as carried values of a tile program, but got '!tile.sram<4x16xf32>' (T12)}}
  %b = scf.for %i = %c0 to %c4 step %c4 iter_args(%s = %a) -> (!tile.sram<4x16xf32>) {
    scf.yield %s : !tile.sram<4x16xf32>
  }
}

// -----

// T12
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected scalar results in a tile program, but got '!tile.frag<4x16xf32>' (T12)}}
  %b = scf.if %true -> (!tile.frag<4x16xf32>) {
    scf.yield %a : !tile.frag<4x16xf32>
  } else {
    scf.yield %a : !tile.frag<4x16xf32>
  }
}

// -----

// T13
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  %m = tile.map(%f) : (!tile.frag<4x16xf32>) -> !tile.frag<4x16xf32> {
  ^bb0(%v: f32, %r: index, %c: index):
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{expected loop bounds from outside the map (T13)}}
    %s = scf.for %i = %c0 to %r step %c1 iter_args(%w = %v) -> (f32) {
      %d = arith.addf %w, %w : f32
      scf.yield %d : f32
    }
    tile.yield %s : f32
  }
}

// -----

// T14
tile.kernel @k(%x: !tile.view<4xf32, write>) grid() = affine_map<()[] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a read view, but got '!tile.view<4xf32, write>' (T14)}}
  %a = tile.table %x[%c0] : !tile.view<4xf32, write> -> f32
}

// -----

// T14
tile.kernel @k(%x: !tile.view<4xf32, read>) grid() = affine_map<()[] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a result of 'f32', but got 'index' (T14)}}
  %a = tile.table %x[%c0] : !tile.view<4xf32, read> -> index
}

// -----

// T15
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected 2 indices, but got 1 (T15)}}
  %a = tile.table %x[%c0] : !tile.view<?x16xf32, read> -> f32
}

// -----

// T15
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected 2 indices, but got 3 (T15)}}
  %a = tile.load %x[%c0, %c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.sram<4x16xf32>
}

// -----

// T16
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected 2 dims for '!tile.sram<4x16xf32>', but got 1 (T16)}}
  %a = tile.load %x[%c0, %c0] dims(0) : !tile.view<?x16xf32, read> -> !tile.sram<4x16xf32>
}

// -----

// T16
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected increasing dims below 2, but got 0 (T16)}}
  %a = tile.load %x[%c0, %c0] dims(1, 0) : !tile.view<?x16xf32, read> -> !tile.sram<4x16xf32>
}

// -----

// T16
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected increasing dims below 2, but got 2 (T16)}}
  %a = tile.load %x[%c0, %c0] dims(0, 2) : !tile.view<?x16xf32, read> -> !tile.sram<4x16xf32>
}

// -----

// T17
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a tile of 'f32', but got 'bf16' (T17)}}
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.sram<4x16xbf16>
}

// -----

// T18
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected a write or inplace view, but got '!tile.view<?x16xf32, read>' (T18)}}
  tile.store %f, %x[%c0, %c0] dims(0, 1) : !tile.frag<4x16xf32>, !tile.view<?x16xf32, read>
}

// -----

// T18
tile.kernel @k(%x: !tile.view<?x16xf32, read>, %y: !tile.view<4x16xi32, write>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected a tile of 'i32', but got 'f32' (T18)}}
  tile.store %f, %y[%c0, %c0] dims(0, 1) : !tile.frag<4x16xf32>, !tile.view<4x16xi32, write>
}

// -----

// T19
tile.kernel @k(%x: !tile.view<?x16xf32, read>, %i: !tile.view<4xi32, write>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected row ids in a read view of rank 1 of i32, but got '!tile.view<4xi32, write>' (T19)}}
  %a = tile.gather %x[%c0, %c0] ids(%i at %c0) rows %c0 dims(0, 1) : !tile.view<?x16xf32, read>, !tile.view<4xi32, write> -> !tile.sram<4x16xf32>
}

// -----

// T19
tile.kernel @k(%x: !tile.view<?x16xf32, read>, %y: !tile.view<4x16xf32, write>, %i: !tile.view<4x1xi32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected row ids in a read view of rank 1 of i32, but got '!tile.view<4x1xi32, read>' (T19)}}
  tile.store %f, %y[%c0, %c0] ids(%i at %c0) dims(0, 1) : !tile.frag<4x16xf32>, !tile.view<4x16xf32, write>, !tile.view<4x1xi32, read>
}

// -----

// T19
tile.kernel @k(%x: !tile.view<?x16xf32, read>, %y: !tile.view<4x16xf32, write>, %i: !tile.view<4xi32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected row ids and their start together (T19)}}
  "tile.store"(%f, %y, %c0, %c0, %i) <{dims = array<i64: 0, 1>, operandSegmentSizes = array<i32: 1, 1, 2, 1, 0, 0>}> : (!tile.frag<4x16xf32>, !tile.view<4x16xf32, write>, index, index, !tile.view<4xi32, read>) -> ()
}

// -----

// T20
tile.kernel @k(%x: !tile.view<4xi8, read>) grid() = affine_map<()[] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a whole number in the range of 'i8' as fill, but got 1.280000e+02 (T20)}}
  %a = tile.load %x[%c0] dims(0) {fill = 128.0 : f64} : !tile.view<4xi8, read> -> !tile.sram<4xi8>
}

// -----

// T20
tile.kernel @k(%x: !tile.view<4xi8, read>) grid() = affine_map<()[] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a whole number in the range of 'i8' as fill, but got 5.000000e-01 (T20)}}
  %a = tile.load %x[%c0] dims(0) {fill = 0.5 : f64} : !tile.view<4xi8, read> -> !tile.sram<4xi8>
}

// -----

// T21
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a dimension below 2, but got 2 (T21)}}
  %a = tile.dim %x, 2 : !tile.view<?x16xf32, read>
}

// -----

// T22
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.sram<4x16xf32>
  // expected-error @+1 {{expected tiles of one shape and element type, but got '!tile.sram<4x16xf32>' and '!tile.frag<4x8xf32>' (T22)}}
  %b = tile.read %a : !tile.sram<4x16xf32> -> !tile.frag<4x8xf32>
}

// -----

// T22
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected tiles of one shape and element type, but got '!tile.sram<4x16xbf16>' and '!tile.frag<4x16xf32>' (T22)}}
  %b = tile.put %f : !tile.frag<4x16xf32> -> !tile.sram<4x16xbf16>
}

// -----

// T23
tile.kernel @k(%x: !tile.view<?x?xf32, read>) grid() = affine_map<()[s0, s1] -> ()> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0) : !tile.view<?x?xf32, read> -> !tile.frag<4xf32, along 1>
  %b = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x?xf32, read> -> !tile.sram<4x16xf32>
  // expected-error @+1 {{expected operands of rank 2 of bf16 or f32, but got '!tile.frag<4xf32, along 1>' (T23)}}
  %p = tile.mma %a, %b : !tile.frag<4xf32, along 1>, !tile.sram<4x16xf32> -> !tile.frag<4x16xf32>
}

// -----

// T23
tile.kernel @k(%x: !tile.view<?x?xf32, read>) grid() = affine_map<()[s0, s1] -> ()> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x?xf32, read> -> !tile.sram<4x16xf32>
  %b = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x?xf32, read> -> !tile.sram<4x16xf32>
  // expected-error @+1 {{expected a result of rank 2 of f32, but got '!tile.frag<4x4xbf16>' (T23)}}
  %p = tile.mma %a, %b transpose_b : !tile.sram<4x16xf32>, !tile.sram<4x16xf32> -> !tile.frag<4x4xbf16>
}

// -----

// T23
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.sram<4x16xf32>
  // expected-error @+1 {{expected an accumulator of '!tile.frag<4x4xf32>', but got '!tile.frag<4x16xf32>' (T23)}}
  %p = "tile.mma"(%a, %a, %f) <{transpose_b}> : (!tile.sram<4x16xf32>, !tile.sram<4x16xf32>, !tile.frag<4x16xf32>) -> !tile.frag<4x4xf32>
}

// -----

// T24
tile.kernel @k(%x: !tile.view<?x?xf32, read>) grid() = affine_map<()[s0, s1] -> ()> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x?xf32, read> -> !tile.frag<4x16xf32>
  %b = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x?xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected at most one fragment as operand, but got two (T24)}}
  %p = tile.mma %a, %b transpose_b : !tile.frag<4x16xf32>, !tile.frag<4x16xf32> -> !tile.frag<4x4xf32>
}

// -----

// T25
tile.kernel @k(%x: !tile.view<?x?xf32, read>) grid() = affine_map<()[s0, s1] -> ()> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x?xf32, read> -> !tile.sram<4x16xf32>
  %b = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x?xf32, read> -> !tile.sram<4x16xf32>
  // expected-error @+1 {{expected equal contraction extents, but got 16 and 4 (T25)}}
  %p = tile.mma %a, %b : !tile.sram<4x16xf32>, !tile.sram<4x16xf32> -> !tile.frag<4x4xf32>
}

// -----

// T25
tile.kernel @k(%x: !tile.view<?x?xf32, read>) grid() = affine_map<()[s0, s1] -> ()> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x?xf32, read> -> !tile.sram<4x16xf32>
  %b = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x?xf32, read> -> !tile.sram<4x16xf32>
  // expected-error @+1 {{expected a result of 16x16, but got '!tile.frag<4x4xf32>' (T25)}}
  %p = tile.mma %a transpose_a, %b : !tile.sram<4x16xf32>, !tile.sram<4x16xf32> -> !tile.frag<4x4xf32>
}

// -----

// T26
tile.kernel @k() grid() = affine_map<()[] -> ()> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected at least one result (T26)}}
  tile.map() : () -> () {
  ^bb0(%r: index, %c: index):
    "tile.yield"() : () -> ()
  }
}

// -----

// T26
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected results of one shape, but got '!tile.frag<4x16xf32>' and '!tile.frag<4x8xf32>' (T26)}}
  %m:2 = tile.map(%f) : (!tile.frag<4x16xf32>) -> (!tile.frag<4x16xf32>, !tile.frag<4x8xf32>) {
  ^bb0(%v: f32, %r: index, %c: index):
    tile.yield %v, %v : f32, f32
  }
}

// -----

// T26
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected operands that fit '!tile.frag<8x16xf32>', but got '!tile.frag<4x16xf32>' (T26)}}
  %m = tile.map(%f) : (!tile.frag<4x16xf32>) -> !tile.frag<8x16xf32> {
  ^bb0(%v: f32, %r: index, %c: index):
    tile.yield %v : f32
  }
}

// -----

// T26
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] dims(1) : !tile.view<?x16xf32, read> -> !tile.frag<16xf32, along 0>
  // expected-error @+1 {{expected operands that fit '!tile.frag<4x16xf32>', but got '!tile.frag<16xf32, along 0>' (T26)}}
  %m = tile.map(%v) : (!tile.frag<16xf32, along 0>) -> !tile.frag<4x16xf32> {
  ^bb0(%e: f32, %r: index, %c: index):
    tile.yield %e : f32
  }
}

// -----

// T27
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected 3 body arguments, but got 2 (T27)}}
  %m = tile.map(%f) : (!tile.frag<4x16xf32>) -> !tile.frag<4x16xf32> {
  ^bb0(%v: f32, %r: index):
    tile.yield %v : f32
  }
}

// -----

// T27
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected body argument 0 of type 'f32', but got 'bf16' (T27)}}
  %m = tile.map(%f) : (!tile.frag<4x16xf32>) -> !tile.frag<4x16xf32> {
  ^bb0(%v: bf16, %r: index, %c: index):
    %w = arith.extf %v : bf16 to f32
    tile.yield %w : f32
  }
}

// -----

// T27
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected body argument 1 of type 'index', but got 'i32' (T27)}}
  %m = tile.map(%f) : (!tile.frag<4x16xf32>) -> !tile.frag<4x16xf32> {
  ^bb0(%v: f32, %r: i32, %c: index):
    tile.yield %v : f32
  }
}

// -----

// T27
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected a body that yields 1 values (T27)}}
  %m = tile.map(%f) : (!tile.frag<4x16xf32>) -> !tile.frag<4x16xf32> {
  ^bb0(%v: f32, %r: index, %c: index):
    tile.yield %v, %v : f32, f32
  }
}

// -----

// T27
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected value 0 of type 'f32', but got 'index' (T27)}}
  %m = tile.map(%f) : (!tile.frag<4x16xf32>) -> !tile.frag<4x16xf32> {
  ^bb0(%v: f32, %r: index, %c: index):
    tile.yield %r : index
  }
}

// -----

// T28
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  %m = tile.map(%f) : (!tile.frag<4x16xf32>) -> !tile.frag<4x16xf32> {
  ^bb0(%v: f32, %r: index, %c: index):
    // expected-error @+1 {{expected scalars in the body of a map, but got '!tile.view<?x16xf32, read>' (T28)}}
    %w = tile.table %x[%r, %c] : !tile.view<?x16xf32, read> -> f32
    tile.yield %w : f32
  }
}

// -----

// T28
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  %m = tile.map(%f) : (!tile.frag<4x16xf32>) -> !tile.frag<4x16xf32> {
  ^bb0(%v: f32, %r: index, %c: index):
    %b = arith.cmpi eq, %r, %c : index
    // expected-error @+1 {{expected pure scalar ops and scf.for in the body of a map (T28)}}
    %w = scf.if %b -> (f32) {
      scf.yield %v : f32
    } else {
      scf.yield %v : f32
    }
    tile.yield %w : f32
  }
}

// -----

// T29
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %true = arith.constant true

  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected one result of the type of operand 0 beside 'when' (T29)}}
  %m = tile.map(%f) when %true : (!tile.frag<4x16xf32>) -> !tile.frag<4x16xbf16> {
  ^bb0(%v: f32, %r: index, %c: index):
    %w = arith.truncf %v : f32 to bf16
    tile.yield %w : bf16
  }
}

// -----

// T30
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] dims(1) : !tile.view<?x16xf32, read> -> !tile.frag<16xf32, along 0>
  // expected-error @+1 {{expected a fragment of rank 2 of f32 or i32, but got '!tile.frag<16xf32, along 0>' (T30)}}
  %r = tile.reduce add %v dim 0 : !tile.frag<16xf32, along 0> -> !tile.frag<16xf32, along 0>
}

// -----

// T30
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected dim 0 or 1, but got 2 (T30)}}
  %r = tile.reduce add %f dim 2 : !tile.frag<4x16xf32> -> !tile.frag<4xf32, along 0>
}

// -----

// T30
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected a result of '!tile.frag<4xf32, along 0>', but got '!tile.frag<4xf32, along 1>' (T30)}}
  %r = tile.reduce add %f dim 1 : !tile.frag<4x16xf32> -> !tile.frag<4xf32, along 1>
}

// -----

// T31
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected positions with max only (T31)}}
  %r:2 = tile.reduce add %f dim 1 : !tile.frag<4x16xf32> -> !tile.frag<4xf32, along 0>, !tile.frag<4xi32, along 0>
}

// -----

// T31
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected positions of '!tile.frag<4xi32, along 0>', but got '!tile.frag<4xf32, along 0>' (T31)}}
  %r:2 = tile.reduce max %f dim 1 : !tile.frag<4x16xf32> -> !tile.frag<4xf32, along 0>, !tile.frag<4xf32, along 0>
}

// -----

// T32
tile.kernel @k(%x: !tile.view<?x16xf32, read>) grid() = affine_map<()[s0] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.frag<4x16xf32>
  // expected-error @+1 {{expected a fragment of integers, but got '!tile.frag<4x16xf32>' (T32)}}
  %r = tile.scan %f dim 1 : !tile.frag<4x16xf32>
}

// -----

// T32
tile.kernel @k(%x: !tile.view<16xi32, read>) grid() = affine_map<()[] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0] dims(0) : !tile.view<16xi32, read> -> !tile.frag<16xi32, along 0>
  // expected-error @+1 {{expected a dimension of '!tile.frag<16xi32, along 0>', but got 1 (T32)}}
  %r = tile.scan %f dim 1 : !tile.frag<16xi32, along 0>
}

// -----

// T32
tile.kernel @k(%x: !tile.view<16xi32, read>) grid() = affine_map<()[] -> ()> {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0] dims(0) : !tile.view<16xi32, read> -> !tile.frag<16xi32, along 0>
  // expected-error @+1 {{expected a result of '!tile.frag<16xi32, along 0>', but got '!tile.frag<16xi32, along 1>' (T32)}}
  %r = "tile.scan"(%f) <{dim = 0 : i64}> : (!tile.frag<16xi32, along 0>) -> !tile.frag<16xi32, along 1>
}
