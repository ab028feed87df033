// As gemm.mlir with the accumulator started from a bias that is loaded once per
// tile.
tile.kernel @gemm_bias(%a: !tile.view<?x?xbf16, read>, %b: !tile.view<?x8xbf16, read>,
                  %blocks: !tile.view<?xi32, read>, %c: !tile.view<?x8xbf16, write>,
                  %stat: !tile.view<?xf32, write>,
                  %bias: !tile.view<8xbf16, read>)
    grid(%cta) = affine_map<()[s0, s1, s2, s3, s4, s5] -> (1)>
    attributes {
      schedule = #tile.schedule<
        roles = [@ld<warps = 1, regs = 24>, @mm<warps = 4, regs = 240, alternate = 2 over @t>],
        rings = [@bias<depth = 2>, @ab<depth = 4>, @cst<depth = 1>]>,
      tile.inputs = ["random", "random", dense<[3, 3, 3, 3, 3]> : tensor<5xi32>, "poison", "poison", "random"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %tiles = tile.dim %blocks, 0 : !tile.view<?xi32, read>
  scf.for %t = %c0 to %tiles step %c1 {
    %row = arith.muli %t, %c4 : index
    %nk = tile.table %blocks[%t] : !tile.view<?xi32, read> -> index
    %bs = tile.load %bias[%c0] dims(0) {at = #tile.at<@ld, order = -10, ring = @bias>} : !tile.view<8xbf16, read> -> !tile.sram<8xbf16>
    %bf = tile.read %bs {at = #tile.at<@mm, order = -10>} : !tile.sram<8xbf16> -> !tile.frag<8xbf16, along 1>
    %z = tile.map(%bf) {at = #tile.at<@mm, order = 0>} : (!tile.frag<8xbf16, along 1>) -> !tile.frag<4x8xf32> {
    ^bb0(%x: bf16, %r: index, %col: index):
      %y = arith.extf %x : bf16 to f32
      tile.yield %y : f32
    }
    %cf = scf.for %kb = %c0 to %nk step %c1 iter_args(%acc = %z) -> (!tile.frag<4x8xf32>) {
      %ks = arith.muli %kb, %c4 : index
      %at = tile.load %a[%row, %ks] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @ab>} : !tile.view<?x?xbf16, read> -> !tile.sram<4x4xbf16>
      %bt = tile.load %b[%ks, %c0] dims(0, 1) {at = #tile.at<@ld, order = 10, ring = @ab.1>} : !tile.view<?x8xbf16, read> -> !tile.sram<4x8xbf16>
      %c1s = tile.mma %at, %bt acc %acc {at = #tile.at<@mm, order = 0, inflight = 1>} : !tile.sram<4x4xbf16>, !tile.sram<4x8xbf16> -> !tile.frag<4x8xf32>
      scf.yield %c1s : !tile.frag<4x8xf32>
    } {at = #tile.loop<@k, order = 10, turn = @m>}
    %sq = tile.map(%cf) {at = #tile.at<@mm, order = 20>} : (!tile.frag<4x8xf32>) -> !tile.frag<4x8xf32> {
    ^bb0(%x: f32, %r: index, %col: index):
      %y = arith.mulf %x, %x : f32
      tile.yield %y : f32
    }
    %st = tile.reduce add %sq dim 1 {at = #tile.at<@mm, order = 25>} : !tile.frag<4x8xf32> -> !tile.frag<4xf32, along 0>
    tile.store %st, %stat[%row] dims(0) {at = #tile.at<@mm, order = 30>} : !tile.frag<4xf32, along 0>, !tile.view<?xf32, write>
    %cb = tile.map(%cf) {at = #tile.at<@mm, order = 35>} : (!tile.frag<4x8xf32>) -> !tile.frag<4x8xbf16> {
    ^bb0(%x: f32, %r: index, %col: index):
      %y = arith.truncf %x : f32 to bf16
      tile.yield %y : bf16
    }
    %cs = tile.put %cb {at = #tile.at<@mm, order = 40, ring = @cst>} : !tile.frag<4x8xbf16> -> !tile.sram<4x8xbf16>
    tile.store %cs, %c[%row, %c0] dims(0, 1) {at = #tile.at<@mm, order = 50>} : !tile.sram<4x8xbf16>, !tile.view<?x8xbf16, write>
  } {at = #tile.loop<@t, order = 0>}
}
