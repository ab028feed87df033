// RUN: mmx-opt %s --pass-pipeline='builtin.module(exec-run-plan{at=2,1,1,1,1,1})' --split-input-file --verify-diagnostics

// Two temporaries that are live at once in one place: %b overwrites %a.
#rows = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 8)>
#zero = affine_map<()[s0, s1, s2, s3, s4, s5] -> (0)>
#n = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#nn = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s0)>
mmx.global @w : tensor<2x8xf32> from [#mmx.source<"w">]
mmx.global @v : tensor<2x8xf32> from [#mmx.source<"v">]
tile.kernel @copy(%x: !tile.view<?x8xf32, read>, %y: !tile.view<?x8xf32, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s0)> {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] dims(0, 1) : !tile.view<?x8xf32, read> -> !tile.frag<1x8xf32>
  tile.store %t, %y[%i, %c0] dims(0, 1) : !tile.frag<1x8xf32>, !tile.view<?x8xf32, write>
}
exec.program @p arena affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 64)> {
  // expected-error@+1 {{expected the same 'logits' with and without the plan, but element 0 differs}}
  %logits = exec.input "logits" : #rows, !exec.buffer<f32>
  %hidden = exec.input "hidden.0" : #rows, !exec.buffer<f32>
  %w = exec.weight @w : affine_map<()[s0, s1, s2, s3, s4, s5] -> (2, 8)>, !exec.buffer<f32>
  %v = exec.weight @v : affine_map<()[s0, s1, s2, s3, s4, s5] -> (2, 8)>, !exec.buffer<f32>
  %a = exec.temp at #zero : #rows, !exec.buffer<f32>
  %b = exec.temp at #zero : #rows, !exec.buffer<f32>
  exec.launch @copy(%w, %a) writes [1] extents #nn : !exec.buffer<f32>, !exec.buffer<f32>
  exec.launch @copy(%v, %b) writes [1] extents #nn : !exec.buffer<f32>, !exec.buffer<f32>
  exec.launch @copy(%a, %logits) writes [1] extents #nn : !exec.buffer<f32>, !exec.buffer<f32>
  exec.launch @copy(%b, %hidden) writes [1] extents #nn : !exec.buffer<f32>, !exec.buffer<f32>
}

// -----

// %a is read, and nobody writes it.
#rows = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 8)>
#nn = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s0)>
tile.kernel @copy(%x: !tile.view<?x8xf32, read>, %y: !tile.view<?x8xf32, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s0)> {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] dims(0, 1) : !tile.view<?x8xf32, read> -> !tile.frag<1x8xf32>
  tile.store %t, %y[%i, %c0] dims(0, 1) : !tile.frag<1x8xf32>, !tile.view<?x8xf32, write>
}
exec.program @p arena affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 64)> {
  // expected-error@+1 {{expected numbers in 'logits', but some are NaN: a launch reads memory that none wrote}}
  %logits = exec.input "logits" : #rows, !exec.buffer<f32>
  %a = exec.temp at affine_map<()[s0, s1, s2, s3, s4, s5] -> (0)> : #rows, !exec.buffer<f32>
  exec.launch @copy(%a, %logits) writes [1] extents #nn : !exec.buffer<f32>, !exec.buffer<f32>
}

// -----

// expected-error@+1 {{expected a buffer plan, run exec-plan-buffers}}
exec.program @p {
}
