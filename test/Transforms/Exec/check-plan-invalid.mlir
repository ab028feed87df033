// RUN: mmx-opt %s --pass-pipeline='builtin.module(exec.program(exec-check-plan))' --split-input-file --verify-diagnostics

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
// expected-error@+1 {{expected a buffer plan, run exec-plan-buffers}}
exec.program @p {
  %a = exec.temp : #s, !exec.buffer<f32>
}

// -----

// Enough for small sizes only.
#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#n = affine_map<()[s0, s1, s2, s3, s4, s5] -> (64)>
#zero = affine_map<()[s0, s1, s2, s3, s4, s5] -> (0)>
func.func private @k()
exec.program @p arena affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 4 + 64)> {
  // expected-error@+1 {{expected bytes of its own, but shares 64 to 252 at (63, 1, 1, 8, 64, 1)}}
  %a = exec.temp at #zero : #s, !exec.buffer<f32>
  // expected-note@+1 {{with this one}}
  %b = exec.temp at #n : #s, !exec.buffer<f32>
  exec.launch @k(%a) writes [0] extents #s : !exec.buffer<f32>
  exec.launch @k(%a, %b) writes [1] extents #s : !exec.buffer<f32>, !exec.buffer<f32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#zero = affine_map<()[s0, s1, s2, s3, s4, s5] -> (0)>
func.func private @k()
exec.program @p arena affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 2)> {
  // expected-error@+1 {{expected a place within 2 bytes of arena, but got bytes 0 to 4 at (1, 1, 1, 1, 1, 1)}}
  %a = exec.temp at #zero : #s, !exec.buffer<f32>
  exec.launch @k(%a) writes [0] extents #s : !exec.buffer<f32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
func.func private @k()
exec.program @p arena affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 8)> {
  // expected-error@+1 {{expected an offset divisible by 64, but got 1 at (1, 1, 1, 1, 1, 1)}}
  %a = exec.temp at #s : #s, !exec.buffer<f32>
  exec.launch @k(%a) writes [0] extents #s : !exec.buffer<f32>
}
