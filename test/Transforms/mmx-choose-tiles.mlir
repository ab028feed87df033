// RUN: mmx-opt %s --mmx-fuse --mmx-choose-tiles | FileCheck %s
// RUN: mmx-opt %s --mmx-fuse --mmx-choose-tiles=target=h200 | FileCheck %s --check-prefix=H200
// RUN: mmx-opt %s --mmx-fuse --mmx-choose-tiles=explain=true 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: not mmx-opt %s --mmx-choose-tiles=target=a100 2>&1 | FileCheck %s --check-prefix=ERROR

// EXPLAIN: remark: 4096 tokens move
// EXPLAIN-SAME: us of memory
// EXPLAIN-SAME: rows = 64, cols = 64, depth = 512: weights are read once for each tile of rows
// ERROR: expected target cpu, h20, h800, h100 or h200, but got a100

// The depth is cut where it would not fit, into steps that divide it.
// CHECK-LABEL: func.func @prefill
// CHECK: tiles = #mmx.tiles<rows = 64, cols = 64, depth = 512>
// H200-LABEL: func.func @prefill
// H200: tiles = #mmx.tiles<rows = 128, cols = 128, depth = 64>
func.func @prefill(%x: tensor<?x6144xf32>, %w: tensor<8192x6144xbf16>) -> tensor<?x8192xf32>
    attributes {mmx.phase = "prefill"} {
  %y = mmx.linear %x, %w : (tensor<?x6144xf32>, tensor<8192x6144xbf16>) -> tensor<?x8192xf32>
  return %y : tensor<?x8192xf32>
}

// Few rows, and columns that divide the width.
// CHECK-LABEL: func.func @decode
// CHECK: tiles = #mmx.tiles<rows = 16, cols = 48, depth = 64>
func.func @decode(%x: tensor<?x64xf32>, %w: tensor<96x64xf32>) -> tensor<?x96xf32>
    attributes {mmx.phase = "decode"} {
  %y = mmx.linear %x, %w : (tensor<?x64xf32>, tensor<96x64xf32>) -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// An op that computes sets the tile, not one that renames elements.
// CHECK-LABEL: func.func @renamed
// CHECK: tiles = #mmx.tiles<rows = 8, cols = 256, depth = 1>
// H200-LABEL: func.func @renamed
// H200: tiles = #mmx.tiles<rows = 8, cols = 256, depth = 1>
func.func @renamed(%x: tensor<?x64x128xbf16>) -> tensor<?x8192xf32>
    attributes {mmx.phase = "prefill"} {
  %m = mmx.merge_heads %x : (tensor<?x64x128xbf16>) -> tensor<?x8192xbf16>
  %y = mmx.convert %m : (tensor<?x8192xbf16>) -> tensor<?x8192xf32>
  return %y : tensor<?x8192xf32>
}
