// RUN: mmx-opt %s --tile-interpret='kernel=tails print-values=true orders=2' -o /dev/null | FileCheck %s

// Sequences of 2, 3 and 1 tokens in one packed array, tiles of 4 rows. Only the
// sequence in the middle is computed. Its neighbours in memory are NaN, before
// and after: they are masked on load and keep their bytes on store.

// CHECK: @tails grid 1
// CHECK: view 2 6x3xf32
// CHECK-NEXT: {{^}}  nan nan nan{{$}}
// CHECK-NEXT: {{^}}  nan nan nan{{$}}
// CHECK-NEXT: {{^}}  16 16 16{{$}}
// CHECK-NEXT: {{^}}  16 16 16{{$}}
// CHECK-NEXT: {{^}}  16 16 16{{$}}
// CHECK-NEXT: {{^}}  nan nan nan{{$}}
// CHECK: view 3 3x4xf32
// CHECK-NEXT: {{^}}  nan nan nan nan{{$}}
// CHECK-NEXT: {{^}}  1 5 3 2{{$}}
// CHECK-NEXT: {{^}}  nan nan nan nan{{$}}
tile.kernel @tails(%starts: !tile.view<4xi32, read>, %x: !tile.view<6x3xf32, read>, %y: !tile.view<6x3xf32, write>,
                   %z: !tile.view<3x4xf32, write>)
    grid(%i) = affine_map<() -> (1)> attributes {tile.inputs = [
      dense<[0, 2, 5, 6]> : tensor<4xi32>,
      dense<[[0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000],
             [1.0, 2.0, 3.0], [4.0, 2.0, 1.0], [1.0, 1.0, 1.0],
             [0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<6x3xf32>,
      "poison", "poison"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %first = tile.table %starts[%c1] : !tile.view<4xi32, read> -> index
  %last = tile.table %starts[%c2] : !tile.view<4xi32, read> -> index
  %m = arith.subi %last, %first : index
  // Column 3 is outside the view, row 3 of another sequence: both 0.
  %a = tile.load %x[%first, %c0] dims(0, 1) rows %m : !tile.view<6x3xf32, read> -> !tile.frag<4x4xf32>
  %rows = tile.reduce add %a dim 1 : !tile.frag<4x4xf32> -> !tile.frag<4xf32, along 0>
  %wide = tile.map(%rows) : (!tile.frag<4xf32, along 0>) -> !tile.frag<4x4xf32> {
  ^bb0(%v: f32, %r: index, %c: index):
    tile.yield %v : f32
  }
  %total = tile.reduce add %wide dim 0 : !tile.frag<4x4xf32> -> !tile.frag<4xf32, along 1>
  %b = tile.map(%total) : (!tile.frag<4xf32, along 1>) -> !tile.frag<4x4xf32> {
  ^bb0(%v: f32, %r: index, %c: index):
    tile.yield %v : f32
  }
  tile.store %b, %y[%first, %c0] rows %m dims(0, 1) : !tile.frag<4x4xf32>, !tile.view<6x3xf32, write>
  // A fill of its own, and a tile that starts before the array.
  %cm1 = arith.constant -1 : index
  %d = tile.load %x[%first, %c0] dims(0) rows %m {fill = -1.0 : f64} : !tile.view<6x3xf32, read> -> !tile.frag<4xf32, along 1>
  %e = tile.load %x[%first, %cm1] dims(0, 1) : !tile.view<6x3xf32, read> -> !tile.frag<1x4xf32>
  %f = tile.map(%d, %e) : (!tile.frag<4xf32, along 1>, !tile.frag<1x4xf32>) -> !tile.frag<1x4xf32> {
  ^bb0(%v: f32, %w: f32, %r: index, %c: index):
    %0 = arith.addf %v, %w : f32
    tile.yield %0 : f32
  }
  tile.store %f, %z[%c1, %c0] dims(0, 1) : !tile.frag<1x4xf32>, !tile.view<3x4xf32, write>
}
