// Products of the tokens of each expert with its weights, for
// bench/gpu_clients.py: tokens are sorted by expert, the list of tiles is data
// (expert, first token, tokens).
tile.kernel @grouped_2048x1024(%x: !tile.view<?x1024xbf16, read>, %w: !tile.view<8x2048x1024xbf16, read>,
                               %tiles: !tile.view<?x3xi32, read>, %h: !tile.view<?x2048xbf16, write>)
    grid(%t, %j) = affine_map<()[s0, s1, s2] -> (s1, 16)>
    attributes {
      schedule = #tile.schedule<
        roles = [@ld<warps = 1, regs = 24>, @mm<warps = 4, regs = 240>],
        rings = [@xw<depth = 4>, @hst<depth = 1>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %ck = arith.constant 1024 : index
  %e = tile.table %tiles[%t, %c0] : !tile.view<?x3xi32, read> -> index
  %start = tile.table %tiles[%t, %c1] : !tile.view<?x3xi32, read> -> index
  %count = tile.table %tiles[%t, %c2] : !tile.view<?x3xi32, read> -> index
  %col = arith.muli %j, %c128 : index
  %z = tile.map() {at = #tile.at<@mm, order = 0>} : () -> !tile.frag<64x128xf32> {
  ^bb0(%r: index, %c: index):
    %zero = arith.constant 0.0 : f32
    tile.yield %zero : f32
  }
  %hf = scf.for %k = %c0 to %ck step %c64 iter_args(%acc = %z) -> (!tile.frag<64x128xf32>) {
    %xt = tile.load %x[%start, %k] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @xw>} : !tile.view<?x1024xbf16, read> -> !tile.sram<64x64xbf16>
    %wt = tile.load %w[%e, %col, %k] dims(1, 2) {at = #tile.at<@ld, order = 10, ring = @xw.1>} : !tile.view<8x2048x1024xbf16, read> -> !tile.sram<128x64xbf16>
    %h1 = tile.mma %xt, %wt transpose_b acc %acc {at = #tile.at<@mm, order = 0, inflight = 1>} : !tile.sram<64x64xbf16>, !tile.sram<128x64xbf16> -> !tile.frag<64x128xf32>
    scf.yield %h1 : !tile.frag<64x128xf32>
  } {at = #tile.loop<@k, order = 10>}
  %hb = tile.map(%hf) {at = #tile.at<@mm, order = 20>} : (!tile.frag<64x128xf32>) -> !tile.frag<64x128xbf16> {
  ^bb0(%v: f32, %r: index, %c: index):
    %y = arith.truncf %v : f32 to bf16
    tile.yield %y : bf16
  }
  %hs = tile.put %hb {at = #tile.at<@mm, order = 30, ring = @hst>} : !tile.frag<64x128xbf16> -> !tile.sram<64x128xbf16>
  tile.store %hs, %h[%start, %col] rows %count dims(0, 1) {at = #tile.at<@mm, order = 40>} : !tile.sram<64x128xbf16>, !tile.view<?x2048xbf16, write>
}
