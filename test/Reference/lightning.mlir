// RUN: mmx-opt %s --mmx-interpret -o /dev/null | FileCheck %s

// The golden vectors of the lightning core: 4 heads of 4 dimensions, 5 tokens,
// layer 1 of 4, a zero state. The recurrence (E9), the block form (E15, E16)
// with two whole blocks and a tail of one token, and the composition of
// segments (E17) give the same outputs and the same state.

func.func private @inputs() -> (tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<1x4x4x4xf32>, tensor<2xi32>, tensor<1xi32>) {
  %q = arith.constant dense<[[[-0.625, 0.0, 0.625, -0.125], [-0.25, 0.375, -0.375, 0.25], [0.125, -0.625, 0.0, 0.625], [0.5, -0.25, 0.375, -0.375]],
      [[0.25, -0.5, 0.125, -0.625], [0.625, -0.125, 0.5, -0.25], [-0.375, 0.25, -0.5, 0.125], [0.0, 0.625, -0.125, 0.5]],
      [[-0.25, 0.375, -0.375, 0.25], [0.125, -0.625, 0.0, 0.625], [0.5, -0.25, 0.375, -0.375], [-0.5, 0.125, -0.625, 0.0]],
      [[0.625, -0.125, 0.5, -0.25], [-0.375, 0.25, -0.5, 0.125], [0.0, 0.625, -0.125, 0.5], [0.375, -0.375, 0.25, -0.5]],
      [[0.125, -0.625, 0.0, 0.625], [0.5, -0.25, 0.375, -0.375], [-0.5, 0.125, -0.625, 0.0], [-0.125, 0.5, -0.25, 0.375]]]> : tensor<5x4x4xf32>
  %k = arith.constant dense<[[[-0.625, -0.375, -0.125, 0.125], [0.5, -0.625, -0.375, -0.125], [0.25, 0.5, -0.625, -0.375], [0.0, 0.25, 0.5, -0.625]],
      [[-0.125, 0.125, 0.375, 0.625], [-0.375, -0.125, 0.125, 0.375], [-0.625, -0.375, -0.125, 0.125], [0.5, -0.625, -0.375, -0.125]],
      [[0.375, 0.625, -0.5, -0.25], [0.125, 0.375, 0.625, -0.5], [-0.125, 0.125, 0.375, 0.625], [-0.375, -0.125, 0.125, 0.375]],
      [[-0.5, -0.25, 0.0, 0.25], [0.625, -0.5, -0.25, 0.0], [0.375, 0.625, -0.5, -0.25], [0.125, 0.375, 0.625, -0.5]],
      [[0.0, 0.25, 0.5, -0.625], [-0.25, 0.0, 0.25, 0.5], [-0.5, -0.25, 0.0, 0.25], [0.625, -0.5, -0.25, 0.0]]]> : tensor<5x4x4xf32>
  %v = arith.constant dense<[[[-0.625, 0.375, 0.0, -0.375], [-0.375, 0.625, 0.25, -0.125], [-0.125, -0.5, 0.5, 0.125], [0.125, -0.25, -0.625, 0.375]],
      [[0.125, -0.25, -0.625, 0.375], [0.375, 0.0, -0.375, 0.625], [0.625, 0.25, -0.125, -0.5], [-0.5, 0.5, 0.125, -0.25]],
      [[-0.5, 0.5, 0.125, -0.25], [-0.25, -0.625, 0.375, 0.0], [0.0, -0.375, 0.625, 0.25], [0.25, -0.125, -0.5, 0.5]],
      [[0.25, -0.125, -0.5, 0.5], [0.5, 0.125, -0.25, -0.625], [-0.625, 0.375, 0.0, -0.375], [-0.375, 0.625, 0.25, -0.125]],
      [[-0.375, 0.625, 0.25, -0.125], [-0.125, -0.5, 0.5, 0.125], [0.125, -0.25, -0.625, 0.375], [0.375, 0.0, -0.375, 0.625]]]> : tensor<5x4x4xf32>
  %s = arith.constant dense<0.0> : tensor<1x4x4x4xf32>
  %starts = arith.constant dense<[0, 5]> : tensor<2xi32>
  %slots = arith.constant dense<0> : tensor<1xi32>
  return %q, %k, %v, %s, %starts, %slots : tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<1x4x4x4xf32>, tensor<2xi32>, tensor<1xi32>
}

// CHECK-LABEL: @recurrence result 0: 5x4x4
// CHECK: [0, 0]: -0.1855469 0.1113281 0 -0.1113281
// CHECK: [0, 1]: 0.09375 -0.15625 -0.0625 0.03125
// CHECK: [0, 2]: 0.06445312 0.2578125 -0.2578125 -0.06445312
// CHECK: [0, 3]: 0.04492188 -0.08984375 -0.2246094 0.1347656
// CHECK: [4, 0]: 0.384416{{[0-9]*}} -0.547272{{[0-9]*}} -0.399850{{[0-9]*}} 0.286134{{[0-9]*}}
// CHECK: [4, 1]: -0.0795744{{[0-9]*}} 0.0912982{{[0-9]*}} 0.0918318{{[0-9]*}} -0.404375{{[0-9]*}}
// CHECK: [4, 2]: 0.070598{{[0-9]*}} 0.004007{{[0-9]*}} -0.116641{{[0-9]*}} -0.158853{{[0-9]*}}
// CHECK: [4, 3]: 0.121784{{[0-9]*}} -0.2235995{{[0-9]*}} 0.114390{{[0-9]*}} -0.103542{{[0-9]*}}
// CHECK-LABEL: @recurrence result 1: 1x4x4x4
// CHECK: [0, 0, 0]: -0.0490843{{[0-9]*}} 0.0858769{{[0-9]*}} 0.292592{{[0-9]*}} -0.186894{{[0-9]*}}
// CHECK: [0, 0, 1]: -0.240762{{[0-9]*}} 0.315464{{[0-9]*}} 0.176903{{[0-9]*}} -0.148387{{[0-9]*}}
// CHECK: [0, 0, 2]: 0.060173{{[0-9]*}} 0.0524400{{[0-9]*}} -0.061937{{[0-9]*}} 0.136424{{[0-9]*}}
// CHECK: [0, 0, 3]: 0.384120{{[0-9]*}} -0.577347{{[0-9]*}} -0.521375{{[0-9]*}} 0.346806{{[0-9]*}}
func.func @recurrence() -> (tensor<5x4x4xf32>, tensor<1x4x4x4xf32>) {
  %q, %k, %v, %s, %starts, %slots = func.call @inputs() : () -> (tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<1x4x4x4xf32>, tensor<2xi32>, tensor<1xi32>)
  %o, %t = mmx.lightning_attention %q, %k, %v, %s packed(%starts, %slots) decay <layer = 1, layers = 4, heads = 4>
    : (tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<1x4x4x4xf32>, tensor<2xi32>, tensor<1xi32>) -> (tensor<5x4x4xf32>, tensor<1x4x4x4xf32>)
  return %o, %t : tensor<5x4x4xf32>, tensor<1x4x4x4xf32>
}

// CHECK-LABEL: @blocks result 0: 5x4x4
// CHECK: [4, 0]: 0.384416{{[0-9]*}} -0.547272{{[0-9]*}} -0.399850{{[0-9]*}} 0.286134{{[0-9]*}}
// CHECK: [4, 3]: 0.121784{{[0-9]*}} -0.2235995{{[0-9]*}} 0.114390{{[0-9]*}} -0.103542{{[0-9]*}}
// CHECK-LABEL: @blocks result 1: 1x4x4x4
// CHECK: [0, 0, 0]: -0.0490843{{[0-9]*}} 0.0858769{{[0-9]*}} 0.292592{{[0-9]*}} -0.186894{{[0-9]*}}
// CHECK: [0, 0, 3]: 0.384120{{[0-9]*}} -0.577347{{[0-9]*}} -0.521375{{[0-9]*}} 0.346806{{[0-9]*}}
func.func @blocks() -> (tensor<?x4x4xf32>, tensor<1x4x4x4xf32>) {
  %q, %k, %v, %s, %starts, %slots = func.call @inputs() : () -> (tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<1x4x4x4xf32>, tensor<2xi32>, tensor<1xi32>)
  %o, %t = mmx.for_blocks 2 packed(%starts : tensor<2xi32>) slots(%slots : tensor<1xi32>) tokens(%q, %k, %v) blocks() carry(%s)
    : (tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<5x4x4xf32>) () (tensor<1x4x4x4xf32>) -> (tensor<?x4x4xf32>) () (tensor<1x4x4x4xf32>) {
  ^bb0(%qb: tensor<?x4x4xf32>, %kb: tensor<?x4x4xf32>, %vb: tensor<?x4x4xf32>, %sb: tensor<4x4x4xf32>):
    %p = mmx.block_scores %qb, %kb : (tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<4x?x?xf32>
    %d = mmx.decay_mask %p decay <layer = 1, layers = 4, heads = 4> : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %intra = mmx.block_values %d, %vb : (tensor<4x?x?xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
    %r = mmx.block_readout %qb, %sb : (tensor<?x4x4xf32>, tensor<4x4x4xf32>) -> tensor<?x4x4xf32>
    %inter = mmx.query_decay %r decay <layer = 1, layers = 4, heads = 4> : (tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
    %ob = mmx.add %intra, %inter : (tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
    %w = mmx.key_decay %vb decay <layer = 1, layers = 4, heads = 4> : (tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
    %u = mmx.block_outer %kb, %w : (tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<4x4x4xf32>
    %old = mmx.block_decay %sb, %kb decay <layer = 1, layers = 4, heads = 4> : (tensor<4x4x4xf32>, tensor<?x4x4xf32>) -> tensor<4x4x4xf32>
    %new = mmx.add %old, %u : (tensor<4x4x4xf32>, tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
    mmx.block_yield tokens(%ob) blocks() carry(%new) : (tensor<?x4x4xf32>) () (tensor<4x4x4xf32>)
  }
  return %o, %t : tensor<?x4x4xf32>, tensor<1x4x4x4xf32>
}

// CHECK-LABEL: @segments result 0: 5x4x4
// CHECK: [4, 0]: 0.384416{{[0-9]*}} -0.547272{{[0-9]*}} -0.399850{{[0-9]*}} 0.286134{{[0-9]*}}
// CHECK: [4, 3]: 0.121784{{[0-9]*}} -0.2235995{{[0-9]*}} 0.114390{{[0-9]*}} -0.103542{{[0-9]*}}
// CHECK-LABEL: @segments result 1: 1x4x4x4
// CHECK: [0, 0, 0]: -0.0490843{{[0-9]*}} 0.0858769{{[0-9]*}} 0.292592{{[0-9]*}} -0.186894{{[0-9]*}}
// CHECK: [0, 0, 3]: 0.384120{{[0-9]*}} -0.577347{{[0-9]*}} -0.521375{{[0-9]*}} 0.346806{{[0-9]*}}
func.func @segments() -> (tensor<?x4x4xf32>, tensor<1x4x4x4xf32>) {
  %q, %k, %v, %s, %starts, %slots = func.call @inputs() : () -> (tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<1x4x4x4xf32>, tensor<2xi32>, tensor<1xi32>)
  %g = mmx.segment_table %starts, %q {length = 2 : i64} : (tensor<2xi32>, tensor<5x4x4xf32>) -> tensor<?xi32>
  %rows = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %zero = mmx.zero_states %g : (tensor<?xi32>) -> tensor<3x4x4x4xf32>
  %unused, %local = mmx.lightning_attention %q, %k, %v, %zero packed(%g, %rows) decay <layer = 1, layers = 4, heads = 4>
    : (tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<3x4x4x4xf32>, tensor<?xi32>, tensor<3xi32>) -> (tensor<5x4x4xf32>, tensor<3x4x4x4xf32>)
  %in, %t = mmx.scan_states %local, %s packed(%starts, %slots) {length = 2 : i64} decay <layer = 1, layers = 4, heads = 4>
    : (tensor<3x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<2xi32>, tensor<1xi32>) -> (tensor<3x4x4x4xf32>, tensor<1x4x4x4xf32>)
  %o, %last = mmx.lightning_attention %q, %k, %v, %in packed(%g, %rows) decay <layer = 1, layers = 4, heads = 4>
    : (tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<5x4x4xf32>, tensor<3x4x4x4xf32>, tensor<?xi32>, tensor<3xi32>) -> (tensor<?x4x4xf32>, tensor<3x4x4x4xf32>)
  return %o, %t : tensor<?x4x4xf32>, tensor<1x4x4x4xf32>
}
