// RUN: mmx-opt %s -split-input-file -verify-diagnostics

// One case for each constraint of docs/spec.md.

// C1
// expected-error @+1 {{expected at least one source, but got none}}
mmx.global @w : tensor<4x8xf32> from []

// -----

// C1
// expected-error @+1 {{expected 4 sources, one for each leading element, but got 2}}
mmx.global @w : tensor<4x8xf32> from [#mmx.source<"a">, #mmx.source<"b">]

// -----

// C1
// expected-error @+1 {{expected index >= -1, first >= 0 and rows >= 0, but got}}
mmx.global @w : tensor<4x8xf32> from [#mmx.source<"a", index = -2>]

// -----

func.func @f() {
  // expected-error @+1 {{refers to @nowhere, which is no mmx.global of the module}}
  %0 = mmx.weight @nowhere : tensor<4x8xf32>
  return
}

// -----

mmx.global @w : tensor<4x8xf32> from [#mmx.source<"a">]
func.func @f() {
  // expected-error @+1 {{expected the type of @w, 'tensor<4x8xf32>', but got 'tensor<4x9xf32>'}}
  %0 = mmx.weight @w : tensor<4x9xf32>
  return
}

// -----

// C2
func.func @f(%i: tensor<?xi32>, %t: tensor<8x64xf32>) {
  // expected-error @+1 {{expected a result of width 64, but got 32}}
  %0 = mmx.embedding %i, %t : (tensor<?xi32>, tensor<8x64xf32>) -> tensor<?x32xf32>
  return
}

// -----

// C2
func.func @f(%i: tensor<?xi32>, %t: tensor<64xf32>) {
  // expected-error @+1 {{expected a table of rank 2, but got rank 1}}
  %0 = mmx.embedding %i, %t : (tensor<?xi32>, tensor<64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C3
func.func @f(%x: tensor<?x64xf32>, %r: tensor<?xi32>) {
  // expected-error @+1 {{expected a result of width 64, but got 32}}
  %0 = mmx.take_rows %x, %r : (tensor<?x64xf32>, tensor<?xi32>) -> tensor<?x32xf32>
  return
}

// -----

// C4
func.func @f(%x: tensor<?x64xf32>, %w: tensor<192x60xf32>) {
  // expected-error @+1 {{expected an input of width 60, but got 64}}
  %0 = mmx.linear %x, %w : (tensor<?x64xf32>, tensor<192x60xf32>) -> tensor<?x192xf32>
  return
}

// -----

// C4
func.func @f(%x: tensor<?x64xf32>, %w: tensor<192x64xf32>) {
  // expected-error @+1 {{expected a result of width 192, but got 64}}
  %0 = mmx.linear %x, %w : (tensor<?x64xf32>, tensor<192x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C5
func.func @f(%x: tensor<?x64xf32>, %w: tensor<60xf32>) {
  // expected-error @+1 {{expected a weight of length 64, but got 60}}
  %0 = mmx.rms_norm %x, %w {eps = 1.0e-5 : f64} : (tensor<?x64xf32>, tensor<60xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C5
func.func @f(%x: tensor<?x64xf32>, %w: tensor<64xf32>) {
  // expected-error @+1 {{expected eps >= 0, but got}}
  %0 = mmx.rms_norm %x, %w {eps = -1.0 : f64} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C6
func.func @f(%x: tensor<?x64xf32>, %s: tensor<?xf32>, %w: tensor<64xf32>) {
  // expected-error @+1 {{expected width to be positive, but got 0}}
  %0 = mmx.normalize %x, %s, %w {eps = 1.0e-6 : f64, width = 0 : i64} : (tensor<?x64xf32>, tensor<?xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C6
func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{expected a result of length 4, but got 5}}
  %0 = mmx.sum_squares %x : (tensor<4x64xf32>) -> tensor<5xf32>
  return
}

// -----

// C7
func.func @f(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{expected the result to have the shape of}}
  %0 = mmx.silu %x : (tensor<?x64xf32>) -> tensor<?x32xf32>
  return
}

// -----

// C7
func.func @f(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{expected the result to have the shape of}}
  %0 = mmx.convert %x : (tensor<?x64xf32>) -> tensor<?x32xf32>
  return
}

// -----

// C7
func.func @f(%x: tensor<?x64xf32>, %y: tensor<?x32xf32>) {
  // expected-error @+1 {{expected the gate to have the shape of}}
  %0 = mmx.gate %x, %y : (tensor<?x64xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C7
func.func @f(%x: tensor<?x64xf32>, %y: tensor<?x32xf32>) {
  // expected-error @+1 {{expected up to have the shape of}}
  %0 = mmx.swiglu %x, %y : (tensor<?x64xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C7
func.func @f(%x: tensor<?x64xf32>, %y: tensor<?x32xf32>) {
  // expected-error @+1 {{expected the right operand to have the shape of}}
  %0 = mmx.add %x, %y : (tensor<?x64xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C7
func.func @f(%x: tensor<?x64xf32>, %y: tensor<?x32xf32>) {
  // expected-error @+1 {{expected the branch to have the shape of}}
  %0 = mmx.residual %x, %y {alpha = 1.0 : f64, beta = 1.0 : f64} : (tensor<?x64xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C8
func.func @f(%x: tensor<?x64xf32>, %k: tensor<?x2xf32>) {
  // expected-error @+1 {{expected a coefficient of width 1, but got 2}}
  %0 = mmx.mix %x, %x, %k : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x2xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C9
func.func @f(%x: tensor<?x100xf32>) {
  // expected-error @+1 {{expected an input of width 192, but got 100}}
  %0:3 = mmx.split_heads %x : (tensor<?x100xf32>) -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>)
  return
}

// -----

// C9
func.func @f(%x: tensor<?x96xf32>) {
  // expected-error @+1 {{expected every result to have the shape of}}
  %0:2 = mmx.split_heads %x : (tensor<?x96xf32>) -> (tensor<?x4x16xf32>, tensor<?x2x16xf32>)
  return
}

// -----

// C10
func.func @f(%x: tensor<?x4x16xf32>) {
  // expected-error @+1 {{expected a result of width 64, but got 60}}
  %0 = mmx.merge_heads %x : (tensor<?x4x16xf32>) -> tensor<?x60xf32>
  return
}

// -----

// C11
func.func @f(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %s: tensor<?x4x16x16xf32>, %a: tensor<?xi32>, %b: tensor<?xi32>) {
  // expected-error @+1 {{expected the key to have the shape of}}
  %0:2 = mmx.lightning_attention %q, %k, %q, %s packed(%a, %b) decay <layer = 0, layers = 4, heads = 4> : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
  return
}

// -----

// C12
func.func @f(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>, %s: tensor<?x3x16x16xf32>, %a: tensor<?xi32>, %b: tensor<?xi32>) {
  // expected-error @+1 {{expected states of heads 4, but got 3}}
  %0:2 = mmx.lightning_attention %q, %k, %q, %s packed(%a, %b) decay <layer = 0, layers = 4, heads = 4> : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x3x16x16xf32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x3x16x16xf32>)
  return
}

// -----

// C12
func.func @f(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>, %s: tensor<?x4x16x8xf32>, %a: tensor<?xi32>, %b: tensor<?xi32>) {
  // expected-error @+1 {{expected states of value dim 16, but got 8}}
  %0:2 = mmx.lightning_attention %q, %k, %q, %s packed(%a, %b) decay <layer = 0, layers = 4, heads = 4> : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x8xf32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16x8xf32>)
  return
}

// -----

// C13
func.func @f(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>, %s: tensor<?x4x16x16xf32>, %a: tensor<?xi32>, %b: tensor<?xi32>) {
  // expected-error @+1 {{expected decay of at least 4 heads, but got 3}}
  %0:2 = mmx.lightning_attention %q, %k, %q, %s packed(%a, %b) decay <layer = 0, layers = 4, heads = 3> : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
  return
}

// -----

// C14
func.func @f(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>, %s: tensor<?x4x16x16xf32>, %a: tensor<?xi32>, %b: tensor<?xi32>) {
  // expected-error @+1 {{expected layer from 0 to below 4, but got 4}}
  %0:2 = mmx.lightning_attention %q, %k, %q, %s packed(%a, %b) decay <layer = 4, layers = 4, heads = 4> : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
  return
}

// -----

// C14
func.func @f(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>, %s: tensor<?x4x16x16xf32>, %a: tensor<?xi32>, %b: tensor<?xi32>) {
  // expected-error @+1 {{expected first head from 0 to below 4, but got 4}}
  %0:2 = mmx.lightning_attention %q, %k, %q, %s packed(%a, %b) decay <layer = 0, layers = 4, heads = 4, first = 4> : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
  return
}

// -----

// C36
func.func @f(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>, %s: tensor<?x4x16x16xf32>, %a: tensor<?xi32>, %b: tensor<?xi32>) {
  // expected-error @+1 {{expected the pool of states to come out with type}}
  %0:2 = mmx.lightning_attention %q, %k, %q, %s packed(%a, %b) decay <layer = 0, layers = 4, heads = 4> : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<3x4x16x16xf32>)
  return
}

// -----

// C15
func.func @f(%p: tensor<?xi32>) {
  // expected-error @+1 {{expected rotary to be positive and even, but got 7}}
  %0 = mmx.rope_table %p {theta = 1.0e7 : f64, rotary = 7 : i64} : (tensor<?xi32>) -> tensor<?x7xf32>
  return
}

// -----

// C15
func.func @f(%p: tensor<?xi32>) {
  // expected-error @+1 {{expected theta > 0, but got}}
  %0 = mmx.rope_table %p {theta = 0.0 : f64, rotary = 8 : i64} : (tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

// C16
func.func @f(%q: tensor<?x4x16xf32>, %r: tensor<?x18xf32>) {
  // expected-error @+1 {{expected a table of even width up to 16, but got 18}}
  %0 = mmx.rope %q, %r : (tensor<?x4x16xf32>, tensor<?x18xf32>) -> tensor<?x4x16xf32>
  return
}

// -----

// C17
func.func @f(%q: tensor<?x4x16xf32>, %k: tensor<?x3x16xf32>, %a: tensor<?xi32>, %b: tensor<?xi32>, %g: tensor<?x?xi32>) {
  // expected-error @+1 {{expected query heads to be a multiple of the 3 key-value heads, but got 4}}
  %0 = mmx.attend %q, %k, %k packed(%a, %b) paged(%g) {scale = 0.25 : f64, page = 64 : i64} : (tensor<?x4x16xf32>, tensor<?x3x16xf32>, tensor<?x3x16xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// C17
func.func @f(%q: tensor<?x4x16xf32>, %k: tensor<?x2x8xf32>, %a: tensor<?xi32>, %b: tensor<?xi32>, %g: tensor<?x?xi32>) {
  // expected-error @+1 {{expected a cache of dim 16, but got 8}}
  %0 = mmx.attend %q, %k, %k packed(%a, %b) paged(%g) {scale = 0.25 : f64, page = 64 : i64} : (tensor<?x4x16xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// C19
func.func @f(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %a: tensor<?xi32>, %b: tensor<?xi32>, %g: tensor<?x?xi32>) {
  // expected-error @+1 {{expected page to be positive, but got 0}}
  %0 = mmx.attend %q, %k, %k packed(%a, %b) paged(%g) {scale = 0.25 : f64, page = 0 : i64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// C18
func.func @f(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %kc: tensor<?x4x16xf32>, %vc: tensor<?x4x16xf32>, %a: tensor<?xi32>, %g: tensor<?x?xi32>) {
  // expected-error @+1 {{expected a cache of heads 2, but got 4}}
  %0:3 = mmx.softmax_attention %q, %k, %k, %kc, %vc packed(%a, %a) paged(%a, %g) {scale = 0.25 : f64, page = 64 : i64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>)
  return
}

// -----

// C20
func.func @f(%k: tensor<?x2x16xf32>, %c: tensor<?x2x8xf32>, %r: tensor<?xi32>) {
  // expected-error @+1 {{expected a cache of dim 16, but got 8}}
  %0 = mmx.cache_append %k, %c, %r : (tensor<?x2x16xf32>, tensor<?x2x8xf32>, tensor<?xi32>) -> tensor<?x2x8xf32>
  return
}

// -----

// C21
func.func @f(%l: tensor<?x4xf32>) {
  // expected-error @+1 {{expected top_k from 1 to 4, but got 5}}
  %0:2 = mmx.route %l {top_k = 5 : i64} : (tensor<?x4xf32>) -> (tensor<?x5xf32>, tensor<?x5xi32>)
  return
}

// -----

// C21
func.func @f(%l: tensor<?x4xf32>) {
  // expected-error @+1 {{expected experts of width 2, but got 3}}
  %0:2 = mmx.route %l {top_k = 2 : i64} : (tensor<?x4xf32>) -> (tensor<?x2xf32>, tensor<?x3xi32>)
  return
}

// -----

// C22
func.func @f(%y: tensor<?x64xf32>, %w: tensor<?x2xf32>, %e: tensor<?x2xi32>, %a: tensor<4x96x64xf32>, %b: tensor<4x95x64xf32>, %c: tensor<4x64x96xf32>) {
  // expected-error @+1 {{expected w3 to have the shape of}}
  %0 = mmx.experts %y, %w, %e, %a, %b, %c : (tensor<?x64xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<4x96x64xf32>, tensor<4x95x64xf32>, tensor<4x64x96xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C23
func.func @f(%y: tensor<?x64xf32>, %w: tensor<?x2xf32>, %e: tensor<?x2xi32>, %a: tensor<4x96x64xf32>, %b: tensor<4x96x64xf32>, %c: tensor<4x64x95xf32>) {
  // expected-error @+1 {{expected w2 of inner width 96, but got 95}}
  %0 = mmx.experts %y, %w, %e, %a, %b, %c : (tensor<?x64xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<4x96x64xf32>, tensor<4x96x64xf32>, tensor<4x64x95xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C23
func.func @f(%y: tensor<?x64xf32>, %w: tensor<?x2xf32>, %e: tensor<?x2xi32>, %a: tensor<4x96x64xf32>, %b: tensor<4x96x64xf32>, %c: tensor<3x64x96xf32>) {
  // expected-error @+1 {{expected w2 of experts 4, but got 3}}
  %0 = mmx.experts %y, %w, %e, %a, %b, %c : (tensor<?x64xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<4x96x64xf32>, tensor<4x96x64xf32>, tensor<3x64x96xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C24
func.func @f(%e: tensor<?x2xi32>) {
  // expected-error @+1 {{expected a fixed number of offsets, experts + 1, but got}}
  %0:3 = mmx.group_tokens %e : (tensor<?x2xi32>) -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

// C25
func.func @f(%y: tensor<?x64xf32>, %t: tensor<?xi32>, %o: tensor<4xi32>, %a: tensor<4x96x64xf32>) {
  // expected-error @+1 {{expected offsets of length 5, but got 4}}
  %0 = mmx.experts_up %y, %t, %o, %a, %a : (tensor<?x64xf32>, tensor<?xi32>, tensor<4xi32>, tensor<4x96x64xf32>, tensor<4x96x64xf32>) -> tensor<?x96xf32>
  return
}

// -----

// C25
func.func @f(%y: tensor<?x96xf32>, %t: tensor<?xi32>, %o: tensor<4xi32>, %a: tensor<4x64x96xf32>, %w: tensor<?x2xf32>) {
  // expected-error @+1 {{expected offsets of length 5, but got 4}}
  %0 = mmx.experts_down %y, %t, %o, %a, %w : (tensor<?x96xf32>, tensor<?xi32>, tensor<4xi32>, tensor<4x64x96xf32>, tensor<?x2xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C26
func.func @f(%y: tensor<?x64xf32>) {
  // expected-error @+1 {{expected top_k to be positive, but got 0}}
  %0 = mmx.combine %y {top_k = 0 : i64} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C30
func.func @f(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>) {
  // expected-error @+1 {{expected a key of heads 4, but got 2}}
  %0 = mmx.block_scores %q, %k : (tensor<?x4x16xf32>, tensor<?x2x16xf32>) -> tensor<4x?x?xf32>
  return
}

// -----

// C30
func.func @f(%p: tensor<3x?x?xf32>, %v: tensor<?x4x16xf32>) {
  // expected-error @+1 {{expected scores of heads 4, but got 3}}
  %0 = mmx.block_values %p, %v : (tensor<3x?x?xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
  return
}

// -----

// C13
func.func @f(%p: tensor<5x?x?xf32>) {
  // expected-error @+1 {{expected decay of at least 5 heads, but got 4}}
  %0 = mmx.decay_mask %p decay <layer = 0, layers = 4, heads = 4> : (tensor<5x?x?xf32>) -> tensor<5x?x?xf32>
  return
}

// -----

// C13
func.func @f(%p: tensor<?x5x16xf32>) {
  // expected-error @+1 {{expected decay of at least 5 heads, but got 4}}
  %0 = mmx.query_decay %p decay <layer = 0, layers = 4, heads = 4> : (tensor<?x5x16xf32>) -> tensor<?x5x16xf32>
  return
}

// -----

// C13
func.func @f(%p: tensor<?x5x16xf32>) {
  // expected-error @+1 {{expected decay of at least 5 heads, but got 4}}
  %0 = mmx.key_decay %p decay <layer = 0, layers = 4, heads = 4> : (tensor<?x5x16xf32>) -> tensor<?x5x16xf32>
  return
}

// -----

// C13
func.func @f(%s: tensor<5x16x16xf32>, %k: tensor<?x5x16xf32>) {
  // expected-error @+1 {{expected decay of at least 5 heads, but got 4}}
  %0 = mmx.block_decay %s, %k decay <layer = 0, layers = 4, heads = 4> : (tensor<5x16x16xf32>, tensor<?x5x16xf32>) -> tensor<5x16x16xf32>
  return
}

// -----

// C31
func.func @f(%q: tensor<?x4x16xf32>, %s: tensor<4x8x16xf32>) {
  // expected-error @+1 {{expected a state of key dim 16, but got 8}}
  %0 = mmx.block_readout %q, %s : (tensor<?x4x16xf32>, tensor<4x8x16xf32>) -> tensor<?x4x16xf32>
  return
}

// -----

// C31
func.func @f(%q: tensor<?x4x16xf32>) {
  // expected-error @+1 {{expected a result of value dim 16, but got 8}}
  %0 = mmx.block_outer %q, %q : (tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<4x16x8xf32>
  return
}

// -----

// C32
func.func @f(%q: tensor<?x4x16xf32>, %a: tensor<?xi32>) {
  // expected-error @+1 {{expected length to be positive, but got 0}}
  %0 = mmx.segment_table %a, %q {length = 0 : i64} : (tensor<?xi32>, tensor<?x4x16xf32>) -> tensor<?xi32>
  return
}

// -----

// C27
func.func @f(%q: tensor<?x4x16xf32>, %a: tensor<?xi32>, %s: tensor<?x4x16x16xf32>) {
  // expected-error @+1 {{expected block to be positive, but got 0}}
  %o, %t = mmx.for_blocks 0 packed(%a : tensor<?xi32>) tokens(%q) blocks() carry(%s) : (tensor<?x4x16xf32>) () (tensor<?x4x16x16xf32>) -> (tensor<?x4x16xf32>) () (tensor<?x4x16x16xf32>) {
  ^bb0(%qb: tensor<?x4x16xf32>, %sb: tensor<4x16x16xf32>):
    mmx.block_yield tokens(%qb) blocks() carry(%sb) : (tensor<?x4x16xf32>) () (tensor<4x16x16xf32>)
  }
  return
}

// -----

// C28
func.func @f(%q: tensor<?x4x16xf32>, %a: tensor<?xi32>, %s: tensor<?x4x16x16xf32>) {
  // expected-error @+1 {{expected body arguments ('tensor<?x4x16xf32>', 'tensor<4x16x16xf32>'), but got ('tensor<?x4x16xf32>')}}
  %o, %t = mmx.for_blocks 8 packed(%a : tensor<?xi32>) tokens(%q) blocks() carry(%s) : (tensor<?x4x16xf32>) () (tensor<?x4x16x16xf32>) -> (tensor<?x4x16xf32>) () (tensor<?x4x16x16xf32>) {
  ^bb0(%qb: tensor<?x4x16xf32>):
    mmx.block_yield tokens(%qb) blocks() carry() : (tensor<?x4x16xf32>) () ()
  }
  return
}

// -----

// C29
func.func @f(%q: tensor<?x4x16xf32>, %a: tensor<?xi32>, %s: tensor<?x4x16x16xf32>) {
  %o, %t = mmx.for_blocks 8 packed(%a : tensor<?xi32>) tokens(%q) blocks() carry(%s) : (tensor<?x4x16xf32>) () (tensor<?x4x16x16xf32>) -> (tensor<?x4x16xf32>) () (tensor<?x4x16x16xf32>) {
  ^bb0(%qb: tensor<?x4x16xf32>, %sb: tensor<4x16x16xf32>):
    // expected-error @+1 {{expected carried values ('tensor<4x16x16xf32>'), but got ()}}
    mmx.block_yield tokens(%qb) blocks() carry() : (tensor<?x4x16xf32>) () ()
  }
  return
}

// -----

// C33
func.func @f(%x: tensor<?x64xf32>) {
  %y = mmx.kernel(%a = %x) : (tensor<?x64xf32>) -> tensor<?x192xf32> {
    // expected-error @+1 {{expected values ('tensor<?x192xf32>'), but got ('tensor<?x64xf32>')}}
    mmx.yield %a : tensor<?x64xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<?x64xf32>) {
  // C34
  // expected-error @+1 {{expected positive tile sizes, but got 0, 1, 1}}
  %y = mmx.kernel(%a = %x) : (tensor<?x64xf32>) -> tensor<?x64xf32> attributes {tiles = #mmx.tiles<rows = 0, cols = 1, depth = 1>} {
    mmx.yield %a : tensor<?x64xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<?x64xf32>) {
  // C34
  // expected-error @+1 {{expected a number of warp groups, but got -1}}
  %y = mmx.kernel(%a = %x) : (tensor<?x64xf32>) -> tensor<?x64xf32> attributes {tiles = #mmx.tiles<rows = 1, cols = 1, depth = 1, groups = -1>} {
    mmx.yield %a : tensor<?x64xf32>
  }
  return
}

// -----

// C35
tile.kernel @k(%x: !tile.view<?x64xf32, read>) grid(%i) = affine_map<()[s0] -> (s0)> {
}
func.func @f(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{expected 1 entries of inplace, one for each result, but got 2}}
  %y = mmx.launch @k(%x) inplace [-1, 0] shapes [affine_map<()[s0] -> (s0, 64)>] : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C35
tile.kernel @k(%x: !tile.view<?x64xf32, read>) grid(%i) = affine_map<()[s0] -> (s0)> {
}
func.func @f(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{expected inplace from -1 to below 1, but got 1}}
  %y = mmx.launch @k(%x) inplace [1] shapes [affine_map<()[s0] -> (s0, 64)>] : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

func.func @f(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{refers to kernel @nowhere, which is not in the module}}
  %y = mmx.launch @nowhere(%x) inplace [-1] shapes [affine_map<()[s0] -> (s0, 64)>] : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// C36
func.func @f(%k: tensor<?x2x16xf32>, %c: tensor<?x2x16xf32>, %r: tensor<?xi32>) -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>) {
  // expected-error @+1 {{expected the cache to have one use, but it has more: that would need a copy of a state or cache}}
  %0 = mmx.cache_append %k, %c, %r : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> tensor<?x2x16xf32>
  // expected-note @+1 {{also used here}}
  return %0, %c : tensor<?x2x16xf32>, tensor<?x2x16xf32>
}

// -----

// C21
func.func @route_given(%l: tensor<?x4xf32>, %g: tensor<?x1xi32>) {
  // expected-error @+1 {{expected given experts of width 2, but got 1}}
  %0:2 = mmx.route %l given %g {top_k = 2 : i64} : (tensor<?x4xf32>, tensor<?x1xi32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
  return
}

// -----

// C37
// expected-error @+1 {{expected 'mmx.phase' to be "prefill" or "decode", but got "training"}}
func.func private @phase() attributes {mmx.phase = "training"}

// -----

// C37
// expected-error @+1 {{expected 'mmx.phase' on a function}}
module attributes {mmx.phase = "decode"} {}

// -----

// C38
// expected-error @+1 {{expected 'mmx.role' to name a role of a step, but got "key_cache"}}
func.func private @role(tensor<?xi32> {mmx.role = "key_cache"})

// -----

// C38
// expected-error @+1 {{expected 'mmx.role' to name a role of a step, but got 3 : i64}}
func.func private @role_number(tensor<?xi32> {mmx.role = 3})

// -----

// C38
// expected-error @+1 {{expected 'mmx.role' to name a role of a step, but got "hidden.x"}}
func.func private @role_of_result() -> (tensor<?xf32> {mmx.role = "hidden.x"})

// -----

// C38
// expected-error @+1 {{expected 'mmx.role' on an argument or result of a function}}
func.func private @role_of_function() attributes {mmx.role = "ids"}

// -----

// C39
// expected-error @+1 {{expected 'mmx.shape' to be a map of 6 step symbols, but got affine_map<()[s0] -> (s0)>}}
func.func private @shape_symbols(tensor<?xi32> {mmx.shape = affine_map<()[s0] -> (s0)>})

// -----

// C39
// expected-error @+1 {{expected 'mmx.shape' on a tensor of rank 2, but got 'tensor<?xi32>'}}
func.func private @shape_rank(tensor<?xi32> {mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 4)>})

// -----

// expected-error @+1 {{has the unknown attribute 'mmx.rolle' on argument 0}}
func.func private @unknown(tensor<?xi32> {mmx.rolle = "ids"})
