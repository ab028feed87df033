// RUN: mmx-opt %s | mmx-opt | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK: mmx.kernel
// CHECK: mmx.for_blocks 64 packed
mmx.global @w : tensor<192x64xbf16> from [#mmx.source<"a.b">]
mmx.global @w2 : tensor<192x64xbf16> from [#mmx.source<"a.b", index = 2, first = 0, rows = 96>]
func.func @f(%x: tensor<?x64xf32>, %w: tensor<192x64xbf16>, %starts: tensor<?xi32>, %slots: tensor<?xi32>, %s0: tensor<?x4x16x16xf32>) -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>) {
  %y = mmx.kernel(%a = %x, %b = %w) : (tensor<?x64xf32>, tensor<192x64xbf16>) -> tensor<?x192xf32> attributes {tiles = #mmx.tiles<rows = 64, cols = 64, depth = 64>} {
      %0 = mmx.linear %a, %b : (tensor<?x64xf32>, tensor<192x64xbf16>) -> tensor<?x192xf32>
      %1 = mmx.silu %0 : (tensor<?x192xf32>) -> tensor<?x192xf32>
      mmx.yield %1 : tensor<?x192xf32>
  }
  %q, %k, %v = mmx.split_heads %y : (tensor<?x192xf32>) -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>)
    %oo, %s11 = mmx.lightning_attention %q, %k, %v, %s0 packed(%starts, %slots)
              decay <layer = 0, layers = 4, heads = 4>
       : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>,
          tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>)
         -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
    %o, %s1 = mmx.for_blocks 64 packed(%starts : tensor<?xi32>)
        slots(%slots : tensor<?xi32>) tokens(%q, %k, %v) blocks() carry(%s0)
        : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>) () (tensor<?x4x16x16xf32>)
        -> (tensor<?x4x16xf32>) () (tensor<?x4x16x16xf32>) {
    ^bb0(%qb: tensor<?x4x16xf32>, %kb: tensor<?x4x16xf32>,
         %vb: tensor<?x4x16xf32>, %s: tensor<4x16x16xf32>):
      %r = mmx.block_readout %qb, %s : (tensor<?x4x16xf32>, tensor<4x16x16xf32>) -> tensor<?x4x16xf32>
      mmx.block_yield tokens(%r) blocks() carry(%s) : (tensor<?x4x16xf32>) () (tensor<4x16x16xf32>)
    }
  return %o, %s1 : tensor<?x4x16xf32>, tensor<?x4x16x16xf32>
}
