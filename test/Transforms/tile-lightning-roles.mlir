// RUN: mmx-opt %s --tile-specialize-warps | FileCheck %s
// RUN: mmx-opt %s --tile-specialize-warps --tile-pipeline | FileCheck %s --check-prefix=PIPE
// RUN: mmx-opt %s --tile-specialize-warps --tile-pipeline | mmx-opt | FileCheck %s --check-prefix=PIPE

// Lightning attention in its real size: blocks of 64 tokens, keys of 128, half
// of the values per cell of a cluster. The counts, bytes, waits and sections
// follow from the schedule alone.

// One arrival and 24576 bytes fill a slot of keys and values; it is free when 4
// warps of each of two readers have released it in both cells.
// CHECK: tile.roles @lightning
// CHECK-NEXT: tile.barriers @kv depth 4 full 1 bytes 24576 empty 16 multicast
// CHECK-NEXT: tile.barriers @q depth 4 full 1 bytes 16384 empty 8 multicast
// CHECK-NEXT: tile.barriers @s depth 2 full 4 bytes 0 empty 4
// CHECK-NEXT: tile.barriers @ost depth 1 full 0 bytes 0 empty 0 local
// CHECK: tile.role @state warps 4 instances 1
// CHECK: tile.section step 0 of @i
// CHECK-NEXT: tile.run "tile.map" order 0 stage 1
// CHECK: tile.wait_empty @s stage 1
// CHECK-NEXT: tile.run "tile.put" order 50 stage 1
// CHECK-NEXT: tile.fence @s stage 1
// CHECK-NEXT: tile.arrive_full @s stage 1
// CHECK: tile.wait_mma for 20 stage 1

// Loads: the bytes of the whole slot are announced before its first load.
// PIPE: tile.role @ldkv warps 1 instances 1
// PIPE: tile.section steady 0 of @i {
// PIPE-NEXT: tile.wait_empty @kv stage 0
// PIPE-NEXT: tile.expect @kv stage 0
// PIPE-NEXT: tile.run "tile.load" order 0 stage 0
// PIPE-NEXT: tile.run "tile.load" order 10 stage 0
// PIPE-NEXT: }

// The state: one step of prologue and epilogue. The scaled values have two sets
// of registers. The wait for the product and the release of its slot close the
// step (they do not make a second stage).
// PIPE: tile.role @state warps 4 instances 1
// PIPE: tile.section prologue 0 of @i {
// PIPE-NEXT: tile.wait_full @kv stage 0
// PIPE-NEXT: tile.run "tile.read" order 30 stage 0
// PIPE-NEXT: tile.run "tile.map" order 40 stage 0 copies 2
// PIPE-NEXT: }
// PIPE-NEXT: tile.section steady 0 of @i {
// PIPE-NEXT: tile.run "tile.map" order 0 stage 1
// PIPE-NEXT: tile.run "tile.map" order 10 stage 1
// PIPE-NEXT: tile.run "tile.mma" order 20 stage 1
// PIPE-NEXT: tile.wait_full @kv stage 0
// PIPE-NEXT: tile.run "tile.read" order 30 stage 0
// PIPE-NEXT: tile.run "tile.map" order 40 stage 0 copies 2
// PIPE-NEXT: tile.wait_empty @s stage 1
// PIPE-NEXT: tile.run "tile.put" order 50 stage 1
// PIPE-NEXT: tile.fence @s stage 1
// PIPE-NEXT: tile.arrive_full @s stage 1
// PIPE-NEXT: tile.wait_mma for 20 pending 0 stage 1
// PIPE-NEXT: tile.arrive_empty @kv stage 1
// PIPE-NEXT: }
// PIPE-NEXT: tile.section epilogue 0 of @i {
// PIPE-NOT: tile.wait_full
// PIPE: tile.arrive_empty @kv stage 1
// PIPE-NEXT: }

// The outputs: the product with the state stays in flight during the mask, the
// queries are released once the first product has taken them.
// PIPE: tile.role @out warps 4 instances 2
// PIPE: tile.section steady 0 of @i {
// PIPE-NEXT: tile.wait_full @q stage 0
// PIPE-NEXT: tile.run "tile.read" order 0 stage 0
// PIPE-NEXT: tile.wait_full @kv stage 0
// PIPE-NEXT: tile.run "tile.mma" order 10 stage 0
// PIPE-NEXT: tile.arrive_empty @q stage 0
// PIPE-NEXT: tile.wait_full @s stage 0
// PIPE-NEXT: tile.run "tile.mma" order 20 stage 0
// PIPE-NEXT: tile.wait_mma for 10 pending 1 stage 0
// PIPE-NEXT: tile.run "tile.map" order 30 stage 0
// PIPE-NEXT: tile.wait_mma for 20 pending 0 stage 0
// PIPE-NEXT: tile.arrive_empty @s stage 0
// PIPE-NEXT: tile.run "tile.map" order 40 stage 0
// PIPE-NEXT: tile.run "tile.mma" order 50 stage 0
// PIPE-NEXT: tile.wait_mma for 50 pending 0 stage 0
// PIPE-NEXT: tile.arrive_empty @kv stage 0
// PIPE-NEXT: tile.run "tile.map" order 60 stage 0
// PIPE-NEXT: tile.wait_stores @ost stage 0
// PIPE-NEXT: tile.run "tile.put" order 70 stage 0
// PIPE-NEXT: tile.fence @ost stage 0
// PIPE-NEXT: tile.run "tile.store" order 80 stage 0
// PIPE-NEXT: }

tile.kernel @lightning(%q: !tile.view<?x128xbf16, read>, %k: !tile.view<?x128xbf16, read>,
                       %v: !tile.view<?x128xbf16, read>, %o: !tile.view<?x128xbf16, write>,
                       %s: !tile.view<128x128xf32, write>, %rates: !tile.view<1xf32, read>)
    grid(%half) = affine_map<()[s0, s1, s2, s3] -> (2)>
    attributes {
      cluster = array<i64: 0, 2>,
      schedule = #tile.schedule<
        roles = [@ldkv<warps = 1>, @ldq<warps = 1>, @state<warps = 4, regs = 184>,
                 @out<warps = 4, regs = 152, alternate = 2 over @i>],
        rings = [@kv<depth = 4>, @q<depth = 4>, @s<depth = 2>, @ost<depth = 1>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %rows = arith.constant 64 : index
  %rate = tile.table %rates[%c0] : !tile.view<1xf32, read> -> f32
  %tokens = tile.dim %q, 0 : !tile.view<?x128xbf16, read>
  %col = arith.muli %half, %c64 : index
  %s0 = tile.load %s[%c0, %col] dims(0, 1) {at = #tile.at<@state, order = 0>} : !tile.view<128x128xf32, write> -> !tile.frag<128x64xf32>
  %sn = scf.for %t = %c0 to %tokens step %rows iter_args(%st = %s0) -> (!tile.frag<128x64xf32>) {
    %m = affine.min affine_map<(d0, d1) -> (d1 - d0, 64)>(%t, %tokens)
    %mi = arith.index_cast %m : index to i32
    %mf = arith.sitofp %mi : i32 to f32
    %kt = tile.load %k[%t, %c0] dims(0, 1) {at = #tile.at<@ldkv, order = 0, ring = @kv, multicast = 0>} : !tile.view<?x128xbf16, read> -> !tile.sram<64x128xbf16>
    %vt = tile.load %v[%t, %col] dims(0, 1) {at = #tile.at<@ldkv, order = 10, ring = @kv.1>} : !tile.view<?x128xbf16, read> -> !tile.sram<64x64xbf16>
    %qt = tile.load %q[%t, %c0] dims(0, 1) {at = #tile.at<@ldq, order = 0, ring = @q, multicast = 0>} : !tile.view<?x128xbf16, read> -> !tile.sram<64x128xbf16>
    %sb = tile.map(%st) {at = #tile.at<@state, order = 0, stage = 1>} : (!tile.frag<128x64xf32>) -> !tile.frag<128x64xbf16> {
    ^bb0(%x: f32, %r: index, %c: index):
      %y = arith.truncf %x : f32 to bf16
      tile.yield %y : bf16
    }
    %sd = tile.map(%st) {at = #tile.at<@state, order = 10, stage = 1>} : (!tile.frag<128x64xf32>) -> !tile.frag<128x64xf32> {
    ^bb0(%x: f32, %r: index, %c: index):
      %rd = arith.mulf %rate, %mf : f32
      %n = arith.negf %rd : f32
      %e = math.exp %n : f32
      %y = arith.mulf %x, %e : f32
      tile.yield %y : f32
    }
    %vf = tile.read %vt {at = #tile.at<@state, order = 30>} : !tile.sram<64x64xbf16> -> !tile.frag<64x64xbf16>
    %vs = tile.map(%vf) {at = #tile.at<@state, order = 40>} : (!tile.frag<64x64xbf16>) -> !tile.frag<64x64xbf16> {
    ^bb0(%x: bf16, %r: index, %c: index):
      %m1 = arith.subi %m, %c1 : index
      %d = arith.subi %m1, %r : index
      %di = arith.index_cast %d : index to i32
      %df = arith.sitofp %di : i32 to f32
      %rd = arith.mulf %rate, %df : f32
      %n = arith.negf %rd : f32
      %e = math.exp %n : f32
      %xf = arith.extf %x : bf16 to f32
      %y = arith.mulf %xf, %e : f32
      %zero = arith.constant 0.0 : f32
      %inside = arith.cmpi slt, %r, %m : index
      %w = arith.select %inside, %y, %zero : f32
      %wb = arith.truncf %w : f32 to bf16
      tile.yield %wb : bf16
    }
    %s1 = tile.mma %kt transpose_a, %vs acc %sd {at = #tile.at<@state, order = 20, stage = 1>} : !tile.sram<64x128xbf16>, !tile.frag<64x64xbf16> -> !tile.frag<128x64xf32>
    %ss = tile.put %sb {at = #tile.at<@state, order = 50, stage = 1, ring = @s>} : !tile.frag<128x64xbf16> -> !tile.sram<128x64xbf16>
    %qf = tile.read %qt {at = #tile.at<@out, order = 0>} : !tile.sram<64x128xbf16> -> !tile.frag<64x128xbf16>
    %p = tile.mma %qf, %kt transpose_b {at = #tile.at<@out, order = 10>} : !tile.frag<64x128xbf16>, !tile.sram<64x128xbf16> -> !tile.frag<64x64xf32>
    %o0 = tile.mma %qf, %ss {at = #tile.at<@out, order = 20>} : !tile.frag<64x128xbf16>, !tile.sram<128x64xbf16> -> !tile.frag<64x64xf32>
    %pd = tile.map(%p) {at = #tile.at<@out, order = 30>} : (!tile.frag<64x64xf32>) -> !tile.frag<64x64xbf16> {
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
      %wb = arith.truncf %w : f32 to bf16
      tile.yield %wb : bf16
    }
    %oq = tile.map(%o0) {at = #tile.at<@out, order = 40>} : (!tile.frag<64x64xf32>) -> !tile.frag<64x64xf32> {
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
    %o1 = tile.mma %pd, %vt acc %oq {at = #tile.at<@out, order = 50>} : !tile.frag<64x64xbf16>, !tile.sram<64x64xbf16> -> !tile.frag<64x64xf32>
    %ob = tile.map(%o1) {at = #tile.at<@out, order = 60>} : (!tile.frag<64x64xf32>) -> !tile.frag<64x64xbf16> {
    ^bb0(%x: f32, %r: index, %c: index):
      %y = arith.truncf %x : f32 to bf16
      tile.yield %y : bf16
    }
    %os = tile.put %ob {at = #tile.at<@out, order = 70, ring = @ost>} : !tile.frag<64x64xbf16> -> !tile.sram<64x64xbf16>
    tile.store %os, %o[%t, %col] rows %m dims(0, 1) {at = #tile.at<@out, order = 80>} : !tile.sram<64x64xbf16>, !tile.view<?x128xbf16, write>
    scf.yield %s1 : !tile.frag<128x64xf32>
  } {at = #tile.loop<@i, order = 10>}
  tile.store %sn, %s[%c0, %col] dims(0, 1) {at = #tile.at<@state, order = 20>} : !tile.frag<128x64xf32>, !tile.view<128x128xf32, write>
}
