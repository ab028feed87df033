// RUN: mmx-opt %s | mmx-opt | FileCheck %s
// RUN: mmx-opt %s --mlir-print-op-generic | mmx-opt | FileCheck %s

// CHECK: mmx.global @table : tensor<320x64xbf16> from [#mmx.source<"model.embed_tokens.weight">]
mmx.global @table : tensor<320x64xbf16> from [#mmx.source<"model.embed_tokens.weight">]
// CHECK: #mmx.source<"gate_up_proj", index = 1, rows = 96>
mmx.global @w1 : tensor<2x96x64xf32> from [#mmx.source<"gate_up_proj", index = 0, first = 0, rows = 96>, #mmx.source<"gate_up_proj", index = 1, first = 0, rows = 96>]

// CHECK-LABEL: func.func @rows
func.func @rows(%ids: tensor<?xi32>, %rows: tensor<?xi32>, %w: tensor<192x64xf32>, %n: tensor<64xf32>, %c: tensor<?x1xf32>) -> tensor<?x64xbf16> {
  // CHECK: mmx.weight @table : tensor<320x64xbf16>
  %table = mmx.weight @table : tensor<320x64xbf16>
  // CHECK: mmx.embedding %{{.*}}, %{{.*}} : (tensor<?xi32>, tensor<320x64xbf16>) -> tensor<?x64xf32>
  %h = mmx.embedding %ids, %table : (tensor<?xi32>, tensor<320x64xbf16>) -> tensor<?x64xf32>
  // CHECK: mmx.take_rows
  %t = mmx.take_rows %h, %rows : (tensor<?x64xf32>, tensor<?xi32>) -> tensor<?x64xf32>
  // CHECK: mmx.rms_norm %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64}
  %x = mmx.rms_norm %h, %n {eps = 1.0e-5 : f64} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  // CHECK: mmx.sum_squares
  %s = mmx.sum_squares %x : (tensor<?x64xf32>) -> tensor<?xf32>
  // CHECK: mmx.normalize
  %y = mmx.normalize %x, %s, %n {eps = 1.0e-6 : f64, width = 64 : i64} : (tensor<?x64xf32>, tensor<?xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  // CHECK: mmx.linear
  %l = mmx.linear %y, %w : (tensor<?x64xf32>, tensor<192x64xf32>) -> tensor<?x192xf32>
  // CHECK: mmx.silu
  %a = mmx.silu %l : (tensor<?x192xf32>) -> tensor<?x192xf32>
  // CHECK: mmx.swiglu
  %b = mmx.swiglu %l, %a : (tensor<?x192xf32>, tensor<?x192xf32>) -> tensor<?x192xf32>
  // CHECK: mmx.gate
  %g = mmx.gate %y, %x : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: mmx.residual %{{.*}}, %{{.*}} {alpha = 3.500000e+00 : f64, beta = 1.000000e+00 : f64}
  %r = mmx.residual %x, %g {alpha = 3.5 : f64, beta = 1.0 : f64} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: mmx.mix
  %m = mmx.mix %r, %g, %c : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x1xf32>) -> tensor<?x64xf32>
  // CHECK: mmx.add
  %d = mmx.add %m, %g : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: mmx.convert %{{.*}} : (tensor<?x64xf32>) -> tensor<?x64xbf16>
  %e = mmx.convert %d : (tensor<?x64xf32>) -> tensor<?x64xbf16>
  return %e : tensor<?x64xbf16>
}

// CHECK-LABEL: func.func @lightning
func.func @lightning(%qkv: tensor<?x192xf32>, %starts: tensor<?xi32>, %slots: tensor<?xi32>, %s0: tensor<?x4x16x16xf32>) -> (tensor<?x64xf32>, tensor<?x4x16x16xf32>) {
  // CHECK: mmx.split_heads %{{.*}} : (tensor<?x192xf32>) -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>)
  %q, %k, %v = mmx.split_heads %qkv : (tensor<?x192xf32>) -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>)
  // CHECK: mmx.lightning_attention %{{.*}} packed(%{{.*}}, %{{.*}}) decay <layer = 1, layers = 4, heads = 4, rule = power>
  %o, %s1 = mmx.lightning_attention %q, %k, %v, %s0 packed(%starts, %slots) decay <layer = 1, layers = 4, heads = 4, rule = power>
    : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
  // CHECK: mmx.lightning_step %{{.*}} slots(%{{.*}}) decay <layer = 1, layers = 4, heads = 8, first = 4>
  %p, %s2 = mmx.lightning_step %q, %k, %o, %s1 slots(%slots) decay <layer = 1, layers = 4, heads = 8, first = 4>
    : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
  // CHECK: mmx.merge_heads
  %r = mmx.merge_heads %p : (tensor<?x4x16xf32>) -> tensor<?x64xf32>
  return %r, %s2 : tensor<?x64xf32>, tensor<?x4x16x16xf32>
}

// CHECK-LABEL: func.func @softmax
func.func @softmax(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>, %kc: tensor<?x2x16xf32>, %vc: tensor<?x2x16xf32>,
                   %kd: tensor<?x2x16xf32>, %positions: tensor<?xi32>, %starts: tensor<?xi32>, %past: tensor<?xi32>, %rows: tensor<?xi32>, %pages: tensor<?x?xi32>)
    -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) {
  // CHECK: mmx.rope_table %{{.*}} {rotary = 8 : i64, theta = 1.000000e+07 : f64}
  %r = mmx.rope_table %positions {theta = 1.0e7 : f64, rotary = 8 : i64} : (tensor<?xi32>) -> tensor<?x8xf32>
  // CHECK: mmx.rope
  %q1 = mmx.rope %q, %r : (tensor<?x4x16xf32>, tensor<?x8xf32>) -> tensor<?x4x16xf32>
  // CHECK: mmx.softmax_attention %{{.*}} packed(%{{.*}}, %{{.*}}) paged(%{{.*}}, %{{.*}}) {page = 64 : i64, scale = 2.500000e-01 : f64}
  %o, %kc1, %vc1 = mmx.softmax_attention %q1, %k, %v, %kc, %vc packed(%starts, %past) paged(%rows, %pages) {scale = 0.25 : f64, page = 64 : i64}
    : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>)
      -> (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>)
  // CHECK: mmx.cache_append
  %kd1 = mmx.cache_append %k, %kd, %rows : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> tensor<?x2x16xf32>
  // CHECK: mmx.attend %{{.*}} packed(%{{.*}}, %{{.*}}) paged(%{{.*}})
  %o1 = mmx.attend %q1, %kd1, %kd1 packed(%starts, %past) paged(%pages) {scale = 0.25 : f64, page = 64 : i64}
    : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>) -> tensor<?x4x16xf32>
  return %o, %o1, %kc1, %vc1, %kd1 : tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
}

// CHECK-LABEL: func.func @experts
func.func @experts(%y: tensor<?x64xf32>, %logits: tensor<?x4xf32>, %w1: tensor<4x96x64xbf16>, %w3: tensor<4x96x64xbf16>, %w2: tensor<4x64x96xbf16>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  // CHECK: mmx.route %{{.*}} {top_k = 2 : i64}
  %w, %e = mmx.route %logits {top_k = 2 : i64} : (tensor<?x4xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
  // CHECK: mmx.route %{{.*}} given %{{.*}} {top_k = 2 : i64}
  %wg, %eg = mmx.route %logits given %e {top_k = 2 : i64} : (tensor<?x4xf32>, tensor<?x2xi32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
  // CHECK: mmx.experts
  %m = mmx.experts %y, %w, %e, %w1, %w3, %w2 : (tensor<?x64xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<4x96x64xbf16>, tensor<4x96x64xbf16>, tensor<4x64x96xbf16>) -> tensor<?x64xf32>
  // CHECK: mmx.group_tokens
  %tokens, %choices, %offsets = mmx.group_tokens %e : (tensor<?x2xi32>) -> (tensor<?xi32>, tensor<?xi32>, tensor<5xi32>)
  // CHECK: mmx.experts_up
  %h = mmx.experts_up %y, %tokens, %offsets, %w1, %w3 : (tensor<?x64xf32>, tensor<?xi32>, tensor<5xi32>, tensor<4x96x64xbf16>, tensor<4x96x64xbf16>) -> tensor<?x96xf32>
  // CHECK: mmx.experts_down
  %d = mmx.experts_down %h, %choices, %offsets, %w2, %w : (tensor<?x96xf32>, tensor<?xi32>, tensor<5xi32>, tensor<4x64x96xbf16>, tensor<?x2xf32>) -> tensor<?x64xf32>
  // CHECK: mmx.combine
  %c = mmx.combine %d {top_k = 2 : i64} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %m, %c : tensor<?x64xf32>, tensor<?x64xf32>
}

// CHECK-LABEL: func.func @blocks
func.func @blocks(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>, %v: tensor<?x4x16xf32>, %starts: tensor<?xi32>, %slots: tensor<?xi32>, %s0: tensor<?x4x16x16xf32>)
    -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?x4x16x16xf32>) {
  // CHECK: mmx.for_blocks 64 packed(%{{.*}} : tensor<?xi32>) slots(%{{.*}} : tensor<?xi32>) tokens(%{{.*}}) blocks() carry(%{{.*}}) : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>) () (tensor<?x4x16x16xf32>) -> (tensor<?x4x16xf32>) (tensor<?x4x16x16xf32>) (tensor<?x4x16x16xf32>)
  %o, %states, %s1 = mmx.for_blocks 64 packed(%starts : tensor<?xi32>) slots(%slots : tensor<?xi32>) tokens(%q, %k, %v) blocks() carry(%s0)
    : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>) () (tensor<?x4x16x16xf32>) -> (tensor<?x4x16xf32>) (tensor<?x4x16x16xf32>) (tensor<?x4x16x16xf32>) {
  ^bb0(%qb: tensor<?x4x16xf32>, %kb: tensor<?x4x16xf32>, %vb: tensor<?x4x16xf32>, %s: tensor<4x16x16xf32>):
    // CHECK: mmx.block_scores
    %p = mmx.block_scores %qb, %kb : (tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<4x?x?xf32>
    // CHECK: mmx.decay_mask
    %d = mmx.decay_mask %p decay <layer = 0, layers = 4, heads = 4> : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    // CHECK: mmx.block_values
    %i = mmx.block_values %d, %vb : (tensor<4x?x?xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
    // CHECK: mmx.block_readout
    %r = mmx.block_readout %qb, %s : (tensor<?x4x16xf32>, tensor<4x16x16xf32>) -> tensor<?x4x16xf32>
    // CHECK: mmx.query_decay
    %e = mmx.query_decay %r decay <layer = 0, layers = 4, heads = 4> : (tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
    %ob = mmx.add %i, %e : (tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
    // CHECK: mmx.key_decay
    %w = mmx.key_decay %vb decay <layer = 0, layers = 4, heads = 4> : (tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
    // CHECK: mmx.block_outer
    %u = mmx.block_outer %kb, %w : (tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<4x16x16xf32>
    // CHECK: mmx.block_decay
    %t = mmx.block_decay %s, %kb decay <layer = 0, layers = 4, heads = 4> : (tensor<4x16x16xf32>, tensor<?x4x16xf32>) -> tensor<4x16x16xf32>
    // CHECK: mmx.block_yield tokens(%{{.*}}) blocks(%{{.*}}) carry(%{{.*}}) : (tensor<?x4x16xf32>) (tensor<4x16x16xf32>) (tensor<4x16x16xf32>)
    mmx.block_yield tokens(%ob) blocks(%u) carry(%t) : (tensor<?x4x16xf32>) (tensor<4x16x16xf32>) (tensor<4x16x16xf32>)
  }
  return %o, %states, %s1 : tensor<?x4x16xf32>, tensor<?x4x16x16xf32>, tensor<?x4x16x16xf32>
}

// CHECK-LABEL: func.func @segments
func.func @segments(%q: tensor<?x4x16xf32>, %starts: tensor<?xi32>, %slots: tensor<?xi32>, %s0: tensor<?x4x16x16xf32>) -> (tensor<?x4x16x16xf32>, tensor<?x4x16x16xf32>) {
  // CHECK: mmx.segment_table %{{.*}}, %{{.*}} {length = 1024 : i64}
  %g = mmx.segment_table %starts, %q {length = 1024 : i64} : (tensor<?xi32>, tensor<?x4x16xf32>) -> tensor<?xi32>
  // CHECK: mmx.zero_states
  %z = mmx.zero_states %g : (tensor<?xi32>) -> tensor<?x4x16x16xf32>
  // CHECK: mmx.scan_states
  %in, %s1 = mmx.scan_states %z, %s0 packed(%starts, %slots) {length = 1024 : i64} decay <layer = 0, layers = 4, heads = 4>
    : (tensor<?x4x16x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16x16xf32>, tensor<?x4x16x16xf32>)
  return %in, %s1 : tensor<?x4x16x16xf32>, tensor<?x4x16x16xf32>
}

tile.kernel @silu(%x: !tile.view<?x192xf32, read>, %y: !tile.view<?x192xf32, write>) grid(%i) = affine_map<()[s0, s1] -> (s0)> {
}

// CHECK-LABEL: func.func @kernel
func.func @kernel(%x: tensor<?x64xf32>, %w: tensor<192x64xf32>) -> tensor<?x192xf32> {
  // CHECK: mmx.kernel(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (tensor<?x64xf32>, tensor<192x64xf32>) -> tensor<?x192xf32> attributes {tiles = #mmx.tiles<rows = 64, cols = 32, depth = 16>}
  %y = mmx.kernel(%a = %x, %b = %w) : (tensor<?x64xf32>, tensor<192x64xf32>) -> tensor<?x192xf32> attributes {tiles = #mmx.tiles<rows = 64, cols = 32, depth = 16>} {
    %0 = mmx.linear %a, %b : (tensor<?x64xf32>, tensor<192x64xf32>) -> tensor<?x192xf32>
    // CHECK: mmx.yield %{{.*}} : tensor<?x192xf32>
    mmx.yield %0 : tensor<?x192xf32>
  }
  // CHECK: mmx.kernel{{.*}} attributes {tiles = #mmx.tiles<rows = 64, cols = 32, depth = 16, groups = 4>}
  mmx.kernel(%a = %x, %b = %w) : (tensor<?x64xf32>, tensor<192x64xf32>) -> tensor<?x192xf32> attributes {tiles = #mmx.tiles<rows = 64, cols = 32, depth = 16, groups = 4>} {
    %0 = mmx.linear %a, %b : (tensor<?x64xf32>, tensor<192x64xf32>) -> tensor<?x192xf32>
    mmx.yield %0 : tensor<?x192xf32>
  }
  // CHECK: mmx.launch @silu(%{{.*}}) inplace [-1] shapes [#{{.*}}] label "silu"
  %z = mmx.launch @silu(%y) inplace [-1] shapes [affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 192)>] label "silu" : (tensor<?x192xf32>) -> tensor<?x192xf32>
  return %z : tensor<?x192xf32>
}
