// RUN: mmx-opt %s --tile-run-cpu='kernel=rms_norm extents=21,21 tolerance=1e-6' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=rms_norm extents=1,1 tolerance=1e-6 target=cpu-v3' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=silu extents=19,19 tolerance=1e-6' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=silu extents=19,19 tolerance=4e-3 target=cpu-v3 front=true' -o /dev/null | FileCheck %s

// CHECK: agrees

// Rows in two passes over tiles of columns; the last tile hangs over the edge.
tile.kernel @rms_norm(%x: !tile.view<?x100xf32, read>,
                      %w: !tile.view<100xbf16, read>,
                      %y: !tile.view<?x100xf32, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s0 ceildiv 8)> {
  %c0 = arith.constant 0 : index
  %c48 = arith.constant 48 : index
  %c100 = arith.constant 100 : index
  %row = affine.apply affine_map<(d0) -> (d0 * 8)>(%i)
  %zero = tile.map() : () -> !tile.frag<8xf32, along 0> {
  ^bb0(%r: index, %c: index):
    %z = arith.constant 0.0 : f32
    tile.yield %z : f32
  }
  %sum = scf.for %k = %c0 to %c100 step %c48 iter_args(%s = %zero) -> (!tile.frag<8xf32, along 0>) {
    %a = tile.load %x[%row, %k] dims(0, 1) : !tile.view<?x100xf32, read> -> !tile.frag<8x48xf32>
    %sq = tile.map(%a) : (!tile.frag<8x48xf32>) -> !tile.frag<8x48xf32> {
    ^bb0(%v: f32, %r: index, %c: index):
      %p = arith.mulf %v, %v : f32
      tile.yield %p : f32
    }
    %part = tile.reduce add %sq dim 1 : !tile.frag<8x48xf32> -> !tile.frag<8xf32, along 0>
    %t = tile.map(%s, %part) : (!tile.frag<8xf32, along 0>, !tile.frag<8xf32, along 0>) -> !tile.frag<8xf32, along 0> {
    ^bb0(%v: f32, %u: f32, %r: index, %c: index):
      %p = arith.addf %v, %u : f32
      tile.yield %p : f32
    }
    scf.yield %t : !tile.frag<8xf32, along 0>
  }
  scf.for %k = %c0 to %c100 step %c48 {
    %a = tile.load %x[%row, %k] dims(0, 1) : !tile.view<?x100xf32, read> -> !tile.frag<8x48xf32>
    %g = tile.load %w[%k] dims(0) : !tile.view<100xbf16, read> -> !tile.frag<48xbf16, along 1>
    %n = tile.map(%a, %sum, %g) : (!tile.frag<8x48xf32>, !tile.frag<8xf32, along 0>, !tile.frag<48xbf16, along 1>) -> !tile.frag<8x48xf32> {
    ^bb0(%v: f32, %t: f32, %h: bf16, %r: index, %c: index):
      %count = arith.constant 100.0 : f32
      %eps = arith.constant 1.0e-5 : f32
      %one = arith.constant 1.0 : f32
      %mean = arith.divf %t, %count : f32
      %shifted = arith.addf %mean, %eps : f32
      %root = math.sqrt %shifted : f32
      %inverse = arith.divf %one, %root : f32
      %scaled = arith.mulf %v, %inverse : f32
      %f = arith.extf %h : bf16 to f32
      %p = arith.mulf %scaled, %f : f32
      tile.yield %p : f32
    }
    tile.store %n, %y[%row, %k] dims(0, 1) : !tile.frag<8x48xf32>, !tile.view<?x100xf32, write>
  }
}

// Rounded to bf16 in a body and by a store.
tile.kernel @silu(%x: !tile.view<?x64xf32, read>,
                  %y: !tile.view<?x64xbf16, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s0 ceildiv 16)> {
  %c0 = arith.constant 0 : index
  %row = affine.apply affine_map<(d0) -> (d0 * 16)>(%i)
  %a = tile.load %x[%row, %c0] dims(0, 1) : !tile.view<?x64xf32, read> -> !tile.frag<16x64xf32>
  %b = tile.map(%a) : (!tile.frag<16x64xf32>) -> !tile.frag<16x64xbf16> {
  ^bb0(%v: f32, %r: index, %c: index):
    %n = arith.negf %v : f32
    %e = math.exp %n : f32
    %one = arith.constant 1.0 : f32
    %d = arith.addf %e, %one : f32
    %s = arith.divf %v, %d : f32
    %t = arith.truncf %s : f32 to bf16
    tile.yield %t : bf16
  }
  %wide = tile.map(%b) : (!tile.frag<16x64xbf16>) -> !tile.frag<16x64xf32> {
  ^bb0(%v: bf16, %r: index, %c: index):
    %f = arith.extf %v : bf16 to f32
    tile.yield %f : f32
  }
  tile.store %wide, %y[%row, %c0] dims(0, 1) : !tile.frag<16x64xf32>, !tile.view<?x64xbf16, write>
}
