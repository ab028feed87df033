// RUN: mmx-opt %s --canonicalize --cse | FileCheck %s

// Buffers that nobody uses go, and the same weight or constant is one buffer;
// two temporaries of one shape stay two, and launches stay in order.

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#n = affine_map<()[s0, s1, s2, s3, s4, s5] -> (64)>
mmx.global @w : tensor<64xf32> from [#mmx.source<"w">]
func.func private @k()

// CHECK-LABEL: exec.program @p
exec.program @p {
  // CHECK-NOT: exec.input
  %unused = exec.input "positions" : #s, !exec.buffer<i32>
  // CHECK: exec.weight
  // CHECK-NOT: exec.weight
  %w0 = exec.weight @w : #n, !exec.buffer<f32>
  %w1 = exec.weight @w : #n, !exec.buffer<f32>
  // CHECK: exec.constant
  // CHECK-NOT: exec.constant
  %c0 = exec.constant dense<2.0> : tensor<2xf32> : !exec.buffer<f32>
  %c1 = exec.constant dense<2.0> : tensor<2xf32> : !exec.buffer<f32>
  // CHECK: %[[A:.+]] = exec.temp
  // CHECK: %[[B:.+]] = exec.temp
  // CHECK-NOT: exec.temp
  %a = exec.temp : #s, !exec.buffer<f32>
  %b = exec.temp : #s, !exec.buffer<f32>
  %c = exec.temp : #s, !exec.buffer<f32>
  // CHECK: exec.launch @k(%w, %cst, %[[A]]) writes [2]
  // CHECK: exec.launch @k(%w, %cst, %[[B]]) writes [2]
  exec.launch @k(%w0, %c0, %a) writes [2] extents #s : !exec.buffer<f32>, !exec.buffer<f32>, !exec.buffer<f32>
  exec.launch @k(%w1, %c1, %b) writes [2] extents #s : !exec.buffer<f32>, !exec.buffer<f32>, !exec.buffer<f32>
}
