// RUN: mmx-opt %s --tile-interpret='kernel=one compare=two tolerance=0.2' --verify-diagnostics -o /dev/null
// RUN: mmx-opt %s --tile-interpret='kernel=one compare=two tolerance=0.25' -o /dev/null 2>&1 | FileCheck %s

// The difference is relative to the largest element: |3 - 4| / 4.
// CHECK: view 0 agrees with @two
// expected-error @+1 {{view 0 differs from that of @two by 2.500000e-01, expected at most 2.000000e-01}}
tile.kernel @one(%y: !tile.view<3xf32, write>) grid() = affine_map<() -> ()> {
  %c0 = arith.constant 0 : index
  %a = tile.map() : () -> !tile.frag<2xf32, along 0> {
  ^bb0(%r: index, %c: index):
    %z = arith.constant 3.0 : f32
    tile.yield %z : f32
  }
  tile.store %a, %y[%c0] dims(0) : !tile.frag<2xf32, along 0>, !tile.view<3xf32, write>
}
tile.kernel @two(%y: !tile.view<3xf32, write>) grid() = affine_map<() -> ()> {
  %c0 = arith.constant 0 : index
  %a = tile.map() : () -> !tile.frag<2xf32, along 0> {
  ^bb0(%r: index, %c: index):
    %three = arith.constant 3.0 : f32
    %four = arith.constant 4.0 : f32
    %first = arith.cmpi eq, %r, %c : index
    %z = arith.select %first, %three, %four : f32
    tile.yield %z : f32
  }
  tile.store %a, %y[%c0] dims(0) : !tile.frag<2xf32, along 0>, !tile.view<3xf32, write>
}
