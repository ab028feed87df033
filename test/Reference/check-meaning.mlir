// RUN: mmx-opt %s --mmx-check-meaning='passes=func.func(mmx-decompose) runs=5' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --mmx-check-meaning='passes=func.func(mmx-block-lightning{block=2}) runs=5' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --mmx-check-meaning='passes=func.func(mmx-block-lightning{block=3},mmx-fuse-lightning) runs=5 seed=7' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --mmx-check-meaning='passes=func.func(mmx-decompose,mmx-block-lightning{block=4},mmx-fuse) runs=5 sizes=tokens:23,sequences:4' -o /dev/null | FileCheck %s
// RUN: not mmx-opt %s --mmx-check-meaning='passes=func.func(mmx-block-lightning{block=2}) tolerance=0' -o /dev/null 2>&1 | FileCheck %s --check-prefix=DIFFERS

// CHECK: 2 functions mean the same in 5 runs
// DIFFERS: error: with seed 1: @lightning result {{.}} differs by

func.func @lightning(%x: tensor<?x64xf32>, %w: tensor<192x64xf32>, %starts: tensor<?xi32>, %slots: tensor<?xi32>, %s: tensor<?x4x16x16xf32>) -> (tensor<?x64xf32>, tensor<?x4x16x16xf32>) {
  %p = mmx.linear %x, %w : (tensor<?x64xf32>, tensor<192x64xf32>) -> tensor<?x192xf32>
  %a = mmx.silu %p : (tensor<?x192xf32>) -> tensor<?x192xf32>
  %q, %k, %v = mmx.split_heads %a : (tensor<?x192xf32>) -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>)
  %o, %t = mmx.lightning_attention %q, %k, %v, %s packed(%starts, %slots) decay <layer = 1, layers = 4, heads = 4>
    : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
  %r = mmx.merge_heads %o : (tensor<?x4x16xf32>) -> tensor<?x64xf32>
  return %r, %t : tensor<?x64xf32>, tensor<?x4x16x16xf32>
}

func.func @experts(%x: tensor<?x64xf32>, %gate: tensor<4x64xf32>, %w1: tensor<4x96x64xf32>, %w3: tensor<4x96x64xf32>, %w2: tensor<4x64x96xf32>) -> tensor<?x64xf32> {
  %l = mmx.linear %x, %gate : (tensor<?x64xf32>, tensor<4x64xf32>) -> tensor<?x4xf32>
  %p, %e = mmx.route %l {top_k = 2 : i64} : (tensor<?x4xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
  %m = mmx.experts %x, %p, %e, %w1, %w3, %w2 : (tensor<?x64xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<4x96x64xf32>, tensor<4x96x64xf32>, tensor<4x64x96xf32>) -> tensor<?x64xf32>
  return %m : tensor<?x64xf32>
}
