// RUN: mmx-opt %s --pass-pipeline='builtin.module(exec.program(exec-erase-dead-launches))' | FileCheck %s

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
func.func private @k()

// CHECK-LABEL: exec.program @p
exec.program @p {
  // CHECK: %state.0 = exec.input
  // CHECK-NEXT: %temp = exec.temp
  // CHECK-NEXT: exec.launch @k(%temp) writes [0]
  // CHECK-NEXT: exec.launch @k(%temp) writes [0]
  // CHECK-NEXT: exec.launch @k(%temp, %state.0) writes [1]
  // CHECK-NEXT: }
  %ids = exec.input "ids" : #s, !exec.buffer<i32>
  %s = exec.input "state.0" : #s, !exec.buffer<f32>
  %a = exec.temp : #s, !exec.buffer<f32>
  %b = exec.temp : #s, !exec.buffer<f32>
  %c = exec.temp : #s, !exec.buffer<f32>
  exec.launch @k(%a) writes [0] extents #s : !exec.buffer<f32>
  exec.launch @k(%a) writes [0] extents #s : !exec.buffer<f32>
  // Nobody reads %c, and %b only to compute it.
  exec.launch @k(%ids, %b) writes [1] extents #s : !exec.buffer<i32>, !exec.buffer<f32>
  exec.launch @k(%b, %c) writes [1] extents #s : !exec.buffer<f32>, !exec.buffer<f32>
  exec.launch @k(%a, %s) writes [1] extents #s : !exec.buffer<f32>, !exec.buffer<f32>
  // Updates a temporary after its last reader.
  exec.launch @k(%a) writes [0] extents #s : !exec.buffer<f32>
}
