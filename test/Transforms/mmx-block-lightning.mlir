// RUN: mmx-opt %s --mmx-block-lightning=block=32 | FileCheck %s
// RUN: mmx-opt %s --mmx-compare-lowering='pipeline=func.func(mmx-block-lightning{block=32}) sizes=tokens:97,sequences:4 runs=4 tolerance=1e-13' -o /dev/null

// CHECK-LABEL: func.func @lightning
// CHECK: %[[S:.*]], %[[NEW:.*]] = mmx.for_blocks 32 packed(%arg4 : tensor<?xi32>) slots(%arg5 : tensor<?xi32>) tokens(%arg1, %arg2) blocks() carry(%arg3)
// CHECK: mmx.key_decay
// CHECK: mmx.block_outer
// CHECK: mmx.block_decay
// CHECK: mmx.block_yield tokens() blocks(%{{.*}}) carry(%{{.*}})
// CHECK: %[[INTER:.*]] = mmx.for_blocks 32 packed(%arg4 : tensor<?xi32>) tokens(%arg0) blocks(%[[S]]) carry()
// CHECK: mmx.block_readout
// CHECK: mmx.query_decay
// CHECK: %[[INTRA:.*]] = mmx.for_blocks 32 packed(%arg4 : tensor<?xi32>) tokens(%arg0, %arg1, %arg2) blocks() carry()
// CHECK: mmx.block_scores
// CHECK: mmx.decay_mask
// CHECK: mmx.block_values
// CHECK: %[[O:.*]] = mmx.add %[[INTER]], %[[INTRA]]
// CHECK: return %[[O]], %[[NEW]]
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
