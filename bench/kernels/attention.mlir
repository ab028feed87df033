// Causal softmax attention of one sequence, 8 heads of 128, for
// bench/gpu_clients.py.
tile.kernel @attention_128(%q: !tile.view<?x8x128xbf16, read>, %k: !tile.view<?x8x128xbf16, read>,
                       %v: !tile.view<?x8x128xbf16, read>, %o: !tile.view<?x8x128xbf16, write>)
    grid(%i, %h) = affine_map<()[s0, s1, s2, s3] -> (s0 ceildiv 64, 8)>
    attributes {
      schedule = #tile.schedule<
        roles = [@ld<warps = 1, regs = 24>, @mm<warps = 4, regs = 240>],
        rings = [@q<depth = 1>, @k<depth = 2>, @v<depth = 2>, @ost<depth = 1>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %i, %c64 : index
  %i1 = arith.addi %i, %c1 : index
  %qt = tile.load %q[%row, %h, %c0] dims(0, 2) {at = #tile.at<@ld, order = 0, ring = @q>} : !tile.view<?x8x128xbf16, read> -> !tile.sram<64x128xbf16>
  %m0 = tile.map() {at = #tile.at<@mm, order = 10>} : () -> !tile.frag<64xf32, along 0> {
  ^bb0(%r: index, %c: index):
    %x = arith.constant -1.0e30 : f32
    tile.yield %x : f32
  }
  %l0 = tile.map() {at = #tile.at<@mm, order = 20>} : () -> !tile.frag<64xf32, along 0> {
  ^bb0(%r: index, %c: index):
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  }
  %o0 = tile.map() {at = #tile.at<@mm, order = 30>} : () -> !tile.frag<64x128xf32> {
  ^bb0(%r: index, %c: index):
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  }
  %mf, %lf, %of = scf.for %j = %c0 to %i1 step %c1 iter_args(%m = %m0, %l = %l0, %oacc = %o0)
      -> (!tile.frag<64xf32, along 0>, !tile.frag<64xf32, along 0>, !tile.frag<64x128xf32>) {
    %krow = arith.muli %j, %c64 : index
    %kt = tile.load %k[%krow, %h, %c0] dims(0, 2) {at = #tile.at<@ld, order = 0, ring = @k>} : !tile.view<?x8x128xbf16, read> -> !tile.sram<64x128xbf16>
    %vt = tile.load %v[%krow, %h, %c0] dims(0, 2) {at = #tile.at<@ld, order = 10, ring = @v>} : !tile.view<?x8x128xbf16, read> -> !tile.sram<64x128xbf16>
    %s = tile.mma %qt, %kt transpose_b {at = #tile.at<@mm, order = 0>} : !tile.sram<64x128xbf16>, !tile.sram<64x128xbf16> -> !tile.frag<64x64xf32>
    %sm = tile.map(%s) {at = #tile.at<@mm, order = 10>} : (!tile.frag<64x64xf32>) -> !tile.frag<64x64xf32> {
    ^bb0(%x: f32, %r: index, %c: index):
      %qr = arith.addi %row, %r : index
      %kc = arith.addi %krow, %c : index
      %keep = arith.cmpi sge, %qr, %kc : index
      %scale = arith.constant 0.08838834764831845 : f32
      %y = arith.mulf %x, %scale : f32
      %low = arith.constant -1.0e30 : f32
      %z = arith.select %keep, %y, %low : f32
      tile.yield %z : f32
    }
    %mx = tile.reduce max %sm dim 1 {at = #tile.at<@mm, order = 20>} : !tile.frag<64x64xf32> -> !tile.frag<64xf32, along 0>
    %mn = tile.map(%m, %mx) {at = #tile.at<@mm, order = 30>} : (!tile.frag<64xf32, along 0>, !tile.frag<64xf32, along 0>) -> !tile.frag<64xf32, along 0> {
    ^bb0(%a: f32, %b: f32, %r: index, %c: index):
      %y = arith.maximumf %a, %b : f32
      tile.yield %y : f32
    }
    %pf = tile.map(%sm, %mn) {at = #tile.at<@mm, order = 40>} : (!tile.frag<64x64xf32>, !tile.frag<64xf32, along 0>) -> !tile.frag<64x64xf32> {
    ^bb0(%a: f32, %b: f32, %r: index, %c: index):
      %d = arith.subf %a, %b : f32
      %y = math.exp %d : f32
      tile.yield %y : f32
    }
    %al = tile.map(%m, %mn) {at = #tile.at<@mm, order = 50>} : (!tile.frag<64xf32, along 0>, !tile.frag<64xf32, along 0>) -> !tile.frag<64xf32, along 0> {
    ^bb0(%a: f32, %b: f32, %r: index, %c: index):
      %d = arith.subf %a, %b : f32
      %y = math.exp %d : f32
      tile.yield %y : f32
    }
    %sum = tile.reduce add %pf dim 1 {at = #tile.at<@mm, order = 60>} : !tile.frag<64x64xf32> -> !tile.frag<64xf32, along 0>
    %ln = tile.map(%l, %al, %sum) {at = #tile.at<@mm, order = 70>} : (!tile.frag<64xf32, along 0>, !tile.frag<64xf32, along 0>, !tile.frag<64xf32, along 0>) -> !tile.frag<64xf32, along 0> {
    ^bb0(%a: f32, %b: f32, %d: f32, %r: index, %c: index):
      %y = arith.mulf %a, %b : f32
      %z = arith.addf %y, %d : f32
      tile.yield %z : f32
    }
    %or = tile.map(%oacc, %al) {at = #tile.at<@mm, order = 80>} : (!tile.frag<64x128xf32>, !tile.frag<64xf32, along 0>) -> !tile.frag<64x128xf32> {
    ^bb0(%a: f32, %b: f32, %r: index, %c: index):
      %y = arith.mulf %a, %b : f32
      tile.yield %y : f32
    }
    %p = tile.map(%pf) {at = #tile.at<@mm, order = 90>} : (!tile.frag<64x64xf32>) -> !tile.frag<64x64xbf16> {
    ^bb0(%a: f32, %r: index, %c: index):
      %y = arith.truncf %a : f32 to bf16
      tile.yield %y : bf16
    }
    %o1 = tile.mma %p, %vt acc %or {at = #tile.at<@mm, order = 100>} : !tile.frag<64x64xbf16>, !tile.sram<64x128xbf16> -> !tile.frag<64x128xf32>
    scf.yield %mn, %ln, %o1 : !tile.frag<64xf32, along 0>, !tile.frag<64xf32, along 0>, !tile.frag<64x128xf32>
  } {at = #tile.loop<@j, order = 40>}
  %on = tile.map(%of, %lf) {at = #tile.at<@mm, order = 50>} : (!tile.frag<64x128xf32>, !tile.frag<64xf32, along 0>) -> !tile.frag<64x128xbf16> {
  ^bb0(%a: f32, %b: f32, %r: index, %c: index):
    %y = arith.divf %a, %b : f32
    %z = arith.truncf %y : f32 to bf16
    tile.yield %z : bf16
  }
  %os = tile.put %on {at = #tile.at<@mm, order = 60, ring = @ost>} : !tile.frag<64x128xbf16> -> !tile.sram<64x128xbf16>
  tile.store %os, %o[%row, %h, %c0] dims(0, 2) {at = #tile.at<@mm, order = 70>} : !tile.sram<64x128xbf16>, !tile.view<?x8x128xbf16, write>
}
