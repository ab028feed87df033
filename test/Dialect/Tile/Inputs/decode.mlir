// Batched update of lightning states in place: loads run ahead of stores,
// because an iteration owns its slot.
tile.kernel @decode(%state: !tile.view<6x4x4xf32, inplace>, %rows: !tile.view<?x3x4xbf16, read>,
                    %slots: !tile.view<?xi32, read>, %out: !tile.view<?x4xf32, write>)
    grid(%cta) = affine_map<()[s0, s1, s2] -> (1)>
    attributes {
      schedule = #tile.schedule<
        roles = [@ld<warps = 1>, @up<warps = 4, alternate = 2 over @b>],
        rings = [@st<depth = 2>]>,
      tile.inputs = ["random", "random", dense<[3, 0, 4, 1, 5]> : tensor<5xi32>, "poison"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tile.dim %slots, 0 : !tile.view<?xi32, read>
  scf.for %b = %c0 to %n step %c1 {
    %slot = tile.table %slots[%b] : !tile.view<?xi32, read> -> index
    %s = tile.load %state[%slot, %c0, %c0] dims(1, 2) {at = #tile.at<@ld, order = 0, ring = @st>} : !tile.view<6x4x4xf32, inplace> -> !tile.sram<4x4xf32>
    %q = tile.load %rows[%b, %c0, %c0] dims(2) {at = #tile.at<@ld, order = 10, ring = @st.1>} : !tile.view<?x3x4xbf16, read> -> !tile.sram<4xbf16>
    %k = tile.load %rows[%b, %c1, %c0] dims(2) {at = #tile.at<@ld, order = 20, ring = @st.2>} : !tile.view<?x3x4xbf16, read> -> !tile.sram<4xbf16>
    %v = tile.load %rows[%b, %c2, %c0] dims(2) {at = #tile.at<@ld, order = 30, ring = @st.3>} : !tile.view<?x3x4xbf16, read> -> !tile.sram<4xbf16>
    %sf = tile.read %s {at = #tile.at<@up, order = 0>} : !tile.sram<4x4xf32> -> !tile.frag<4x4xf32>
    %qf = tile.read %q {at = #tile.at<@up, order = 10>} : !tile.sram<4xbf16> -> !tile.frag<4xbf16, along 0>
    %kf = tile.read %k {at = #tile.at<@up, order = 20>} : !tile.sram<4xbf16> -> !tile.frag<4xbf16, along 0>
    %vf = tile.read %v {at = #tile.at<@up, order = 30>} : !tile.sram<4xbf16> -> !tile.frag<4xbf16, along 1>
    %s1 = tile.map(%sf, %kf, %vf) {at = #tile.at<@up, order = 40>} : (!tile.frag<4x4xf32>, !tile.frag<4xbf16, along 0>, !tile.frag<4xbf16, along 1>) -> !tile.frag<4x4xf32> {
    ^bb0(%x: f32, %kb: bf16, %vb: bf16, %r: index, %c: index):
      %lambda = arith.constant 0.9 : f32
      %kx = arith.extf %kb : bf16 to f32
      %vx = arith.extf %vb : bf16 to f32
      %kv = arith.mulf %kx, %vx : f32
      %y = math.fma %x, %lambda, %kv : f32
      tile.yield %y : f32
    }
    %sq = tile.map(%s1, %qf) {at = #tile.at<@up, order = 50>} : (!tile.frag<4x4xf32>, !tile.frag<4xbf16, along 0>) -> !tile.frag<4x4xf32> {
    ^bb0(%x: f32, %qb: bf16, %r: index, %c: index):
      %qx = arith.extf %qb : bf16 to f32
      %y = arith.mulf %x, %qx : f32
      tile.yield %y : f32
    }
    %o = tile.reduce add %sq dim 0 {at = #tile.at<@up, order = 60>} : !tile.frag<4x4xf32> -> !tile.frag<4xf32, along 1>
    tile.store %s1, %state[%slot, %c0, %c0] dims(1, 2) {at = #tile.at<@up, order = 70>} : !tile.frag<4x4xf32>, !tile.view<6x4x4xf32, inplace>
    tile.store %o, %out[%b, %c0] dims(1) {at = #tile.at<@up, order = 80>} : !tile.frag<4xf32, along 1>, !tile.view<?x4xf32, write>
  } {at = #tile.loop<@b, order = 0>}
}
