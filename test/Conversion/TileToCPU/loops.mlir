// RUN: mmx-opt %s --tile-run-cpu='kernel=swap' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=carried extents=3,3' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=carried extents=0,0' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=body_loop' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=increments' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --convert-tile-to-cpu | FileCheck %s --check-prefix=PLACE

// CHECK: agrees

// Carried fragments that change places, and one from outside.
tile.kernel @swap(%x: !tile.view<4x32xf32, read>, %y: !tile.view<4x32xf32, read>,
                  %z: !tile.view<3x4x32xf32, write>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<4x32xf32, read> -> !tile.frag<4x32xf32>
  %b = tile.load %y[%c0, %c0] dims(0, 1) : !tile.view<4x32xf32, read> -> !tile.frag<4x32xf32>
  %0:3 = scf.for %n = %c0 to %c5 step %c1 iter_args(%p = %a, %q = %b, %r = %a) -> (!tile.frag<4x32xf32>, !tile.frag<4x32xf32>, !tile.frag<4x32xf32>) {
    %s = tile.map(%r, %p) : (!tile.frag<4x32xf32>, !tile.frag<4x32xf32>) -> !tile.frag<4x32xf32> {
    ^bb0(%u: f32, %v: f32, %row: index, %col: index):
      %w = arith.addf %u, %v : f32
      tile.yield %w : f32
    }
    scf.yield %q, %p, %s : !tile.frag<4x32xf32>, !tile.frag<4x32xf32>, !tile.frag<4x32xf32>
  }
  %1 = scf.for %n = %c0 to %c5 step %c1 iter_args(%p = %0#2) -> (!tile.frag<4x32xf32>) {
    scf.yield %b : !tile.frag<4x32xf32>
  }
  %sum = tile.map(%1, %0#1) : (!tile.frag<4x32xf32>, !tile.frag<4x32xf32>) -> !tile.frag<4x32xf32> {
  ^bb0(%u: f32, %v: f32, %row: index, %col: index):
    %w = arith.subf %u, %v : f32
    tile.yield %w : f32
  }
  tile.store %0#0, %z[%c0, %c0, %c0] dims(1, 2) : !tile.frag<4x32xf32>, !tile.view<3x4x32xf32, write>
  tile.store %0#2, %z[%c1, %c0, %c0] dims(1, 2) : !tile.frag<4x32xf32>, !tile.view<3x4x32xf32, write>
  tile.store %sum, %z[%c2, %c0, %c0] dims(1, 2) : !tile.frag<4x32xf32>, !tile.view<3x4x32xf32, write>
}

// A carried accumulator and the place of its first value are one: the scratch
// area holds one fragment and the two operands (if they hang over an edge).
// PLACE: func.func @carried
// PLACE-SAME: mmx.scratch = 5120
tile.kernel @carried(%x: !tile.view<?x16x16xf32, read>, %s: !tile.view<32x16xf32, inplace>,
                     %w: !tile.view<?x32x16xf32, read>)
    grid(%i) = affine_map<()[s0, s1] -> (1)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tile.dim %x, 0 : !tile.view<?x16x16xf32, read>
  %s0 = tile.load %s[%c0, %c0] dims(0, 1) : !tile.view<32x16xf32, inplace> -> !tile.frag<32x16xf32>
  %s1 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %s0) -> (!tile.frag<32x16xf32>) {
    %a = tile.load %w[%k, %c0, %c0] dims(1, 2) : !tile.view<?x32x16xf32, read> -> !tile.sram<32x16xf32>
    %b = tile.load %x[%k, %c0, %c0] dims(1, 2) : !tile.view<?x16x16xf32, read> -> !tile.sram<16x16xf32>
    %half = tile.map(%p) : (!tile.frag<32x16xf32>) -> !tile.frag<32x16xf32> {
    ^bb0(%v: f32, %row: index, %col: index):
      %c = arith.constant 0.5 : f32
      %h = arith.mulf %v, %c : f32
      tile.yield %h : f32
    }
    %q = tile.mma %a, %b acc %half : !tile.sram<32x16xf32>, !tile.sram<16x16xf32> -> !tile.frag<32x16xf32>
    scf.yield %q : !tile.frag<32x16xf32>
  }
  tile.store %s1, %s[%c0, %c0] dims(0, 1) : !tile.frag<32x16xf32>, !tile.view<32x16xf32, inplace>
}

// A loop and affine ops inside a body, a condition as a fragment, `when`.
tile.kernel @body_loop(%x: !tile.view<6x20xf32, read>, %y: !tile.view<6x20xf32, write>,
                       %z: !tile.view<6x20xf32, write>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %no = arith.cmpi eq, %c0, %c4 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<6x20xf32, read> -> !tile.frag<6x20xf32>
  %keep = tile.map(%a) : (!tile.frag<6x20xf32>) -> !tile.frag<6x20xi1> {
  ^bb0(%v: f32, %row: index, %col: index):
    %half = affine.apply affine_map<(d0) -> (d0 floordiv 3)>(%col)
    %c = arith.cmpi sle, %half, %row : index
    tile.yield %c : i1
  }
  %b = tile.map(%a, %keep) : (!tile.frag<6x20xf32>, !tile.frag<6x20xi1>) -> !tile.frag<6x20xf32> {
  ^bb0(%v: f32, %c: i1, %row: index, %col: index):
    %one = arith.constant 1 : index
    %begin = arith.constant 0 : index
    %power = scf.for %k = %begin to %c4 step %one iter_args(%p = %v) -> (f32) {
      %t = arith.mulf %p, %v : f32
      scf.yield %t : f32
    }
    %s = arith.select %c, %power, %v : f32
    tile.yield %s : f32
  }
  %d = tile.map(%a) when %no : (!tile.frag<6x20xf32>) -> !tile.frag<6x20xf32> {
  ^bb0(%v: f32, %row: index, %col: index):
    %s = arith.addf %v, %v : f32
    tile.yield %s : f32
  }
  tile.store %b, %y[%c0, %c0] dims(0, 1) : !tile.frag<6x20xf32>, !tile.view<6x20xf32, write>
  tile.store %d, %z[%c0, %c0] dims(0, 1) : !tile.frag<6x20xf32>, !tile.view<6x20xf32, write>
}

// The last op of a kernel is a loop, and runs once.
tile.kernel @increments(%x: !tile.view<6x20xf32, inplace>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  scf.for %k = %c0 to %c6 step %c2 {
    %a = tile.load %x[%k, %c0] dims(0, 1) : !tile.view<6x20xf32, inplace> -> !tile.frag<2x20xf32>
    %b = tile.map(%a) : (!tile.frag<2x20xf32>) -> !tile.frag<2x20xf32> {
    ^bb0(%v: f32, %row: index, %col: index):
      %one = arith.constant 1.0 : f32
      %s = arith.addf %v, %one : f32
      tile.yield %s : f32
    }
    tile.store %b, %x[%k, %c0] dims(0, 1) : !tile.frag<2x20xf32>, !tile.view<6x20xf32, inplace>
  }
}
