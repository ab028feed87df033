// RUN: mmx-opt %s --tile-interpret='kernel=blocks compare=tokens tolerance=1e-5 extents=23,23,23,23' -o /dev/null | FileCheck %s

// Lightning attention of packed sequences of 9, 0, 13 and 1 tokens, with
// blocks of 4, against the recurrence token by token.

// CHECK: @blocks grid 4x2
// CHECK: view 3 agrees with @tokens
// CHECK: view 4 agrees with @tokens
tile.kernel @blocks(%q: !tile.view<?x2x8xf32, read>, %k: !tile.view<?x2x8xf32, read>,
                    %v: !tile.view<?x2x8xf32, read>, %o: !tile.view<?x2x8xf32, write>,
                    %s: !tile.view<5x2x8x8xf32, inplace>,
                    %starts: !tile.view<?xi32, read>, %slots: !tile.view<?xi32, read>,
                    %rates: !tile.view<2xf32, read>)
    grid(%b, %h) = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s5, 2)>
    attributes {tile.inputs = [
        "random", "random", "random", "poison", "random",
        dense<[0, 9, 9, 22, 23]> : tensor<5xi32>, dense<[3, 4, 0, 1]> : tensor<4xi32>,
        dense<[0.5, 0.0625]> : tensor<2xf32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %b1 = arith.addi %b, %c1 : index
  %first = tile.table %starts[%b] : !tile.view<?xi32, read> -> index
  %last = tile.table %starts[%b1] : !tile.view<?xi32, read> -> index
  %slot = tile.table %slots[%b] : !tile.view<?xi32, read> -> index
  %rate = tile.table %rates[%h] : !tile.view<2xf32, read> -> f32
  %s0 = tile.load %s[%slot, %h, %c0, %c0] dims(2, 3) : !tile.view<5x2x8x8xf32, inplace> -> !tile.frag<8x8xf32>
  %sn = scf.for %t = %first to %last step %c4 iter_args(%state = %s0) -> (!tile.frag<8x8xf32>) {
    %m = affine.min affine_map<(d0, d1) -> (d1 - d0, 4)>(%t, %last)
    %qt = tile.load %q[%t, %h, %c0] dims(0, 2) rows %m : !tile.view<?x2x8xf32, read> -> !tile.sram<4x8xf32>
    %kt = tile.load %k[%t, %h, %c0] dims(0, 2) rows %m : !tile.view<?x2x8xf32, read> -> !tile.sram<4x8xf32>
    %vt = tile.load %v[%t, %h, %c0] dims(0, 2) rows %m : !tile.view<?x2x8xf32, read> -> !tile.sram<4x8xf32>
    %p = tile.mma %qt, %kt transpose_b : !tile.sram<4x8xf32>, !tile.sram<4x8xf32> -> !tile.frag<4x4xf32>
    %pd = tile.map(%p) : (!tile.frag<4x4xf32>) -> !tile.frag<4x4xf32> {
    ^bb0(%x: f32, %r: index, %c: index):
      %keep = arith.cmpi sge, %r, %c : index
      %d = arith.subi %r, %c : index
      %di = arith.index_cast %d : index to i32
      %df = arith.sitofp %di : i32 to f32
      %rd = arith.mulf %rate, %df : f32
      %n = arith.negf %rd : f32
      %e = math.exp %n : f32
      %y = arith.mulf %x, %e : f32
      %zero = arith.constant 0.0 : f32
      %w = arith.select %keep, %y, %zero : f32
      tile.yield %w : f32
    }
    %ss = tile.put %state : !tile.frag<8x8xf32> -> !tile.sram<8x8xf32>
    %o0 = tile.mma %qt, %ss : !tile.sram<4x8xf32>, !tile.sram<8x8xf32> -> !tile.frag<4x8xf32>
    %od = tile.map(%o0) : (!tile.frag<4x8xf32>) -> !tile.frag<4x8xf32> {
    ^bb0(%x: f32, %r: index, %c: index):
      %ri = arith.index_cast %r : index to i32
      %rf = arith.sitofp %ri : i32 to f32
      %one = arith.constant 1.0 : f32
      %age = arith.addf %rf, %one : f32
      %rd = arith.mulf %rate, %age : f32
      %n = arith.negf %rd : f32
      %e = math.exp %n : f32
      %y = arith.mulf %x, %e : f32
      tile.yield %y : f32
    }
    %o1 = tile.mma %pd, %vt acc %od : !tile.frag<4x4xf32>, !tile.sram<4x8xf32> -> !tile.frag<4x8xf32>
    tile.store %o1, %o[%t, %h, %c0] rows %m dims(0, 2) : !tile.frag<4x8xf32>, !tile.view<?x2x8xf32, write>
    %vf = tile.read %vt : !tile.sram<4x8xf32> -> !tile.frag<4x8xf32>
    %vd = tile.map(%vf) : (!tile.frag<4x8xf32>) -> !tile.frag<4x8xf32> {
    ^bb0(%x: f32, %r: index, %c: index):
      %m1 = arith.subi %m, %c1 : index
      %d = arith.subi %m1, %r : index
      %di = arith.index_cast %d : index to i32
      %df = arith.sitofp %di : i32 to f32
      %rd = arith.mulf %rate, %df : f32
      %n = arith.negf %rd : f32
      %e = math.exp %n : f32
      %y = arith.mulf %x, %e : f32
      tile.yield %y : f32
    }
    %sd = tile.map(%state) : (!tile.frag<8x8xf32>) -> !tile.frag<8x8xf32> {
    ^bb0(%x: f32, %r: index, %c: index):
      %mi = arith.index_cast %m : index to i32
      %mf = arith.sitofp %mi : i32 to f32
      %rd = arith.mulf %rate, %mf : f32
      %n = arith.negf %rd : f32
      %e = math.exp %n : f32
      %y = arith.mulf %x, %e : f32
      tile.yield %y : f32
    }
    %s1 = tile.mma %kt transpose_a, %vd acc %sd : !tile.sram<4x8xf32>, !tile.frag<4x8xf32> -> !tile.frag<8x8xf32>
    scf.yield %s1 : !tile.frag<8x8xf32>
  }
  tile.store %sn, %s[%slot, %h, %c0, %c0] dims(2, 3) : !tile.frag<8x8xf32>, !tile.view<5x2x8x8xf32, inplace>
}

// S_t = exp(-g) S_{t-1} + k_t v_t^T, o_t = q_t S_t.
tile.kernel @tokens(%q: !tile.view<?x2x8xf32, read>, %k: !tile.view<?x2x8xf32, read>,
                    %v: !tile.view<?x2x8xf32, read>, %o: !tile.view<?x2x8xf32, write>,
                    %s: !tile.view<5x2x8x8xf32, inplace>,
                    %starts: !tile.view<?xi32, read>, %slots: !tile.view<?xi32, read>,
                    %rates: !tile.view<2xf32, read>)
    grid(%b, %h) = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s5, 2)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b1 = arith.addi %b, %c1 : index
  %first = tile.table %starts[%b] : !tile.view<?xi32, read> -> index
  %last = tile.table %starts[%b1] : !tile.view<?xi32, read> -> index
  %slot = tile.table %slots[%b] : !tile.view<?xi32, read> -> index
  %rate = tile.table %rates[%h] : !tile.view<2xf32, read> -> f32
  %n = arith.negf %rate : f32
  %lambda = math.exp %n : f32
  %s0 = tile.load %s[%slot, %h, %c0, %c0] dims(2, 3) : !tile.view<5x2x8x8xf32, inplace> -> !tile.frag<8x8xf32>
  %sn = scf.for %t = %first to %last step %c1 iter_args(%state = %s0) -> (!tile.frag<8x8xf32>) {
    %qt = tile.load %q[%t, %h, %c0] dims(2) : !tile.view<?x2x8xf32, read> -> !tile.frag<8xf32, along 0>
    %kt = tile.load %k[%t, %h, %c0] dims(2) : !tile.view<?x2x8xf32, read> -> !tile.frag<8xf32, along 0>
    %vt = tile.load %v[%t, %h, %c0] dims(2) : !tile.view<?x2x8xf32, read> -> !tile.frag<8xf32, along 1>
    %s1, %qs = tile.map(%state, %kt, %vt, %qt)
        : (!tile.frag<8x8xf32>, !tile.frag<8xf32, along 0>, !tile.frag<8xf32, along 1>, !tile.frag<8xf32, along 0>)
        -> (!tile.frag<8x8xf32>, !tile.frag<8x8xf32>) {
    ^bb0(%x: f32, %ki: f32, %vi: f32, %qi: f32, %r: index, %c: index):
      %kv = arith.mulf %ki, %vi : f32
      %y = math.fma %x, %lambda, %kv : f32
      %z = arith.mulf %qi, %y : f32
      tile.yield %y, %z : f32, f32
    }
    %ot = tile.reduce add %qs dim 0 : !tile.frag<8x8xf32> -> !tile.frag<8xf32, along 1>
    tile.store %ot, %o[%t, %h, %c0] dims(2) : !tile.frag<8xf32, along 1>, !tile.view<?x2x8xf32, write>
    scf.yield %s1 : !tile.frag<8x8xf32>
  }
  tile.store %sn, %s[%slot, %h, %c0, %c0] dims(2, 3) : !tile.frag<8x8xf32>, !tile.view<5x2x8x8xf32, inplace>
}
