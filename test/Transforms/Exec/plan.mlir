// RUN: mmx-opt %s --pass-pipeline='builtin.module(exec.program(exec-plan-buffers{print-plan=true at=10,1,1,1,1,1},exec-check-plan{samples=100 seed=7}))' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=PLAN < %t

#rows = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 64)>
#wide = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 128)>
#stat = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#last = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s2, 64)>
#none = affine_map<()[s0, s1, s2, s3, s4, s5] -> ()>
func.func private @k()

// The wide buffer gives its place to two narrow ones, and the statistics of
// rows (4 bytes a token, rounded up to 64 bytes) stand in a gap.
// CHECK-DAG: #[[ARENA:.+]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 768 + s2 * 256)>
// CHECK-DAG: #[[ZERO:.+]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (0)>
// CHECK-DAG: #[[A256:.+]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 256)>
// CHECK-DAG: #[[A512:.+]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 512)>
// CHECK-DAG: #[[A768:.+]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 768)>

// CHECK: exec.program @p arena #[[ARENA]]
// PLAN: plan of @p: 6 temporaries, 3 of them in reused memory
// PLAN-NEXT: arena s0 * 768 + s2 * 256
// PLAN-NEXT: sum s0 * 1284 + s2 * 256
// PLAN-NEXT: at (10, 1, 1, 1, 1, 1): arena 7936, sum 13096, most live at once 7680 bytes
// PLAN-NEXT: launches 0 to 1: s0 * 256 bytes at s0 * 512
// PLAN-NEXT: launches 1 to 2: s0 * 512 bytes at 0
exec.program @p {
  // CHECK: exec.temp at #[[A512]]
  %a = exec.temp : #rows, !exec.buffer<f32>
  // CHECK: exec.temp at #[[ZERO]]
  %b = exec.temp : #wide, !exec.buffer<f32>
  // CHECK: exec.temp at #[[A512]]
  %c = exec.temp : #rows, !exec.buffer<f32>
  // CHECK: exec.temp at #[[ZERO]] : {{.*}}, !exec.buffer<f32>
  %d = exec.temp : #rows, !exec.buffer<f32>
  // CHECK: exec.temp at #[[A256]]
  %s = exec.temp : #stat, !exec.buffer<f32>
  // CHECK: exec.temp at #[[A768]]
  %l = exec.temp : #last, !exec.buffer<f32>
  // CHECK-NOT: exec.temp
  %unused = exec.temp : #last, !exec.buffer<f32>
  exec.launch @k(%a) writes [0] extents #none : !exec.buffer<f32>
  exec.launch @k(%a, %b) writes [1] extents #none : !exec.buffer<f32>, !exec.buffer<f32>
  exec.launch @k(%b, %c) writes [1] extents #none : !exec.buffer<f32>, !exec.buffer<f32>
  exec.launch @k(%c, %d) writes [1] extents #none : !exec.buffer<f32>, !exec.buffer<f32>
  exec.launch @k(%c, %d, %s) writes [2] extents #none : !exec.buffer<f32>, !exec.buffer<f32>, !exec.buffer<f32>
  exec.launch @k(%d, %s, %l) writes [2] extents #none : !exec.buffer<f32>, !exec.buffer<f32>, !exec.buffer<f32>
}
