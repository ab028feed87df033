// RUN: mmx-opt %s --mmx-decompose | FileCheck %s

// CHECK-LABEL: func.func @attention
// CHECK-DAG: %[[K:.*]] = mmx.cache_append %arg1, %arg3, %arg7
// CHECK-DAG: %[[V:.*]] = mmx.cache_append %arg2, %arg4, %arg7
// CHECK: %[[O:.*]] = mmx.attend %arg0, %[[K]], %[[V]] packed(%arg5, %arg6) paged(%arg8) {page = 64 : i64, scale = 2.500000e-01 : f64}
// CHECK: return %[[O]], %[[K]], %[[V]]
func.func @attention(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>,
    %kc: tensor<?x2x16xf32>, %vc: tensor<?x2x16xf32>, %starts: tensor<?xi32>, %past: tensor<?xi32>,
    %rows: tensor<?xi32>, %pages: tensor<?x?xi32>)
    -> (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) {
  %o, %kc1, %vc1 = mmx.softmax_attention %q, %k, %v, %kc, %vc packed(%starts, %past) paged(%rows, %pages)
      {scale = 0.25 : f64, page = 64 : i64}
     : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
        tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>)
       -> (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>)
  return %o, %kc1, %vc1 : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
}

// CHECK-LABEL: func.func @experts
// CHECK: %[[TOKENS:.*]], %[[CHOICES:.*]], %[[OFFSETS:.*]] = mmx.group_tokens %arg2 : (tensor<?x2xi32>) -> (tensor<?xi32>, tensor<?xi32>, tensor<5xi32>)
// CHECK: %[[H:.*]] = mmx.experts_up %arg0, %[[TOKENS]], %[[OFFSETS]], %arg3, %arg4
// CHECK: %[[D:.*]] = mmx.experts_down %[[H]], %[[CHOICES]], %[[OFFSETS]], %arg5, %arg1
// CHECK: mmx.combine %[[D]] {top_k = 2 : i64}
func.func @experts(%y: tensor<?x64xf32>, %w: tensor<?x2xf32>, %e: tensor<?x2xi32>, %w1: tensor<4x96x64xbf16>,
    %w3: tensor<4x96x64xbf16>, %w2: tensor<4x64x96xbf16>) -> tensor<?x64xf32> {
  %m = mmx.experts %y, %w, %e, %w1, %w3, %w2
     : (tensor<?x64xf32>, tensor<?x2xf32>, tensor<?x2xi32>,
        tensor<4x96x64xbf16>, tensor<4x96x64xbf16>, tensor<4x64x96xbf16>) -> tensor<?x64xf32>
  return %m : tensor<?x64xf32>
}

// A norm that feeds a gate is split; one that feeds a product is not.
// CHECK-LABEL: func.func @norms
// CHECK: mmx.rms_norm %arg0
// CHECK: %[[S:.*]] = mmx.sum_squares %arg0
// CHECK: %[[N:.*]] = mmx.normalize %arg0, %[[S]], %arg1 {eps = {{.*}} : f64, width = 64 : i64}
// CHECK: mmx.gate %[[N]]
func.func @norms(%o: tensor<?x64xf32>, %w: tensor<64xf32>, %p: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %x = mmx.rms_norm %o, %w {eps = 1.0e-5 : f64} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %g = mmx.linear %x, %p : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %n = mmx.rms_norm %o, %w {eps = 1.0e-6 : f64} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %y = mmx.gate %n, %g : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @decode
// CHECK: mmx.lightning_step %arg0, %arg0, %arg0, %arg1 slots(%arg3) decay <layer = 0, layers = 4, heads = 4>
func.func @decode(%q: tensor<?x4x16xf32>, %s0: tensor<?x4x16x16xf32>, %starts: tensor<?xi32>, %slots: tensor<?xi32>)
    -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>) attributes {mmx.phase = "decode"} {
  %o, %s1 = mmx.lightning_attention %q, %q, %q, %s0 packed(%starts, %slots) decay <layer = 0, layers = 4, heads = 4>
     : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>)
       -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
  return %o, %s1 : tensor<?x4x16xf32>, tensor<?x4x16x16xf32>
}
