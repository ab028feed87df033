// RUN: mmx-opt %s | mmx-opt | FileCheck %s

mmx.global @final_norm : tensor<64xf32> from [#mmx.source<"model.norm.weight">]
mmx.global @lm_head : tensor<320x64xbf16> from [#mmx.source<"lm_head.weight">]
func.func private @embed()
func.func private @head()
func.func private @append()

#s0 = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>

// CHECK: #[[ROWS:.+]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 64)>
// CHECK: exec.program @prefill {
exec.program @prefill {
  // CHECK: %ids = exec.input "ids" : #{{.*}}, !exec.buffer<i32>
  %ids = exec.input "ids" : #s0, !exec.buffer<i32>
  // CHECK: %key_cache.3 = exec.input "key_cache.3" panel 16 along 0 : #{{.*}}, !exec.buffer<f32>
  %keys = exec.input "key_cache.3" panel 16 along 0
      : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s4, 2, 16)>, !exec.buffer<f32>
  // CHECK: %logits = exec.input "logits"
  %logits = exec.input "logits"
      : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s2, 320)>, !exec.buffer<f32>
  // CHECK: %final_norm = exec.weight @final_norm : #{{.*}}, !exec.buffer<f32>
  %n = exec.weight @final_norm : affine_map<()[s0, s1, s2, s3, s4, s5] -> (64)>, !exec.buffer<f32>
  // CHECK: %lm_head = exec.weight @lm_head panel 16 along 0 : #{{.*}}, !exec.buffer<bf16>
  %w = exec.weight @lm_head panel 16 along 0
      : affine_map<()[s0, s1, s2, s3, s4, s5] -> (320, 64)>, !exec.buffer<bf16>
  // CHECK: %cst = exec.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32> : !exec.buffer<f32>
  %g = exec.constant dense<[0.5, 0.25]> : tensor<2xf32> : !exec.buffer<f32>
  // CHECK: %temp = exec.temp : #[[ROWS]], !exec.buffer<f32>
  %h = exec.temp : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 64)>, !exec.buffer<f32>
  // CHECK: exec.launch @embed(%ids, %temp) writes [1] extents #{{.*}} label "embedding" : !exec.buffer<i32>, !exec.buffer<f32>
  exec.launch @embed(%ids, %h) writes [1]
      extents affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s0)> label "embedding"
      : !exec.buffer<i32>, !exec.buffer<f32>
  // CHECK: exec.launch @append(%temp, %cst, %key_cache.3) writes [2]
  exec.launch @append(%h, %g, %keys) writes [2]
      extents affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s4)>
      : !exec.buffer<f32>, !exec.buffer<f32>, !exec.buffer<f32>
  // CHECK: exec.launch @head(%temp, %final_norm, %lm_head, %logits) writes [3]
  exec.launch @head(%h, %n, %w, %logits) writes [3]
      extents affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s2)>
      : !exec.buffer<f32>, !exec.buffer<f32>, !exec.buffer<bf16>, !exec.buffer<f32>
}

// CHECK: exec.program @planned arena #{{.*}} {
exec.program @planned arena affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 512)> {
  // CHECK: exec.temp at #{{.*}} : #[[ROWS]], !exec.buffer<f32>
  %x = exec.temp at affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 256)>
      : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 64)>, !exec.buffer<f32>
  exec.launch @embed(%x) writes [0] extents #s0 : !exec.buffer<f32>
}
