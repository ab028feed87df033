// RUN: mmx-opt %s --tile-interpret='kernel=grouped compare=tokens extents=5,10 orders=3' -o /dev/null | FileCheck %s

// Ragged products by expert with int8 weights: 5 tokens choose 2 of 4 experts
// each; the choices are sorted by expert (0, 3, 7, 0 of them) and taken in
// tiles of 4 rows. Rows are gathered, results scattered to the choices.
// Bit for bit equal to one choice at a time.

// CHECK: @grouped grid 4x2
// CHECK: view 2 agrees with @tokens
tile.kernel @grouped(%x: !tile.view<?x16xf32, read>, %w: !tile.view<4x24x16xi8, read, panel = 16 along 1>,
                     %y: !tile.view<?x24xf32, write>, %scale: !tile.view<4x24xf32, read>,
                     %starts: !tile.view<5xi32, read>, %tokens: !tile.view<10xi32, read>,
                     %choices: !tile.view<10xi32, read>)
    grid(%e, %j) = affine_map<()[s0, s1] -> (4, 2)>
    attributes {tile.inputs = [
      "random", "random", "poison", "random", dense<[0, 0, 3, 10, 10]> : tensor<5xi32>,
      dense<[0, 2, 4, 0, 1, 1, 2, 3, 3, 4]> : tensor<10xi32>,
      dense<[1, 4, 8, 0, 3, 2, 5, 7, 6, 9]> : tensor<10xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %f = affine.apply affine_map<(d0) -> (d0 * 16)>(%j)
  %e1 = arith.addi %e, %c1 : index
  %first = tile.table %starts[%e] : !tile.view<5xi32, read> -> index
  %last = tile.table %starts[%e1] : !tile.view<5xi32, read> -> index
  %ws = tile.load %w[%e, %f, %c0] dims(1, 2) : !tile.view<4x24x16xi8, read, panel = 16 along 1> -> !tile.sram<16x16xi8>
  %wi = tile.read %ws : !tile.sram<16x16xi8> -> !tile.frag<16x16xi8>
  %wf = tile.map(%wi) : (!tile.frag<16x16xi8>) -> !tile.frag<16x16xf32> {
  ^bb0(%v: i8, %r: index, %c: index):
    %0 = arith.sitofp %v : i8 to f32
    tile.yield %0 : f32
  }
  %sc = tile.load %scale[%e, %f] dims(1) : !tile.view<4x24xf32, read> -> !tile.frag<16xf32, along 1>
  scf.for %t = %first to %last step %c4 {
    %m = affine.min affine_map<(d0, d1) -> (d1 - d0, 4)>(%t, %last)
    %a = tile.gather %x[%c0, %c0] ids(%tokens at %t) rows %m dims(0, 1) : !tile.view<?x16xf32, read>, !tile.view<10xi32, read> -> !tile.sram<4x16xf32>
    %p = tile.mma %a, %wf transpose_b : !tile.sram<4x16xf32>, !tile.frag<16x16xf32> -> !tile.frag<4x16xf32>
    %d = tile.map(%p, %sc) : (!tile.frag<4x16xf32>, !tile.frag<16xf32, along 1>) -> !tile.frag<4x16xf32> {
    ^bb0(%u: f32, %v: f32, %r: index, %c: index):
      %0 = arith.mulf %u, %v : f32
      tile.yield %0 : f32
    }
    tile.store %d, %y[%c0, %f] ids(%choices at %t) rows %m dims(0, 1) : !tile.frag<4x16xf32>, !tile.view<?x24xf32, write>, !tile.view<10xi32, read>
  }
}

tile.kernel @tokens(%x: !tile.view<?x16xf32, read>, %w: !tile.view<4x24x16xi8, read, panel = 16 along 1>,
                    %y: !tile.view<?x24xf32, write>, %scale: !tile.view<4x24xf32, read>,
                    %starts: !tile.view<5xi32, read>, %tokens: !tile.view<10xi32, read>,
                    %choices: !tile.view<10xi32, read>)
    grid(%n) = affine_map<()[s0, s1] -> (10)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %token = tile.table %tokens[%n] : !tile.view<10xi32, read> -> index
  %choice = tile.table %choices[%n] : !tile.view<10xi32, read> -> index
  // The expert is the number of experts that end at or before this choice.
  %e = scf.for %i = %c1 to %c4 step %c1 iter_args(%count = %c0) -> (index) {
    %end = tile.table %starts[%i] : !tile.view<5xi32, read> -> index
    %past = arith.cmpi sle, %end, %n : index
    %more = scf.if %past -> (index) {
      %c = arith.addi %count, %c1 : index
      scf.yield %c : index
    } else {
      scf.yield %count : index
    }
    scf.yield %more : index
  }
  %a = tile.load %x[%token, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.sram<1x16xf32>
  %wi = tile.load %w[%e, %c0, %c0] dims(1, 2) : !tile.view<4x24x16xi8, read, panel = 16 along 1> -> !tile.frag<24x16xi8>
  %wf = tile.map(%wi) : (!tile.frag<24x16xi8>) -> !tile.frag<24x16xf32> {
  ^bb0(%v: i8, %r: index, %c: index):
    %0 = arith.sitofp %v : i8 to f32
    tile.yield %0 : f32
  }
  %p = tile.mma %a, %wf transpose_b : !tile.sram<1x16xf32>, !tile.frag<24x16xf32> -> !tile.frag<1x24xf32>
  %sc = tile.load %scale[%e, %c0] dims(1) : !tile.view<4x24xf32, read> -> !tile.frag<24xf32, along 1>
  %d = tile.map(%p, %sc) : (!tile.frag<1x24xf32>, !tile.frag<24xf32, along 1>) -> !tile.frag<1x24xf32> {
  ^bb0(%u: f32, %v: f32, %r: index, %c: index):
    %0 = arith.mulf %u, %v : f32
    tile.yield %0 : f32
  }
  tile.store %d, %y[%choice, %c0] dims(0, 1) : !tile.frag<1x24xf32>, !tile.view<?x24xf32, write>
}
