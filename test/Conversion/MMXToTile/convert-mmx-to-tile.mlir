// RUN: mmx-opt %s --convert-mmx-to-tile --canonicalize | FileCheck %s
// RUN: mmx-opt %s --convert-mmx-to-tile=panel=0 | FileCheck %s --check-prefix=FLAT
// RUN: mmx-opt %s --mmx-compare-lowering='seed=3 pipeline=convert-mmx-to-tile sizes=tokens:35,sequences:2 runs=2 tolerance=1e-6' -o /dev/null

// The product owns the loop and the grid, the activation becomes a map on the
// result tile; the weight is stored in panels.
// CHECK-LABEL: tile.kernel @linear_silu_192x64_bf16_r16
// CHECK-SAME: (%[[W:.*]]: !tile.view<192x64xbf16, read, panel = 16 along 0>, %[[X:.*]]: !tile.view<?x64xf32, read>, %[[Y:.*]]: !tile.view<?x192xf32, write>)
// CHECK: %[[ZERO:.*]] = tile.map()
// CHECK: %[[ACC:.*]] = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[OLD:.*]] = %[[ZERO]])
// CHECK: %[[A:.*]] = tile.load %[[X]][%{{.*}}, %[[K]]] dims(0, 1) : !tile.view<?x64xf32, read> -> !tile.sram<16x32xf32>
// CHECK: %[[B:.*]] = tile.load %[[W]][%{{.*}}, %[[K]]] dims(0, 1) {{.*}} -> !tile.sram<64x32xbf16>
// CHECK: tile.mma %[[A]], %[[B]] transpose_b acc %[[OLD]]
// CHECK: %[[R:.*]] = tile.map(%[[ACC]])
// CHECK: math.exp
// CHECK: tile.store %[[R]], %[[Y]]
// FLAT: tile.kernel @linear_silu_192x64_bf16_r16(%{{.*}}: !tile.view<192x64xbf16, read>

// Both layers launch one kernel; decay rates are its operand. Queries, keys
// and values are parts of one view, and the state is updated in place.
// CHECK: tile.kernel @lightning_step_4x16x16_f32(
// CHECK-SAME: !tile.view<4xf32, read>
// CHECK-SAME: !tile.view<?x4x3x16xf32, read>
// CHECK-SAME: !tile.view<?x4x16x16xf32, inplace>
// CHECK-NOT: tile.kernel @lightning_step
// CHECK-LABEL: func.func @decode
// CHECK: mmx.launch @linear_silu_192x64_bf16_r16(%{{.*}}, %arg0) inplace [-1] shapes [#{{.*}}] :
// CHECK: mmx.launch @lightning_step_4x16x16_f32({{.*}}) inplace [-1, 3]
// CHECK: mmx.launch @lightning_step_4x16x16_f32({{.*}}) inplace [-1, 3]
mmx.global @w : tensor<192x64xbf16> from [#mmx.source<"w">]
func.func @decode(
    %x: tensor<?x64xf32> {mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 64)>},
    %slots: tensor<?xi32> {mmx.role = "slots", mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s1)>},
    %s0: tensor<?x4x16x16xf32> {mmx.role = "state.0", mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3, 4, 16, 16)>},
    %s1: tensor<?x4x16x16xf32> {mmx.role = "state.1", mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3, 4, 16, 16)>})
    -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?x4x16x16xf32>)
    attributes {mmx.phase = "decode"} {
  %w = mmx.weight @w : tensor<192x64xbf16>
  %qkv = mmx.kernel(%a = %x, %b = %w) : (tensor<?x64xf32>, tensor<192x64xbf16>) -> tensor<?x192xf32>
      attributes {tiles = #mmx.tiles<rows = 16, cols = 64, depth = 32>} {
    %0 = mmx.linear %a, %b : (tensor<?x64xf32>, tensor<192x64xbf16>) -> tensor<?x192xf32>
    %1 = mmx.silu %0 : (tensor<?x192xf32>) -> tensor<?x192xf32>
    mmx.yield %1 : tensor<?x192xf32>
  }
  %o0, %t0 = mmx.kernel(%a = %qkv, %p = %s0, %i = %slots)
      : (tensor<?x192xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>) {
    %q, %k, %v = mmx.split_heads %a
       : (tensor<?x192xf32>) -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>)
    %o, %t = mmx.lightning_step %q, %k, %v, %p slots(%i) decay <layer = 0, layers = 4, heads = 4>
       : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>)
         -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
    mmx.yield %o, %t : tensor<?x4x16xf32>, tensor<?x4x16x16xf32>
  }
  %o1, %t1 = mmx.kernel(%a = %qkv, %p = %s1, %i = %slots)
      : (tensor<?x192xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>) {
    %q, %k, %v = mmx.split_heads %a
       : (tensor<?x192xf32>) -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>)
    %o, %t = mmx.lightning_step %q, %k, %v, %p slots(%i) decay <layer = 1, layers = 4, heads = 4>
       : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>)
         -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
    mmx.yield %o, %t : tensor<?x4x16xf32>, tensor<?x4x16x16xf32>
  }
  return %o0, %o1, %t0, %t1
      : tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?x4x16x16xf32>
}
