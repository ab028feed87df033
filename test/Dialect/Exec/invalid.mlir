// RUN: mmx-opt %s --split-input-file --verify-diagnostics

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
exec.program @p {
  %x = exec.input "ids" : #s, !exec.buffer<i32>
  // expected-error@+1 {{expected one input of role 'ids', but got two}}
  %y = exec.input "ids" : #s, !exec.buffer<i32>
}

// -----

exec.program @p {
  // expected-error@+1 {{expected a buffer or launch in a program}}
  %x = arith.constant 0 : index
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
exec.program @p arena #s {
  // expected-error@+1 {{expected an offset because the program has an arena}}
  %x = exec.temp : #s, !exec.buffer<f32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
exec.program @p {
  // expected-error@+1 {{expected no offset because the program has no arena}}
  %x = exec.temp at #s : #s, !exec.buffer<f32>
}

// -----

// expected-error@+1 {{expected one expression as arena, but got 2}}
exec.program @p arena affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s1)> {
}

// -----

// expected-error@+1 {{expected a map of 0 dimensions and 6 symbols as arena, but got 1 and 0}}
exec.program @p arena affine_map<(d0) -> (d0)> {
}

// -----

exec.program @p {
  // expected-error@+1 {{expected a map of 0 dimensions and 6 symbols as shape, but got 0 and 1}}
  %x = exec.input "ids" : affine_map<()[s0] -> (s0)>, !exec.buffer<i32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
exec.program @p {
  // expected-error@+1 {{expected a role of a step, but got 'hidden'}}
  %x = exec.input "hidden" : #s, !exec.buffer<f32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
exec.program @p {
  // expected-error@+1 {{expected elements i32 of a table, but got 'f32'}}
  %x = exec.input "starts" : #s, !exec.buffer<f32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
exec.program @p {
  // expected-error@+1 {{expected elements of a float type, but got 'i32'}}
  %x = exec.input "logits" : #s, !exec.buffer<i32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
exec.program @p {
  // expected-error@+1 {{expected a row-major buffer, since 'logits' is no pool}}
  %x = exec.input "logits" panel 16 along 0 : #s, !exec.buffer<f32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
exec.program @p {
  // expected-error@+1 {{expected panels along one of 1 dimensions, but got 1}}
  %x = exec.input "state.0" panel 16 along 1 : #s, !exec.buffer<f32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
exec.program @p {
  // expected-error@+1 {{expected a positive panel, but got -1}}
  %x = exec.input "state.0" panel -1 along 0 : #s, !exec.buffer<f32>
}

// -----

mmx.global @w : tensor<64xf32> from [#mmx.source<"w">]
exec.program @p {
  // expected-error@+1 {{expected constant extents, but got affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>}}
  %x = exec.weight @w : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>, !exec.buffer<f32>
}

// -----

exec.program @p {
  // expected-error@+1 {{refers to weight @w, which is not in the module}}
  %x = exec.weight @w : affine_map<()[s0, s1, s2, s3, s4, s5] -> (64)>, !exec.buffer<f32>
}

// -----

exec.program @p {
  // expected-error@+1 {{expected elements 'i32', but got 'f32'}}
  %x = exec.constant dense<1.0> : tensor<2xf32> : !exec.buffer<i32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
exec.program @p {
  // expected-error@+1 {{expected elements of type f32, bf16, f64, i32 or i8, but got 'index'}}
  %x = exec.temp : #s, !exec.buffer<index>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
exec.program @p arena #s {
  // expected-error@+1 {{expected one expression as offset, but got 2}}
  %x = exec.temp at affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s1)> : #s, !exec.buffer<f32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
func.func private @k()
exec.program @p {
  %x = exec.temp : #s, !exec.buffer<f32>
  // expected-error@+1 {{expected a map of 0 dimensions and 6 symbols as extents, but got 1 and 0}}
  exec.launch @k(%x) writes [0] extents affine_map<(d0) -> (d0)> : !exec.buffer<f32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
func.func private @k()
exec.program @p {
  %x = exec.temp : #s, !exec.buffer<f32>
  // expected-error@+1 {{expected 'writes' to list operands in rising order, but got [0, 0] for 1 operands}}
  exec.launch @k(%x) writes [0, 0] extents #s : !exec.buffer<f32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
func.func private @k()
exec.program @p {
  %x = exec.temp : #s, !exec.buffer<f32>
  // expected-error@+1 {{expected 'writes' to list operands in rising order, but got [1] for 1 operands}}
  exec.launch @k(%x) writes [1] extents #s : !exec.buffer<f32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
func.func private @k()
exec.program @p {
  %x = exec.input "ids" : #s, !exec.buffer<i32>
  // expected-error@+1 {{writes operand 0, expected a temporary, a pool or an output, but got 'exec.input'}}
  exec.launch @k(%x) writes [0] extents #s : !exec.buffer<i32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
func.func private @k()
exec.program @p {
  %x = exec.temp : #s, !exec.buffer<f32>
  // expected-error@+1 {{expected operand 1, which is written, to be passed once}}
  exec.launch @k(%x, %x) writes [1] extents #s : !exec.buffer<f32>, !exec.buffer<f32>
}

// -----

#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
exec.program @p {
  %x = exec.temp : #s, !exec.buffer<f32>
  // expected-error@+1 {{refers to kernel @k, which is not in the module}}
  exec.launch @k(%x) writes [0] extents #s : !exec.buffer<f32>
}
