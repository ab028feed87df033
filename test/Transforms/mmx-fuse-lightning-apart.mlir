// RUN: mmx-opt %s --mmx-fuse-lightning | FileCheck %s

// Loops with other blocks, or over other sequences, stay apart.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-2: mmx.for_blocks
func.func @apart(%q: tensor<?x4x16xf32>, %s: tensor<?x4x16x16xf32>, %starts: tensor<?xi32>)
    -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>) {
  %a = mmx.for_blocks 32 packed(%starts : tensor<?xi32>) tokens(%q) blocks(%s) carry()
      : (tensor<?x4x16xf32>) (tensor<?x4x16x16xf32>) () -> (tensor<?x4x16xf32>) () () {
  ^bb0(%qb: tensor<?x4x16xf32>, %sb: tensor<4x16x16xf32>):
    %r = mmx.block_readout %qb, %sb : (tensor<?x4x16xf32>, tensor<4x16x16xf32>) -> tensor<?x4x16xf32>
    mmx.block_yield tokens(%r) blocks() carry() : (tensor<?x4x16xf32>) () ()
  }
  %b = mmx.for_blocks 64 packed(%starts : tensor<?xi32>) tokens(%q) blocks(%s) carry()
      : (tensor<?x4x16xf32>) (tensor<?x4x16x16xf32>) () -> (tensor<?x4x16xf32>) () () {
  ^bb0(%qb: tensor<?x4x16xf32>, %sb: tensor<4x16x16xf32>):
    %r = mmx.block_readout %qb, %sb : (tensor<?x4x16xf32>, tensor<4x16x16xf32>) -> tensor<?x4x16xf32>
    mmx.block_yield tokens(%r) blocks() carry() : (tensor<?x4x16xf32>) () ()
  }
  return %a, %b : tensor<?x4x16xf32>, tensor<?x4x16xf32>
}
