// c = silu(a w^T): a product with an epilogue on its accumulators, for
// bench/gpu_clients.py.
tile.kernel @gemm_silu_4096x4096(%a: !tile.view<?x4096xbf16, read>, %w: !tile.view<4096x4096xbf16, read>,
                  %c: !tile.view<?x4096xbf16, write>)
    grid(%i, %j) = affine_map<()[s0, s1] -> (s0 ceildiv 128, 32)>
    attributes {
      schedule = #tile.schedule<
        roles = [@ld<warps = 1, regs = 24>, @mm<warps = 4, regs = 240>],
        rings = [@ab<depth = 4>, @cst<depth = 1>]>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %ck = arith.constant 4096 : index
  %row = arith.muli %i, %c128 : index
  %col = arith.muli %j, %c128 : index
  %z = tile.map() {at = #tile.at<@mm, order = 0>} : () -> !tile.frag<128x128xf32> {
  ^bb0(%r: index, %cc: index):
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  }
  %cf = scf.for %k = %c0 to %ck step %c64 iter_args(%acc = %z) -> (!tile.frag<128x128xf32>) {
    %at = tile.load %a[%row, %k] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @ab>} : !tile.view<?x4096xbf16, read> -> !tile.sram<128x64xbf16>
    %wt = tile.load %w[%col, %k] dims(0, 1) {at = #tile.at<@ld, order = 10, ring = @ab.1>} : !tile.view<4096x4096xbf16, read> -> !tile.sram<128x64xbf16>
    %c1 = tile.mma %at, %wt transpose_b acc %acc {at = #tile.at<@mm, order = 0, inflight = 1>} : !tile.sram<128x64xbf16>, !tile.sram<128x64xbf16> -> !tile.frag<128x128xf32>
    scf.yield %c1 : !tile.frag<128x128xf32>
  } {at = #tile.loop<@k, order = 10>}
  %e = tile.map(%cf) {at = #tile.at<@mm, order = 20>} : (!tile.frag<128x128xf32>) -> !tile.frag<128x128xbf16> {
  ^bb0(%x: f32, %r: index, %cc: index):
    %n = arith.negf %x : f32
    %ex = math.exp %n : f32
    %one = arith.constant 1.0 : f32
    %d = arith.addf %ex, %one : f32
    %s = arith.divf %x, %d : f32
    %y = arith.truncf %s : f32 to bf16
    tile.yield %y : bf16
  }
  %cs = tile.put %e {at = #tile.at<@mm, order = 30, ring = @cst>} : !tile.frag<128x128xbf16> -> !tile.sram<128x128xbf16>
  tile.store %cs, %c[%row, %col] dims(0, 1) {at = #tile.at<@mm, order = 40>} : !tile.sram<128x128xbf16>, !tile.view<?x4096xbf16, write>
}
