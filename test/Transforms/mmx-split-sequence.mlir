// RUN: mmx-opt %s --mmx-block-lightning=block=32 --mmx-fuse-lightning --mmx-split-sequence=length=64 | FileCheck %s
// RUN: mmx-opt %s --mmx-compare-lowering='pipeline=func.func(mmx-block-lightning{block=16},mmx-fuse-lightning,mmx-split-sequence{length=32}) sizes=tokens:197,sequences:4 runs=4 tolerance=1e-13' -o /dev/null
// RUN: not mmx-opt %s --mmx-block-lightning=block=64 --mmx-fuse-lightning --mmx-split-sequence=length=96 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK-LABEL: func.func @lightning
// CHECK: %[[G:.*]] = mmx.segment_table %arg4, %{{.*}} {length = 64 : i64}
// CHECK: %[[Z:.*]] = mmx.zero_states %[[G]]
// CHECK: %[[U:.*]] = mmx.for_blocks 32 packed(%[[G]] : tensor<?xi32>) tokens({{.*}}) blocks() carry(%[[Z]])
// CHECK-NOT: mmx.block_scores
// CHECK: mmx.block_yield tokens() blocks() carry(%{{.*}})
// CHECK: %[[IN:.*]], %[[S1:.*]] = mmx.scan_states %[[U]], %arg3 packed(%arg4, %arg5) {length = 64 : i64} decay <layer = 0, layers = 4, heads = 4>
// CHECK: %[[O:.*]], %{{.*}} = mmx.for_blocks 32 packed(%[[G]] : tensor<?xi32>) tokens({{.*}}) blocks() carry(%[[IN]])
// CHECK: mmx.block_scores
// CHECK: return %[[O]], %[[S1]]
// ERROR: expected segments of a multiple of 64 tokens, but got 96
func.func @lightning(
    %q: tensor<?x4x16xf32> {mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 4, 16)>},
    %k: tensor<?x4x16xf32> {mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 4, 16)>},
    %v: tensor<?x4x16xf32> {mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 4, 16)>},
    %s0: tensor<?x4x16x16xf32> {mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3, 4, 16, 16)>},
    %starts: tensor<?xi32> {mmx.role = "starts", mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s1 + 1)>},
    %slots: tensor<?xi32> {mmx.role = "slots", mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s1)>})
    -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>) {
  %o, %s1 = mmx.lightning_attention %q, %k, %v, %s0 packed(%starts, %slots) decay <layer = 0, layers = 4, heads = 4>
     : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>)
       -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
  return %o, %s1 : tensor<?x4x16xf32>, tensor<?x4x16x16xf32>
}
