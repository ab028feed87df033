// Lightning attention with the views of the model's kernel: packed projections,
// sequences of 9, 0, 13 and 1 tokens, states in slots. As printed by
// bench/lightning_kernels.py --heads 2 --dim 4 --block 4 --width 2.
tile.kernel @for_blocks_2x4x4_hopper(
    %starts: !tile.view<?xi32, read>, %slots: !tile.view<?xi32, read>,
    %rates: !tile.view<2xf32, read>, %states: !tile.view<?x2x4x4xf32, inplace>,
    %qkv: !tile.view<?x2x3x4xbf16, read>, %o: !tile.view<?x2x4xbf16, write>)
    grid(%seq, %head, %part) = affine_map<()[s0, s1, s2, s3, s4] -> (s0 - 1, 2, 2)>
    attributes {
      cluster = array<i64: 2, 2>,
      schedule = #tile.schedule<
        roles = [@ldkv<warps = 1>, @ldq<warps = 1>,
                 @state<warps = 4, regs = 184>,
                 @out<warps = 4, regs = 152, alternate = 2 over @i>],
        rings = [@kv<depth = 4>, @q<depth = 4>, @s<depth = 2>, @ost<depth = 1>]>,
      mmx.spills = 0 : i64, tile.inputs = [dense<[0, 9, 9, 22, 23]> : tensor<5xi32>, dense<[3, 4, 0, 1]> : tensor<4xi32>, dense<[0.5, 0.0625]> : tensor<2xf32>, "random", "random", "poison"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %cols = arith.constant 2 : index
  %rows = arith.constant 4 : index
  %seq1 = arith.addi %seq, %c1 : index
  %first = tile.table %starts[%seq] : !tile.view<?xi32, read> -> index
  %last = tile.table %starts[%seq1] : !tile.view<?xi32, read> -> index
  %slot = tile.table %slots[%seq] : !tile.view<?xi32, read> -> index
  %rate = tile.table %rates[%head] : !tile.view<2xf32, read> -> f32
  %col = arith.muli %part, %cols : index
  %s0 = tile.load %states[%slot, %head, %c0, %col] dims(2, 3) {at = #tile.at<@state, order = 0>} : !tile.view<?x2x4x4xf32, inplace> -> !tile.frag<4x2xf32>
  // The decay from a column to a row, 0 above the diagonal.
  %decay = tile.map() {at = #tile.at<@out, order = 0>} : () -> !tile.frag<4x4xf32> {
  ^bb0(%r: index, %c: index):
    %d = arith.subi %r, %c : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %rd = arith.mulf %rate, %df : f32
    %n = arith.negf %rd : f32
    %e = math.exp %n : f32
    %keep = arith.cmpi sge, %d, %c0 : index
    %zero = arith.constant 0.0 : f32
    %y = arith.select %keep, %e, %zero : f32
    tile.yield %y : f32
  }
  // What is left of a state after a full block.
  %size = arith.constant 4.0 : f32
  %span = arith.mulf %rate, %size : f32
  %nspan = arith.negf %span : f32
  %kept = math.exp %nspan : f32
  %sn = scf.for %t = %first to %last step %rows iter_args(%st = %s0) -> (!tile.frag<4x2xf32>) {
    %m = affine.min affine_map<(d0, d1) -> (d1 - d0, 4)>(%t, %last)
    %short = arith.cmpi slt, %m, %rows : index
    %decayed, %gain = scf.if %short -> (f32, f32) {
      %mi = arith.index_cast %m : index to i32
      %mf = arith.sitofp %mi : i32 to f32
      %md = arith.mulf %rate, %mf : f32
      %mn = arith.negf %md : f32
      %e = math.exp %mn : f32
      %lack = arith.subf %size, %mf : f32
      %ld = arith.mulf %rate, %lack : f32
      %g = math.exp %ld : f32
      scf.yield %e, %g : f32, f32
    } else {
      %one = arith.constant 1.0 : f32
      scf.yield %kept, %one : f32, f32
    }
    %kt = tile.load %qkv[%t, %head, %c1, %c0] dims(0, 3) rows %m {at = #tile.at<@ldkv, order = 0, ring = @kv, multicast = 2>} : !tile.view<?x2x3x4xbf16, read> -> !tile.sram<4x4xbf16>
    %vt = tile.load %qkv[%t, %head, %c2, %col] dims(0, 3) rows %m {at = #tile.at<@ldkv, order = 10, ring = @kv.1>} : !tile.view<?x2x3x4xbf16, read> -> !tile.sram<4x2xbf16>
    %qt = tile.load %qkv[%t, %head, %c0, %c0] dims(0, 3) {at = #tile.at<@ldq, order = 0, ring = @q, multicast = 2>} : !tile.view<?x2x3x4xbf16, read> -> !tile.sram<4x4xbf16>
    %sb = tile.map(%st) {at = #tile.at<@state, order = 0, stage = 1>} : (!tile.frag<4x2xf32>) -> !tile.frag<4x2xbf16> {
    ^bb0(%x: f32, %r: index, %c: index):
      %y = arith.truncf %x : f32 to bf16
      tile.yield %y : bf16
    }
    %sd = tile.map(%st) {at = #tile.at<@state, order = 10, stage = 1>} : (!tile.frag<4x2xf32>) -> !tile.frag<4x2xf32> {
    ^bb0(%x: f32, %r: index, %c: index):
      %y = arith.mulf %x, %decayed : f32
      tile.yield %y : f32
    }
    %vf = tile.read %vt {at = #tile.at<@state, order = 30>} : !tile.sram<4x2xbf16> -> !tile.frag<4x2xbf16>
    // What is left of a value at the end of a full block, which no iteration
    // computes again, and what a short block has left more. Rows past the end
    // hold zeros.
    %vs = tile.map(%vf) {at = #tile.at<@state, order = 40>} : (!tile.frag<4x2xbf16>) -> !tile.frag<4x2xbf16> {
    ^bb0(%x: bf16, %r: index, %c: index):
      %end = arith.constant 3 : index
      %d = arith.subi %end, %r : index
      %di = arith.index_cast %d : index to i32
      %df = arith.sitofp %di : i32 to f32
      %rd = arith.mulf %rate, %df : f32
      %n = arith.negf %rd : f32
      %e = math.exp %n : f32
      %w = arith.mulf %e, %gain : f32
      %xf = arith.extf %x : bf16 to f32
      %y = arith.mulf %xf, %w : f32
      %yb = arith.truncf %y : f32 to bf16
      tile.yield %yb : bf16
    }
    %s1 = tile.mma %kt transpose_a, %vs acc %sd {at = #tile.at<@state, order = 20, stage = 1>} : !tile.sram<4x4xbf16>, !tile.frag<4x2xbf16> -> !tile.frag<4x2xf32>
    %ss = tile.put %sb {at = #tile.at<@state, order = 50, stage = 1, ring = @s>} : !tile.frag<4x2xbf16> -> !tile.sram<4x2xbf16>
    %p = tile.mma %qt, %kt transpose_b {at = #tile.at<@out, order = 10>} : !tile.sram<4x4xbf16>, !tile.sram<4x4xbf16> -> !tile.frag<4x4xf32>
    %o0 = tile.mma %qt, %ss {at = #tile.at<@out, order = 20>} : !tile.sram<4x4xbf16>, !tile.sram<4x2xbf16> -> !tile.frag<4x2xf32>
    %pd = tile.map(%p, %decay) {at = #tile.at<@out, order = 30>} : (!tile.frag<4x4xf32>, !tile.frag<4x4xf32>) -> !tile.frag<4x4xbf16> {
    ^bb0(%x: f32, %d: f32, %r: index, %c: index):
      %y = arith.mulf %x, %d : f32
      %wb = arith.truncf %y : f32 to bf16
      tile.yield %wb : bf16
    }
    %oq = tile.map(%o0) {at = #tile.at<@out, order = 40>} : (!tile.frag<4x2xf32>) -> !tile.frag<4x2xf32> {
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
    %o1 = tile.mma %pd, %vt acc %oq {at = #tile.at<@out, order = 50>} : !tile.frag<4x4xbf16>, !tile.sram<4x2xbf16> -> !tile.frag<4x2xf32>
    %ob = tile.map(%o1) {at = #tile.at<@out, order = 60>} : (!tile.frag<4x2xf32>) -> !tile.frag<4x2xbf16> {
    ^bb0(%x: f32, %r: index, %c: index):
      %y = arith.truncf %x : f32 to bf16
      tile.yield %y : bf16
    }
    %os = tile.put %ob {at = #tile.at<@out, order = 70, ring = @ost>} : !tile.frag<4x2xbf16> -> !tile.sram<4x2xbf16>
    tile.store %os, %o[%t, %head, %col] rows %m dims(0, 2) {at = #tile.at<@out, order = 80>} : !tile.sram<4x2xbf16>, !tile.view<?x2x4xbf16, write>
    scf.yield %s1 : !tile.frag<4x2xf32>
  } {at = #tile.loop<@i, order = 10>}
  tile.store %sn, %states[%slot, %head, %c0, %col] dims(2, 3) {at = #tile.at<@state, order = 20>} : !tile.frag<4x2xf32>, !tile.view<?x2x4x4xf32, inplace>
}
