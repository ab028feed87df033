// RUN: mmx-opt %s --pass-pipeline='builtin.module(convert-mmx-to-exec,exec.program(exec-plan-buffers,exec-check-plan),exec-run-plan{at=5,2,2,3,128,1 seed=3})' | FileCheck %s
// RUN: mmx-opt %s --pass-pipeline='builtin.module(convert-mmx-to-exec,exec.program(exec-plan-buffers),exec-run-plan{at=70,1,2,3,128,1})' | FileCheck %s

// A chain of maps in which every temporary but the first stands in memory that
// was used before, and a pool.

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#rows = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 8)>
#states = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3, 8)>

mmx.global @table : tensor<7x8xf32> from [#mmx.source<"table">]

tile.kernel @embed(%ids: !tile.view<?xi32, read>, %t: !tile.view<7x8xf32, read>,
                   %y: !tile.view<?x8xf32, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s0 ceildiv 16)> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %row = arith.muli %i, %c16 : index
  %n = tile.dim %ids, 0 : !tile.view<?xi32, read>
  %left = arith.subi %n, %row : index
  %m = arith.minsi %left, %c16 : index
  %x = tile.gather %t[%c0, %c0] ids(%ids at %row) rows %m dims(0, 1)
     : !tile.view<7x8xf32, read>, !tile.view<?xi32, read> -> !tile.sram<16x8xf32>
  tile.store %x, %y[%row, %c0] rows %m dims(0, 1) : !tile.sram<16x8xf32>, !tile.view<?x8xf32, write>
}
tile.kernel @add(%a: !tile.view<?x8xf32, read>, %b: !tile.view<?x8xf32, read>,
                 %y: !tile.view<?x8xf32, write>)
    grid(%i) = affine_map<()[s0, s1, s2] -> (s0 ceildiv 16)> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %row = arith.muli %i, %c16 : index
  %x0 = tile.load %a[%row, %c0] dims(0, 1) : !tile.view<?x8xf32, read> -> !tile.frag<16x8xf32>
  %x1 = tile.load %b[%row, %c0] dims(0, 1) : !tile.view<?x8xf32, read> -> !tile.frag<16x8xf32>
  %s = tile.map(%x0, %x1) : (!tile.frag<16x8xf32>, !tile.frag<16x8xf32>) -> !tile.frag<16x8xf32> {
  ^bb0(%u: f32, %v: f32, %r: index, %c: index):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  tile.store %s, %y[%row, %c0] dims(0, 1) : !tile.frag<16x8xf32>, !tile.view<?x8xf32, write>
}
tile.kernel @double(%s: !tile.view<?x8xf32, inplace>)
    grid(%i) = affine_map<()[s0] -> (s0 ceildiv 16)> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %row = arith.muli %i, %c16 : index
  %x = tile.load %s[%row, %c0] dims(0, 1) : !tile.view<?x8xf32, inplace> -> !tile.frag<16x8xf32>
  %d = tile.map(%x) : (!tile.frag<16x8xf32>) -> !tile.frag<16x8xf32> {
  ^bb0(%u: f32, %r: index, %c: index):
    %w = arith.addf %u, %u : f32
    tile.yield %w : f32
  }
  tile.store %d, %s[%row, %c0] dims(0, 1) : !tile.frag<16x8xf32>, !tile.view<?x8xf32, inplace>
}

// Three places are enough for four temporaries.
// CHECK-DAG: #[[ARENA:.+]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> ((s0 ceildiv 2) * 192)>
// CHECK: exec.program @prefill arena #[[ARENA]]
func.func @prefill(%ids: tensor<?xi32> {mmx.role = "ids", mmx.shape = #tokens},
                   %s: tensor<?x8xf32> {mmx.role = "state.0", mmx.shape = #states})
    -> (tensor<?x8xf32> {mmx.role = "logits"}, tensor<?x8xf32> {mmx.role = "state.0"})
    attributes {mmx.phase = "prefill"} {
  %t = mmx.weight @table : tensor<7x8xf32>
  %a = mmx.launch @embed(%ids, %t) inplace [-1] shapes [#rows] : (tensor<?xi32>, tensor<7x8xf32>) -> tensor<?x8xf32>
  %b = mmx.launch @add(%a, %a) inplace [-1] shapes [#rows] : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %c = mmx.launch @add(%a, %b) inplace [-1] shapes [#rows] : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %n = mmx.launch @double(%s) inplace [0] shapes [#states] : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %d = mmx.launch @add(%c, %b) inplace [-1] shapes [#rows] : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %e = mmx.launch @double(%d) inplace [0] shapes [#rows] : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %l = mmx.launch @add(%e, %c) inplace [-1] shapes [#rows] : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %l, %n : tensor<?x8xf32>, tensor<?x8xf32>
}
