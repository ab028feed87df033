// RUN: mmx-opt %s --tile-interpret='kernel=flash compare=rows tolerance=1e-5 extents=7,12,12,7,5 seed=1 orders=2' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-interpret='kernel=flash compare=rows tolerance=1e-5 extents=1,1,1,1,0 seed=2' -o /dev/null | FileCheck %s --check-prefix=ONE

// Causal attention of 7 queries on 12 keys, 5 of them from earlier calls: block
// by block with a running maximum, against whole rows. Keys are in panels.

// CHECK: @flash grid 2x2
// CHECK: view 3 agrees with @rows
// ONE: @flash grid 1x2
// ONE: view 3 agrees with @rows
tile.kernel @flash(%q: !tile.view<?x2x8xf32, read>, %k: !tile.view<?x8xf32, read, panel = 16 along 0>,
                   %v: !tile.view<?x8xf32, read>, %o: !tile.view<?x2x8xf32, write>, %past: index)
    grid(%i, %h) = affine_map<()[s0, s1, s2, s3, s4] -> (s0 ceildiv 4, 2)> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %t = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
  %queries = tile.dim %q, 0 : !tile.view<?x2x8xf32, read>
  %last = affine.min affine_map<(d0)[s0] -> (d0 + 4, s0)>(%t)[%queries]
  %keys = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%last)[%past]
  %qt = tile.load %q[%t, %h, %c0] dims(0, 2) : !tile.view<?x2x8xf32, read> -> !tile.sram<4x8xf32>
  %m0, %l0 = tile.map() : () -> (!tile.frag<4xf32, along 0>, !tile.frag<4xf32, along 0>) {
  ^bb0(%r: index, %c: index):
    %least = arith.constant -1.0e30 : f32
    %zero = arith.constant 0.0 : f32
    tile.yield %least, %zero : f32, f32
  }
  %o0 = tile.map() : () -> !tile.frag<4x8xf32> {
  ^bb0(%r: index, %c: index):
    %zero = arith.constant 0.0 : f32
    tile.yield %zero : f32
  }
  %mn, %ln, %on = scf.for %j = %c0 to %keys step %c4 iter_args(%m = %m0, %l = %l0, %acc = %o0)
      -> (!tile.frag<4xf32, along 0>, !tile.frag<4xf32, along 0>, !tile.frag<4x8xf32>) {
    %kt = tile.load %k[%j, %c0] dims(0, 1) : !tile.view<?x8xf32, read, panel = 16 along 0> -> !tile.sram<4x8xf32>
    %vt = tile.load %v[%j, %c0] dims(0, 1) : !tile.view<?x8xf32, read> -> !tile.sram<4x8xf32>
    %s = tile.mma %qt, %kt transpose_b : !tile.sram<4x8xf32>, !tile.sram<4x8xf32> -> !tile.frag<4x4xf32>
    %end = arith.addi %j, %c4 : index
    %first = arith.addi %t, %past : index
    %diagonal = arith.cmpi sgt, %end, %first : index
    %sm = tile.map(%s) when %diagonal : (!tile.frag<4x4xf32>) -> !tile.frag<4x4xf32> {
    ^bb0(%x: f32, %r: index, %c: index):
      %query = arith.addi %first, %r : index
      %key = arith.addi %j, %c : index
      %seen = arith.cmpi sle, %key, %query : index
      %least = arith.constant -1.0e30 : f32
      %y = arith.select %seen, %x, %least : f32
      tile.yield %y : f32
    }
    %mb = tile.reduce max %sm dim 1 : !tile.frag<4x4xf32> -> !tile.frag<4xf32, along 0>
    %m1, %scale = tile.map(%m, %mb) : (!tile.frag<4xf32, along 0>, !tile.frag<4xf32, along 0>)
        -> (!tile.frag<4xf32, along 0>, !tile.frag<4xf32, along 0>) {
    ^bb0(%a: f32, %b: f32, %r: index, %c: index):
      %x = arith.maxnumf %a, %b : f32
      %d = arith.subf %a, %x : f32
      %e = math.exp %d : f32
      tile.yield %x, %e : f32, f32
    }
    %p = tile.map(%sm, %m1) : (!tile.frag<4x4xf32>, !tile.frag<4xf32, along 0>) -> !tile.frag<4x4xf32> {
    ^bb0(%x: f32, %a: f32, %r: index, %c: index):
      %d = arith.subf %x, %a : f32
      %e = math.exp %d : f32
      tile.yield %e : f32
    }
    %lb = tile.reduce add %p dim 1 : !tile.frag<4x4xf32> -> !tile.frag<4xf32, along 0>
    %l1 = tile.map(%l, %scale, %lb)
        : (!tile.frag<4xf32, along 0>, !tile.frag<4xf32, along 0>, !tile.frag<4xf32, along 0>) -> !tile.frag<4xf32, along 0> {
    ^bb0(%a: f32, %b: f32, %x: f32, %r: index, %c: index):
      %y = math.fma %a, %b, %x : f32
      tile.yield %y : f32
    }
    %as = tile.map(%acc, %scale) : (!tile.frag<4x8xf32>, !tile.frag<4xf32, along 0>) -> !tile.frag<4x8xf32> {
    ^bb0(%a: f32, %b: f32, %r: index, %c: index):
      %y = arith.mulf %a, %b : f32
      tile.yield %y : f32
    }
    %a1 = tile.mma %p, %vt acc %as : !tile.frag<4x4xf32>, !tile.sram<4x8xf32> -> !tile.frag<4x8xf32>
    scf.yield %m1, %l1, %a1 : !tile.frag<4xf32, along 0>, !tile.frag<4xf32, along 0>, !tile.frag<4x8xf32>
  }
  %result = tile.map(%on, %ln) : (!tile.frag<4x8xf32>, !tile.frag<4xf32, along 0>) -> !tile.frag<4x8xf32> {
  ^bb0(%a: f32, %b: f32, %r: index, %c: index):
    %y = arith.divf %a, %b : f32
    tile.yield %y : f32
  }
  tile.store %result, %o[%t, %h, %c0] dims(0, 2) : !tile.frag<4x8xf32>, !tile.view<?x2x8xf32, write>
}

tile.kernel @rows(%q: !tile.view<?x2x8xf32, read>, %k: !tile.view<?x8xf32, read, panel = 16 along 0>,
                  %v: !tile.view<?x8xf32, read>, %o: !tile.view<?x2x8xf32, write>, %past: index)
    grid(%t, %h) = affine_map<()[s0, s1, s2, s3, s4] -> (s0, 2)> {
  %c0 = arith.constant 0 : index
  %qt = tile.load %q[%t, %h, %c0] dims(0, 2) : !tile.view<?x2x8xf32, read> -> !tile.sram<1x8xf32>
  %kt = tile.load %k[%c0, %c0] dims(0, 1) : !tile.view<?x8xf32, read, panel = 16 along 0> -> !tile.sram<16x8xf32>
  %vt = tile.load %v[%c0, %c0] dims(0, 1) : !tile.view<?x8xf32, read> -> !tile.sram<16x8xf32>
  %s = tile.mma %qt, %kt transpose_b : !tile.sram<1x8xf32>, !tile.sram<16x8xf32> -> !tile.frag<1x16xf32>
  %e = tile.map(%s) : (!tile.frag<1x16xf32>) -> !tile.frag<1x16xf32> {
  ^bb0(%x: f32, %r: index, %c: index):
    %query = arith.addi %t, %past : index
    %seen = arith.cmpi sle, %c, %query : index
    %y = math.exp %x : f32
    %zero = arith.constant 0.0 : f32
    %z = arith.select %seen, %y, %zero : f32
    tile.yield %z : f32
  }
  %l = tile.reduce add %e dim 1 : !tile.frag<1x16xf32> -> !tile.frag<1xf32, along 0>
  %a = tile.mma %e, %vt : !tile.frag<1x16xf32>, !tile.sram<16x8xf32> -> !tile.frag<1x8xf32>
  %result = tile.map(%a, %l) : (!tile.frag<1x8xf32>, !tile.frag<1xf32, along 0>) -> !tile.frag<1x8xf32> {
  ^bb0(%x: f32, %y: f32, %r: index, %c: index):
    %z = arith.divf %x, %y : f32
    tile.yield %z : f32
  }
  tile.store %result, %o[%t, %h, %c0] dims(0, 2) : !tile.frag<1x8xf32>, !tile.view<?x2x8xf32, write>
}
