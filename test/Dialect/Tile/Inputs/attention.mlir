// Causal softmax attention: two instances split the rows of a query tile and
// take turns at issuing products; softmax(j + 1) runs under the product of j.
tile.kernel @attention(%q: !tile.view<?x4xbf16, read>, %k: !tile.view<?x4xbf16, read>,
                       %v: !tile.view<?x4xbf16, read>, %o: !tile.view<?x4xbf16, write>)
    grid(%cta) = affine_map<()[s0, s1, s2, s3] -> (1)>
    attributes {
      schedule = #tile.schedule<
        roles = [@ld<warps = 1, regs = 24>, @mm<warps = 4, regs = 240, split = 2 along 0>],
        rings = [@q<depth = 1>, @k<depth = 2>, @v<depth = 2>]>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %tokens = tile.dim %q, 0 : !tile.view<?x4xbf16, read>
  scf.for %t = %c0 to %tokens step %c8 {
    %qt = tile.load %q[%t, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @q>} : !tile.view<?x4xbf16, read> -> !tile.sram<8x4xbf16>
    %m0 = tile.map() {at = #tile.at<@mm, order = 10>} : () -> !tile.frag<8xf32, along 0> {
    ^bb0(%r: index, %c: index):
      %x = arith.constant -1.0e30 : f32
      tile.yield %x : f32
    }
    %l0 = tile.map() {at = #tile.at<@mm, order = 20>} : () -> !tile.frag<8xf32, along 0> {
    ^bb0(%r: index, %c: index):
      %x = arith.constant 0.0 : f32
      tile.yield %x : f32
    }
    %o0 = tile.map() {at = #tile.at<@mm, order = 30>} : () -> !tile.frag<8x4xf32> {
    ^bb0(%r: index, %c: index):
      %x = arith.constant 0.0 : f32
      tile.yield %x : f32
    }
    %end = arith.addi %t, %c8 : index
    %mf, %lf, %of = scf.for %j = %c0 to %end step %c4 iter_args(%m = %m0, %l = %l0, %acc = %o0)
        -> (!tile.frag<8xf32, along 0>, !tile.frag<8xf32, along 0>, !tile.frag<8x4xf32>) {
      %kt = tile.load %k[%j, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @k>} : !tile.view<?x4xbf16, read> -> !tile.sram<4x4xbf16>
      %vt = tile.load %v[%j, %c0] dims(0, 1) {at = #tile.at<@ld, order = 10, ring = @v>} : !tile.view<?x4xbf16, read> -> !tile.sram<4x4xbf16>
      %s = tile.mma %qt, %kt transpose_b {at = #tile.at<@mm, order = 0, turn = @t>} : !tile.sram<8x4xbf16>, !tile.sram<4x4xbf16> -> !tile.frag<8x4xf32>
      %past = arith.addi %j, %c4 : index
      %diagonal = arith.cmpi sgt, %past, %t : index
      %sm = tile.map(%s) when %diagonal {at = #tile.at<@mm, order = 20>} : (!tile.frag<8x4xf32>) -> !tile.frag<8x4xf32> {
      ^bb0(%x: f32, %r: index, %c: index):
        %row = arith.addi %t, %r : index
        %col = arith.addi %j, %c : index
        %keep = arith.cmpi sge, %row, %col : index
        %never = arith.constant -1.0e30 : f32
        %y = arith.select %keep, %x, %never : f32
        tile.yield %y : f32
      }
      %mx = tile.reduce max %sm dim 1 {at = #tile.at<@mm, order = 25>} : !tile.frag<8x4xf32> -> !tile.frag<8xf32, along 0>
      %mn = tile.map(%m, %mx) {at = #tile.at<@mm, order = 30>} : (!tile.frag<8xf32, along 0>, !tile.frag<8xf32, along 0>) -> !tile.frag<8xf32, along 0> {
      ^bb0(%a: f32, %b: f32, %r: index, %c: index):
        %y = arith.maximumf %a, %b : f32
        tile.yield %y : f32
      }
      %pf = tile.map(%sm, %mn) {at = #tile.at<@mm, order = 40>} : (!tile.frag<8x4xf32>, !tile.frag<8xf32, along 0>) -> !tile.frag<8x4xf32> {
      ^bb0(%a: f32, %b: f32, %r: index, %c: index):
        %x = arith.subf %a, %b : f32
        %y = math.exp %x : f32
        tile.yield %y : f32
      }
      %al = tile.map(%m, %mn) {at = #tile.at<@mm, order = 50>} : (!tile.frag<8xf32, along 0>, !tile.frag<8xf32, along 0>) -> !tile.frag<8xf32, along 0> {
      ^bb0(%a: f32, %b: f32, %r: index, %c: index):
        %x = arith.subf %a, %b : f32
        %y = math.exp %x : f32
        tile.yield %y : f32
      }
      %ps = tile.reduce add %pf dim 1 {at = #tile.at<@mm, order = 55>} : !tile.frag<8x4xf32> -> !tile.frag<8xf32, along 0>
      %ln = tile.map(%l, %al, %ps) {at = #tile.at<@mm, order = 60>} : (!tile.frag<8xf32, along 0>, !tile.frag<8xf32, along 0>, !tile.frag<8xf32, along 0>) -> !tile.frag<8xf32, along 0> {
      ^bb0(%a: f32, %b: f32, %p: f32, %r: index, %c: index):
        %y = math.fma %a, %b, %p : f32
        tile.yield %y : f32
      }
      %or = tile.map(%acc, %al) {at = #tile.at<@mm, order = 70>} : (!tile.frag<8x4xf32>, !tile.frag<8xf32, along 0>) -> !tile.frag<8x4xf32> {
      ^bb0(%a: f32, %b: f32, %r: index, %c: index):
        %y = arith.mulf %a, %b : f32
        tile.yield %y : f32
      }
      %p = tile.map(%pf) {at = #tile.at<@mm, order = 80>} : (!tile.frag<8x4xf32>) -> !tile.frag<8x4xbf16> {
      ^bb0(%x: f32, %r: index, %c: index):
        %y = arith.truncf %x : f32 to bf16
        tile.yield %y : bf16
      }
      %o1 = tile.mma %p, %vt acc %or {at = #tile.at<@mm, order = 10, stage = 1, turn = @t>} : !tile.frag<8x4xbf16>, !tile.sram<4x4xbf16> -> !tile.frag<8x4xf32>
      scf.yield %mn, %ln, %o1 : !tile.frag<8xf32, along 0>, !tile.frag<8xf32, along 0>, !tile.frag<8x4xf32>
    } {at = #tile.loop<@j, order = 40>}
    %on = tile.map(%of, %lf) {at = #tile.at<@mm, order = 50>} : (!tile.frag<8x4xf32>, !tile.frag<8xf32, along 0>) -> !tile.frag<8x4xbf16> {
    ^bb0(%a: f32, %b: f32, %r: index, %c: index):
      %x = arith.divf %a, %b : f32
      %y = arith.truncf %x : f32 to bf16
      tile.yield %y : bf16
    }
    tile.store %on, %o[%t, %c0] dims(0, 1) {at = #tile.at<@mm, order = 60>} : !tile.frag<8x4xbf16>, !tile.view<?x4xbf16, write>
  } {at = #tile.loop<@t, order = 0>}
}
