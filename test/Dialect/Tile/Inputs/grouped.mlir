// Ragged grouped product with int8 weights and a gated activation: the tile
// list is data; gathered tokens; weights become bf16 one block ahead.
tile.kernel @grouped(%x: !tile.view<12x12xbf16, read>, %w1: !tile.view<3x8x12xi8, read>,
                     %w3: !tile.view<3x8x12xi8, read>, %h: !tile.view<12x8xbf16, write>,
                     %ids: !tile.view<12xi32, read>, %tiles: !tile.view<?x3xi32, read>)
    grid(%cta) = affine_map<()[s0] -> (1)>
    attributes {
      schedule = #tile.schedule<
        roles = [@ldx<warps = 4>, @ldw<warps = 1>, @mm<warps = 4, split = 2 along 1>],
        rings = [@x<depth = 2>, @w<depth = 2>]>,
      tile.inputs = ["random", "random", "random", "random",
                     dense<[7, 2, 9, 0, 11, 4, 1, 10, 3, 8, 6, 5]> : tensor<12xi32>,
                     dense<[[0, 0, 4], [0, 4, 1], [1, 5, 3], [2, 8, 4]]> : tensor<4x3xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %nt = tile.dim %tiles, 0 : !tile.view<?x3xi32, read>
  scf.for %t = %c0 to %nt step %c1 {
    %e = tile.table %tiles[%t, %c0] : !tile.view<?x3xi32, read> -> index
    %start = tile.table %tiles[%t, %c1] : !tile.view<?x3xi32, read> -> index
    %count = tile.table %tiles[%t, %c2] : !tile.view<?x3xi32, read> -> index
    %g0 = tile.map() {at = #tile.at<@mm, order = 0>} : () -> !tile.frag<4x8xf32> {
    ^bb0(%r: index, %c: index):
      %z = arith.constant 0.0 : f32
      tile.yield %z : f32
    }
    %u0 = tile.map() {at = #tile.at<@mm, order = 10>} : () -> !tile.frag<4x8xf32> {
    ^bb0(%r: index, %c: index):
      %z = arith.constant 0.0 : f32
      tile.yield %z : f32
    }
    %gf, %uf = scf.for %k = %c0 to %c12 step %c4 iter_args(%ga = %g0, %ua = %u0) -> (!tile.frag<4x8xf32>, !tile.frag<4x8xf32>) {
      %xt = tile.gather %x[%c0, %k] ids(%ids at %start) rows %count dims(0, 1) {at = #tile.at<@ldx, order = 0, ring = @x>} : !tile.view<12x12xbf16, read>, !tile.view<12xi32, read> -> !tile.sram<4x4xbf16>
      %s1 = tile.load %w1[%e, %c0, %k] dims(1, 2) {at = #tile.at<@ldw, order = 0, ring = @w>} : !tile.view<3x8x12xi8, read> -> !tile.sram<8x4xi8>
      %s3 = tile.load %w3[%e, %c0, %k] dims(1, 2) {at = #tile.at<@ldw, order = 10, ring = @w.1>} : !tile.view<3x8x12xi8, read> -> !tile.sram<8x4xi8>
      %r1 = tile.read %s1 {at = #tile.at<@mm, order = 30>} : !tile.sram<8x4xi8> -> !tile.frag<8x4xi8>
      %d1 = tile.map(%r1) {at = #tile.at<@mm, order = 40>} : (!tile.frag<8x4xi8>) -> !tile.frag<8x4xbf16> {
      ^bb0(%v: i8, %r: index, %c: index):
        %y = arith.sitofp %v : i8 to bf16
        tile.yield %y : bf16
      }
      %r3 = tile.read %s3 {at = #tile.at<@mm, order = 50>} : !tile.sram<8x4xi8> -> !tile.frag<8x4xi8>
      %d3 = tile.map(%r3) {at = #tile.at<@mm, order = 60>} : (!tile.frag<8x4xi8>) -> !tile.frag<8x4xbf16> {
      ^bb0(%v: i8, %r: index, %c: index):
        %y = arith.sitofp %v : i8 to bf16
        tile.yield %y : bf16
      }
      %g1 = tile.mma %xt, %d1 transpose_b acc %ga {at = #tile.at<@mm, order = 0, stage = 1, inflight = 1>} : !tile.sram<4x4xbf16>, !tile.frag<8x4xbf16> -> !tile.frag<4x8xf32>
      %u1 = tile.mma %xt, %d3 transpose_b acc %ua {at = #tile.at<@mm, order = 10, stage = 1, inflight = 1>} : !tile.sram<4x4xbf16>, !tile.frag<8x4xbf16> -> !tile.frag<4x8xf32>
      scf.yield %g1, %u1 : !tile.frag<4x8xf32>, !tile.frag<4x8xf32>
    } {at = #tile.loop<@k, order = 20>}
    %act = tile.map(%gf, %uf) {at = #tile.at<@mm, order = 30>} : (!tile.frag<4x8xf32>, !tile.frag<4x8xf32>) -> !tile.frag<4x8xbf16> {
    ^bb0(%g: f32, %u: f32, %r: index, %c: index):
      %scale = arith.constant 0.0078125 : f32
      %gs = arith.mulf %g, %scale : f32
      %us = arith.mulf %u, %scale : f32
      %n = arith.negf %gs : f32
      %ex = math.exp %n : f32
      %one = arith.constant 1.0 : f32
      %d = arith.addf %ex, %one : f32
      %s = arith.divf %gs, %d : f32
      %y = arith.mulf %s, %us : f32
      %yb = arith.truncf %y : f32 to bf16
      tile.yield %yb : bf16
    }
    tile.store %act, %h[%start, %c0] rows %count dims(0, 1) {at = #tile.at<@mm, order = 40>} : !tile.frag<4x8xbf16>, !tile.view<12x8xbf16, write>
  } {at = #tile.loop<@t, order = 0>}
}
