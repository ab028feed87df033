// RUN: mmx-opt %s --tile-interpret='kernel=decode print-values=true orders=3' -o /dev/null | FileCheck %s

// One step of a state in place, for two sequences in slots 2 and 0; the states
// of the other slots keep their bits. With lambda = 1/2, k = (1, 2), v = (b, 3)
// and q = (1, -1): S1 = S / 2 + k v^T, o = q S1.

// CHECK: @decode grid 2
// CHECK: view 1 4x2x2xf32
// CHECK-NEXT: {{^}}  1 5{{$}}
// CHECK-NEXT: {{^}}  3 9.5{{$}}
// CHECK-NEXT: {{^}}  2 2{{$}}
// CHECK-NEXT: {{^}}  2 2{{$}}
// CHECK-NEXT: {{^}}  1 4{{$}}
// CHECK-NEXT: {{^}}  1.5 8{{$}}
// CHECK-NEXT: {{^}}  7 7{{$}}
// CHECK-NEXT: {{^}}  7 7{{$}}
// CHECK: view 2 2x2xf32
// CHECK-NEXT: {{^}}  -0.5 -4{{$}}
// CHECK-NEXT: {{^}}  -2 -4.5{{$}}
tile.kernel @decode(%slots: !tile.view<2xi32, read>, %s: !tile.view<4x2x2xf32, inplace>, %o: !tile.view<2x2xf32, write>)
    grid(%b) = affine_map<() -> (2)> attributes {tile.inputs = [
      dense<[2, 0]> : tensor<2xi32>,
      dense<[[[0., 4.], [2., 7.]], [[2., 2.], [2., 2.]], [[2., 2.], [3., 4.]], [[7., 7.], [7., 7.]]]> : tensor<4x2x2xf32>,
      "poison"]} {
  %c0 = arith.constant 0 : index
  %slot = tile.table %slots[%b] : !tile.view<2xi32, read> -> index
  %s0 = tile.load %s[%slot, %c0, %c0] dims(1, 2) : !tile.view<4x2x2xf32, inplace> -> !tile.frag<2x2xf32>
  %s1, %qs = tile.map(%s0) : (!tile.frag<2x2xf32>) -> (!tile.frag<2x2xf32>, !tile.frag<2x2xf32>) {
  ^bb0(%x: f32, %r: index, %c: index):
    %half = arith.constant 0.5 : f32
    %c1 = arith.constant 1 : index
    %r1 = arith.addi %r, %c1 : index
    %ki = arith.index_cast %r1 : index to i32
    %k = arith.sitofp %ki : i32 to f32
    %bi = arith.index_cast %b : index to i32
    %bf = arith.sitofp %bi : i32 to f32
    %three = arith.constant 3.0 : f32
    %first = arith.cmpi eq, %c, %c0 : index
    %v = arith.select %first, %bf, %three : f32
    %kv = arith.mulf %k, %v : f32
    %y = math.fma %x, %half, %kv : f32
    %top = arith.cmpi eq, %r, %c0 : index
    %n = arith.negf %y : f32
    %z = arith.select %top, %y, %n : f32
    tile.yield %y, %z : f32, f32
  }
  %ot = tile.reduce add %qs dim 0 : !tile.frag<2x2xf32> -> !tile.frag<2xf32, along 1>
  tile.store %s1, %s[%slot, %c0, %c0] dims(1, 2) : !tile.frag<2x2xf32>, !tile.view<4x2x2xf32, inplace>
  tile.store %ot, %o[%b, %c0] dims(1) : !tile.frag<2xf32, along 1>, !tile.view<2x2xf32, write>
}

