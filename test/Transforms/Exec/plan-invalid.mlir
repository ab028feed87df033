// RUN: mmx-opt %s --pass-pipeline='builtin.module(exec.program(exec-plan-buffers))' --split-input-file --verify-diagnostics

func.func private @k()
#none = affine_map<()[s0, s1, s2, s3, s4, s5] -> ()>
exec.program @p {
  // expected-error@+1 {{expected a size that is affine in the symbols}}
  %a = exec.temp : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s1)>, !exec.buffer<f32>
  exec.launch @k(%a) writes [0] extents #none : !exec.buffer<f32>
}
