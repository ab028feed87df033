// RUN: mmx-opt %s --convert-tile-to-cpu --verify-diagnostics

// A cell is called with extents and coordinates only.
// expected-error @+1 {{expected views and index parameters, but got 'f32'}}
tile.kernel @scalar(%x: !tile.view<4xf32, write>, %f: f32)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %a = tile.map() : () -> !tile.frag<4xf32, along 1> {
  ^bb0(%r: index, %c: index):
    tile.yield %f : f32
  }
  tile.store %a, %x[%c0] dims(0) : !tile.frag<4xf32, along 1>, !tile.view<4xf32, write>
}
