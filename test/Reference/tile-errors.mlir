// RUN: mmx-opt %s --tile-interpret='kernel=k' --split-input-file --verify-diagnostics -o /dev/null

// What a program must not do: docs/tile.md, T50 to T54.

// T50, two cells write one element.
tile.kernel @k(%y: !tile.view<9xf32, write>) grid(%i) = affine_map<() -> (3)> {
  %c3 = arith.constant 3 : index
  %n = arith.muli %i, %c3 : index
  %a = tile.map() : () -> !tile.frag<4xf32, along 0> {
  ^bb0(%r: index, %c: index):
    %z = arith.constant 1.0 : f32
    tile.yield %z : f32
  }
  // expected-error @+1 {{writes element [3] in cell 1, but cell 0 writes it}}
  tile.store %a, %y[%n] dims(0) : !tile.frag<4xf32, along 0>, !tile.view<9xf32, write>
}

// -----

// T50, a cell reads what an earlier one writes.
tile.kernel @k(%y: !tile.view<4xf32, write>) grid(%i) = affine_map<() -> (2)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %other = arith.subi %c1, %i : index
  // expected-error @+1 {{reads element [0] in cell 1, but cell 0 writes it}}
  %a = tile.load %y[%other] dims(0) : !tile.view<4xf32, write> -> !tile.frag<1xf32, along 0>
  tile.store %a, %y[%i] dims(0) : !tile.frag<1xf32, along 0>, !tile.view<4xf32, write>
}

// -----

// T50, a cell writes what an earlier one has read.
tile.kernel @k(%y: !tile.view<5xf32, write>) grid(%i) = affine_map<() -> (2)> {
  %a = tile.load %y[%i] dims(0) : !tile.view<5xf32, write> -> !tile.frag<2xf32, along 0>
  %f = tile.put %a : !tile.frag<2xf32, along 0> -> !tile.sram<2xf32>
  // expected-error @+1 {{writes element [1] in cell 1, but another cell reads it}}
  tile.store %f, %y[%i] rows %i dims(0) : !tile.sram<2xf32>, !tile.view<5xf32, write>
}

// -----

// T51, iteration 1 loads what iteration 0 has stored.
tile.kernel @k(%y: !tile.view<4x2xf32, inplace>) grid() = affine_map<() -> ()> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    // expected-error @+1 {{reads element [1, 0] of an inplace view in two iterations}}
    %a = tile.load %y[%i, %c0] dims(0, 1) : !tile.view<4x2xf32, inplace> -> !tile.frag<2x2xf32>
    tile.store %a, %y[%i, %c0] dims(0, 1) : !tile.frag<2x2xf32>, !tile.view<4x2xf32, inplace>
  }
}

// -----

// T51, the same row of a pool twice.
tile.kernel @k(%slots: !tile.view<3xi32, read>, %y: !tile.view<4x2xf32, inplace>)
    grid() = affine_map<() -> ()> attributes {tile.inputs = [dense<[2, 0, 2]> : tensor<3xi32>, unit]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %s = tile.table %slots[%i] : !tile.view<3xi32, read> -> index
    // expected-error @+1 {{reads element [2, 0] of an inplace view in two iterations}}
    %a = tile.load %y[%s, %c0] dims(1) : !tile.view<4x2xf32, inplace> -> !tile.frag<2xf32, along 1>
    tile.store %a, %y[%s, %c0] dims(1) : !tile.frag<2xf32, along 1>, !tile.view<4x2xf32, inplace>
  }
}

// -----

// T51 allows other iterations of inner loops around one of the two ops only.
tile.kernel @k(%y: !tile.view<4x2xf32, inplace>) grid(%j) = affine_map<() -> (2)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = tile.load %y[%j, %c0] dims(1) : !tile.view<4x2xf32, inplace> -> !tile.frag<2xf32, along 1>
  %b = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %a) -> (!tile.frag<2xf32, along 1>) {
    scf.yield %x : !tile.frag<2xf32, along 1>
  }
  tile.store %b, %y[%j, %c0] dims(1) : !tile.frag<2xf32, along 1>, !tile.view<4x2xf32, inplace>
}

// -----

// T52, tables.
tile.kernel @k(%x: !tile.view<3x2xf32, read>) grid(%i) = affine_map<() -> (4)> {
  // expected-error @+1 {{index [2, 2] out of range of [3, 2]}}
  %a = tile.table %x[%i, %i] : !tile.view<3x2xf32, read> -> f32
}

// -----

// T52, rows that are gathered.
tile.kernel @k(%x: !tile.view<3x2xf32, read>, %ids: !tile.view<4xi32, read>)
    grid() = affine_map<() -> ()> attributes {tile.inputs = [unit, dense<[0, 2, 3, -1]> : tensor<4xi32>]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  // Ids outside the rows are not read.
  %a = tile.gather %x[%c0, %c0] ids(%ids at %c0) rows %c2 dims(0, 1) : !tile.view<3x2xf32, read>, !tile.view<4xi32, read> -> !tile.sram<8x2xf32>
  // expected-error @+1 {{row id 3 out of range of 3}}
  %b = tile.gather %x[%c0, %c0] ids(%ids at %c0) rows %c4 dims(0, 1) : !tile.view<3x2xf32, read>, !tile.view<4xi32, read> -> !tile.sram<8x2xf32>
}

// -----

// T52, places of ids.
tile.kernel @k(%x: !tile.view<3x2xf32, read>, %ids: !tile.view<4xi32, read>)
    grid() = affine_map<() -> ()> attributes {tile.inputs = [unit, "zero"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  // expected-error @+1 {{row ids: index 4 out of range of 4}}
  %b = tile.gather %x[%c0, %c0] ids(%ids at %c3) rows %c2 dims(0, 1) : !tile.view<3x2xf32, read>, !tile.view<4xi32, read> -> !tile.sram<8x2xf32>
}

// -----

// T53.
tile.kernel @k(%y: !tile.view<3x2xf32, write>, %ids: !tile.view<4xi32, read>)
    grid() = affine_map<() -> ()> attributes {tile.inputs = [unit, dense<[0, 2, 0, 1]> : tensor<4xi32>]} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %a = tile.load %y[%c0, %c0] dims(0, 1) : !tile.view<3x2xf32, write> -> !tile.sram<8x2xf32>
  // expected-error @+1 {{row id 0 occurs twice}}
  tile.store %a, %y[%c0, %c0] ids(%ids at %c0) rows %c3 dims(0, 1) : !tile.sram<8x2xf32>, !tile.view<3x2xf32, write>, !tile.view<4xi32, read>
}

// -----

// T54, steps.
tile.kernel @k() grid(%i) = affine_map<() -> (1)> {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{expected a positive step, but got 0}}
  scf.for %j = %i to %c4 step %i {
  }
}

// -----

// T54, divisions.
tile.kernel @k() grid(%i) = affine_map<() -> (1)> {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{undefined for 4 and 0}}
  %a = arith.divsi %c4, %i : index
}

// -----

// T54, conversions.
tile.kernel @k(%x: !tile.view<2xf32, read>, %y: !tile.view<2xi8, write>)
    grid() = affine_map<() -> ()> attributes {tile.inputs = [dense<[-128.5, 128.0]> : tensor<2xf32>, unit]} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] dims(0) : !tile.view<2xf32, read> -> !tile.frag<2xf32, along 0>
  %b = tile.map(%a) : (!tile.frag<2xf32, along 0>) -> !tile.frag<2xi8, along 0> {
  ^bb0(%v: f32, %r: index, %c: index):
    // expected-error @+1 {{expected a value in the range of 'i8', but got 1.280000e+02}}
    %w = arith.fptosi %v : f32 to i8
    tile.yield %w : i8
  }
}

// -----

// expected-error @+1 {{expected 2 entries in tile.inputs, but got 1}}
tile.kernel @k(%x: !tile.view<2xf32, read>, %y: !tile.view<2xi8, write>)
    grid() = affine_map<() -> ()> attributes {tile.inputs = [unit]} {
}

// -----

// expected-error @+1 {{got fewer extents than are dynamic}}
tile.kernel @k(%x: !tile.view<?xf32, read>) grid() = affine_map<()[s0] -> ()> {
}

// -----

// expected-error @+1 {{parameter 0 needs a value}}
tile.kernel @k(%x: f32) grid() = affine_map<() -> ()> {
}

// -----

// expected-error @+1 {{input 0 of i32 must be given}}
tile.kernel @k(%x: !tile.view<4xi32, read>) grid() = affine_map<() -> ()> {
}

// -----

// expected-error @+1 {{expected random, integers, ramp, zero or poison, but got 'ones'}}
tile.kernel @k(%x: !tile.view<4xi32, read>) grid() = affine_map<() -> ()> attributes {tile.inputs = ["ones"]} {
}

// -----

// expected-error @+1 {{no kernel 'k'}}
module {
}
