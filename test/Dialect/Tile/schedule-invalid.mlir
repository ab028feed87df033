// RUN: mmx-opt %s --tile-verify-schedule --split-input-file --verify-diagnostics --allow-unregistered-dialect

// Every op on tiles has a place.
tile.kernel @unplaced(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@a<warps = 1>], rings = []>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @+1 {{has no 'at', expected #tile.at}}
    %f = tile.load %x[%i, %c0] dims(0, 1) : !tile.view<64x8xf32, read> -> !tile.frag<8x8xf32>
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// The role must be declared.
tile.kernel @unknown_role(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@a<warps = 1>], rings = []>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @+1 {{is in the unknown role @z}}
    %f = tile.map() {at = #tile.at<@z, order = 0>} : () -> !tile.frag<8x8xf32> {
    ^bb0(%r: index, %c: index):
      %w = arith.constant 0.0 : f32
      tile.yield %w : f32
    }
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// Order is total.
tile.kernel @same_order(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@a<warps = 4>], rings = []>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %f = tile.map() {at = #tile.at<@a, order = 0>} : () -> !tile.frag<8x8xf32> {
    ^bb0(%r: index, %c: index):
      %w = arith.constant 0.0 : f32
      tile.yield %w : f32
    }
    // expected-error @+1 {{has the order 0 of another op of role @a}}
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 0>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// A slot belongs to a ring.
tile.kernel @no_ring(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4>], rings = [@s<depth = 2>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @+1 {{has no ring for its slot}}
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0>} : !tile.view<64x8xf32, read> -> !tile.sram<8x8xf32>
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<8x8xf32> -> !tile.frag<8x8xf32>
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// Fragments do not leave their role.
tile.kernel @crossing(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@a<warps = 4>, @b<warps = 4>], rings = []>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %f = tile.map() {at = #tile.at<@a, order = 0>} : () -> !tile.frag<8x8xf32> {
    ^bb0(%r: index, %c: index):
      %w = arith.constant 0.0 : f32
      tile.yield %w : f32
    }
    // expected-error @+1 {{uses the result of 'tile.map' at (stage 0, order 0) that crosses from role @a to role @b without a ring; put it into shared memory}}
    %d = tile.map(%f) {at = #tile.at<@b, order = 0>} : (!tile.frag<8x8xf32>) -> !tile.frag<8x8xf32> {
    ^bb0(%v: f32, %r: index, %c: index):
      %w = arith.negf %v : f32
      tile.yield %w : f32
    }
    tile.store %d, %y[%i, %c0] dims(0, 1) {at = #tile.at<@b, order = 1>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// R2.
tile.kernel @order(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@a<warps = 4>], rings = []>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %f = tile.map() {at = #tile.at<@a, order = 5>} : () -> !tile.frag<8x8xf32> {
    ^bb0(%r: index, %c: index):
      %w = arith.constant 0.0 : f32
      tile.yield %w : f32
    }
    // expected-error @+1 {{at (stage 0, order 3) uses a value before 'tile.map' at (stage 0, order 5), distance 0, defines it}}
    %d = tile.map(%f) {at = #tile.at<@a, order = 3>} : (!tile.frag<8x8xf32>) -> !tile.frag<8x8xf32> {
    ^bb0(%v: f32, %r: index, %c: index):
      %w = arith.negf %v : f32
      tile.yield %w : f32
    }
    tile.store %d, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 7>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// R2 with stages.
tile.kernel @stage(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@a<warps = 4>], rings = []>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %f = tile.map() {at = #tile.at<@a, order = 5, stage = 1>} : () -> !tile.frag<8x8xf32> {
    ^bb0(%r: index, %c: index):
      %w = arith.constant 0.0 : f32
      tile.yield %w : f32
    }
    // expected-error @+1 {{uses a value before 'tile.map' at (stage 1, order 5), distance 0}}
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 7>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// Stages belong to innermost loops.
tile.kernel @stage_outside(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@a<warps = 4>], rings = []>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
    // expected-error @+1 {{has a stage, expected that only in a loop without an inner loop}}
    %f = tile.map() {at = #tile.at<@a, order = 5, stage = 1>} : () -> !tile.frag<8x8xf32> {
    ^bb0(%r: index, %c: index):
      %w = arith.constant 0.0 : f32
      tile.yield %w : f32
    }
    tile.store %f, %y[%c0, %c0] dims(0, 1) {at = #tile.at<@a, order = 7>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
}

// -----

// B7.
tile.kernel @alternate_depth(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4, alternate = 2 over @i>], rings = [@s<depth = 3>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @+1 {{ring @s: role @a has 2 instances alternating over @i and depth 3 is not divisible by 2; change the depth or put its waits in a turn}}
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s>} : !tile.view<64x8xf32, read> -> !tile.sram<8x8xf32>
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<8x8xf32> -> !tile.frag<8x8xf32>
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// Alternating instances carry nothing.
tile.kernel @alternate_carried(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4, alternate = 2 over @i>], rings = [@s<depth = 2>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z0 = tile.map() {at = #tile.at<@a, order = 0>} : () -> !tile.frag<8x8xf32> {
  ^bb0(%r: index, %c: index):
    %w = arith.constant 0.0 : f32
    tile.yield %w : f32
  }
  %n = scf.for %i = %c0 to %c8 step %c1 iter_args(%q = %z0) -> (!tile.frag<8x8xf32>) {
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s>} : !tile.view<64x8xf32, read> -> !tile.sram<8x8xf32>
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<8x8xf32> -> !tile.frag<8x8xf32>
    // expected-error @+1 {{carries a value across the iterations of @i but role @a alternates over it; pass it through a ring}}
    %d = tile.map(%f, %q) {at = #tile.at<@a, order = 1>} : (!tile.frag<8x8xf32>, !tile.frag<8x8xf32>) -> !tile.frag<8x8xf32> {
    ^bb0(%u: f32, %v: f32, %r: index, %c: index):
      %w = arith.addf %u, %v : f32
      tile.yield %w : f32
    }
    scf.yield %d : !tile.frag<8x8xf32>
  } {at = #tile.loop<@i, order = 1>}
  tile.store %n, %y[%c0, %c0] dims(0, 1) {at = #tile.at<@a, order = 2>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
}

// -----

// B9: the slot is held for a stage, the next product needs it.
tile.kernel @cyclic(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4>], rings = [@s<depth = 1>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @+1 {{cyclic wait in loop @i}}
  scf.for %i = %c0 to %c8 step %c1 {
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s>} : !tile.view<64x8xf32, read> -> !tile.sram<8x8xf32>
    %m = tile.mma %s, %s transpose_b {at = #tile.at<@a, order = 0>} : !tile.sram<8x8xf32>, !tile.sram<8x8xf32> -> !tile.frag<8x8xf32>
    tile.store %m, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 5, stage = 1>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// The release of a slot needs a wait.
tile.kernel @inflight(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4>], rings = [@s<depth = 2>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z0 = tile.map() {at = #tile.at<@a, order = 0>} : () -> !tile.frag<8x8xf32> {
  ^bb0(%r: index, %c: index):
    %w = arith.constant 0.0 : f32
    tile.yield %w : f32
  }
  %n = scf.for %i = %c0 to %c8 step %c1 iter_args(%q = %z0) -> (!tile.frag<8x8xf32>) {
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s>} : !tile.view<64x8xf32, read> -> !tile.sram<8x8xf32>
    // expected-error @+1 {{reads a slot but is never waited for inside its loop; give it inflight = n}}
    %m = tile.mma %s, %s transpose_b acc %q {at = #tile.at<@a, order = 0>} : !tile.sram<8x8xf32>, !tile.sram<8x8xf32> -> !tile.frag<8x8xf32>
    scf.yield %m : !tile.frag<8x8xf32>
  } {at = #tile.loop<@i, order = 1>}
  tile.store %n, %y[%c0, %c0] dims(0, 1) {at = #tile.at<@a, order = 2>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
}

// -----

// B8.
tile.kernel @own_ring(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@a<warps = 4>], rings = [@s<depth = 1>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %f = tile.map() {at = #tile.at<@a, order = 0>} : () -> !tile.frag<8x8xf32> {
    ^bb0(%r: index, %c: index):
      %w = arith.constant 0.0 : f32
      tile.yield %w : f32
    }
    %p = tile.put %f {at = #tile.at<@a, order = 1, ring = @s>} : !tile.frag<8x8xf32> -> !tile.sram<8x8xf32>
    // expected-error @+1 {{reads ring @s: it comes after the write of iteration + 1 into its slot}}
    tile.store %p, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 2, stage = 1>} : !tile.sram<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// G1.
tile.kernel @overtake(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4>], rings = [@s<depth = 2>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %s = tile.load %y[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s>} : !tile.view<64x8xf32, write> -> !tile.sram<8x8xf32>
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<8x8xf32> -> !tile.frag<8x8xf32>
    // expected-error @+1 {{may overtake 'tile.load' of the same view or be overtaken by it; declare the view inplace}}
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// R1: scalars that roles cannot recompute are no scalars of the level.
tile.kernel @scalar(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@a<warps = 4>], rings = []>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @+1 {{makes a scalar that is not replicable, expected tile ops, scalar ops, scf.for and scf.if in a tile.kernel}}
    %u = "test.counter"() : () -> index
    %f = tile.map() {at = #tile.at<@a, order = 0>} : () -> !tile.frag<8x8xf32> {
    ^bb0(%r: index, %c: index):
      %w = arith.constant 0.0 : f32
      tile.yield %w : f32
    }
    tile.store %f, %y[%u, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// R3.
tile.kernel @split_reduce(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4, split = 2 along 0>], rings = [@s<depth = 2>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s>} : !tile.view<64x8xf32, read> -> !tile.sram<8x8xf32>
    %m = tile.mma %s, %s transpose_b {at = #tile.at<@a, order = 0>} : !tile.sram<8x8xf32>, !tile.sram<8x8xf32> -> !tile.frag<8x8xf32>
    // expected-error @+1 {{reduces over the split dimension 0 of role @a}}
    %e = tile.reduce add %m dim 0 {at = #tile.at<@a, order = 1>} : !tile.frag<8x8xf32> -> !tile.frag<8xf32, along 1>
    tile.store %e, %y[%i, %c0] dims(1) {at = #tile.at<@a, order = 2>} : !tile.frag<8xf32, along 1>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// What is multicast is the same for all cells.
tile.kernel @multicast_index(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {cluster = array<i64: 0, 2>, schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4>], rings = [@s<depth = 2>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %at = arith.addi %i, %g : index
    // expected-error @+1 {{is multicast, but depends on the cluster dimension of the grid}}
    %s = tile.load %x[%at, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s, multicast = 0>} : !tile.view<64x8xf32, read> -> !tile.sram<8x8xf32>
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<8x8xf32> -> !tile.frag<8x8xf32>
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// So are the bounds of the loops around.
tile.kernel @multicast_bound(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {cluster = array<i64: 0, 2>, schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4>], rings = [@s<depth = 2>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.addi %g, %c1 : index
  // expected-error @+1 {{is multicast, but depends on the cluster dimension of the grid}}
  scf.for %i = %c0 to %n step %c1 {
    %s = tile.load %x[%c0, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s, multicast = 0>} : !tile.view<64x8xf32, read> -> !tile.sram<8x8xf32>
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<8x8xf32> -> !tile.frag<8x8xf32>
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// Cells of a cluster load equal parts.
tile.kernel @multicast_rows(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (3)>
    attributes {cluster = array<i64: 0, 3>, schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4>], rings = [@s<depth = 2>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @+1 {{is multicast, expected its 8 rows to be divisible by the cluster size 3}}
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s, multicast = 0>} : !tile.view<64x8xf32, read> -> !tile.sram<8x8xf32>
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<8x8xf32> -> !tile.frag<8x8xf32>
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// Multicast needs a cluster.
tile.kernel @multicast_cluster(%x: !tile.view<64x8xf32, read>, %y: !tile.view<64x8xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4>], rings = [@s<depth = 2>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @+1 {{is multicast along grid dimension 0, expected a cluster along it}}
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s, multicast = 0>} : !tile.view<64x8xf32, read> -> !tile.sram<8x8xf32>
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<8x8xf32> -> !tile.frag<8x8xf32>
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<8x8xf32>, !tile.view<64x8xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// A fragment of 128 x 256 floats does not fit into 240 registers.
tile.kernel @registers(%x: !tile.view<256x256xf32, read>, %y: !tile.view<256x256xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1, regs = 24>, @a<warps = 4, regs = 240>], rings = [@s<depth = 1>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s>} : !tile.view<256x256xf32, read> -> !tile.sram<128x256xf32>
    // expected-error @+1 {{role @a needs 282 registers (26 for addresses, tile.read 256), has 240}}
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<128x256xf32> -> !tile.frag<128x256xf32>
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<128x256xf32>, !tile.view<256x256xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// The state stays in registers while the inner loop runs.
tile.kernel @registers_around(%x: !tile.view<256x256xf32, read>, %y: !tile.view<256x256xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1, regs = 24>, @a<warps = 4, regs = 240>], rings = [@s<depth = 1>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = tile.map() {at = #tile.at<@a, order = 0>} : () -> !tile.frag<128x128xf32> {
  ^bb0(%r: index, %c: index):
    %w = arith.constant 0.0 : f32
    tile.yield %w : f32
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s>} : !tile.view<256x256xf32, read> -> !tile.sram<128x128xf32>
    // expected-error @+1 {{role @a needs 282 registers (26 for addresses, around the loop 128, tile.read 128), has 240}}
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<128x128xf32> -> !tile.frag<128x128xf32>
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<128x128xf32>, !tile.view<256x256xf32, write>
  } {at = #tile.loop<@i, order = 1>}
  tile.store %z, %y[%c0, %c0] dims(0, 1) {at = #tile.at<@a, order = 2>} : !tile.frag<128x128xf32>, !tile.view<256x256xf32, write>
}

// -----

// So does what an inner loop has made, until it is used.
tile.kernel @registers_carried(%x: !tile.view<256x256xf32, read>, %y: !tile.view<256x256xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1, regs = 24>, @a<warps = 4, regs = 240>], rings = [@s<depth = 1>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = tile.map() {at = #tile.at<@a, order = 0>} : () -> !tile.frag<128x128xf32> {
  ^bb0(%r: index, %c: index):
    %w = arith.constant 0.0 : f32
    tile.yield %w : f32
  }
  %n = scf.for %i = %c0 to %c8 step %c1 iter_args(%q = %z) -> (!tile.frag<128x128xf32>) {
    %d = tile.map(%q) {at = #tile.at<@a, order = 0>} : (!tile.frag<128x128xf32>) -> !tile.frag<128x128xf32> {
    ^bb0(%v: f32, %r: index, %c: index):
      %w = arith.negf %v : f32
      tile.yield %w : f32
    }
    scf.yield %d : !tile.frag<128x128xf32>
  } {at = #tile.loop<@h, order = 1>}
  scf.for %i = %c0 to %c8 step %c1 {
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s>} : !tile.view<256x256xf32, read> -> !tile.sram<128x128xf32>
    // expected-error @+1 {{role @a needs 282 registers (26 for addresses, around the loop 128, tile.read 128), has 240}}
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<128x128xf32> -> !tile.frag<128x128xf32>
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<128x128xf32>, !tile.view<256x256xf32, write>
  } {at = #tile.loop<@i, order = 2>}
  tile.store %n, %y[%c0, %c0] dims(0, 1) {at = #tile.at<@a, order = 3>} : !tile.frag<128x128xf32>, !tile.view<256x256xf32, write>
}

// -----

// Warps put together what each has reduced of its rows: 4 KB here.
// expected-error @+1 {{needs 229 KB of 227 KB of shared memory: @s 224, reductions 4}}
tile.kernel @shared_reduce(%x: !tile.view<256x256xf32, read>, %y: !tile.view<256x256xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4>], rings = [@s<depth = 7>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s>} : !tile.view<256x256xf32, read> -> !tile.sram<32x256xf32>
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<32x256xf32> -> !tile.frag<32x256xf32>
    %e = tile.reduce add %f dim 0 {at = #tile.at<@a, order = 1>} : !tile.frag<32x256xf32> -> !tile.frag<256xf32, along 1>
    tile.store %e, %y[%i, %c0] dims(1) {at = #tile.at<@a, order = 2>} : !tile.frag<256xf32, along 1>, !tile.view<256x256xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// Shared memory.
// expected-error @+1 {{needs 257 KB of 227 KB of shared memory: @s 256}}
tile.kernel @shared_memory(%x: !tile.view<256x256xf32, read>, %y: !tile.view<256x256xf32, write>) grid(%g) = affine_map<() -> (2)>
    attributes {schedule = #tile.schedule<roles = [@ld<warps = 1>, @a<warps = 4>], rings = [@s<depth = 2>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %s = tile.load %x[%i, %c0] dims(0, 1) {at = #tile.at<@ld, order = 0, ring = @s>} : !tile.view<256x256xf32, read> -> !tile.sram<128x256xf32>
    %f = tile.read %s {at = #tile.at<@a, order = 0>} : !tile.sram<128x256xf32> -> !tile.frag<128x256xf32>
    tile.store %f, %y[%i, %c0] dims(0, 1) {at = #tile.at<@a, order = 1>} : !tile.frag<128x256xf32>, !tile.view<256x256xf32, write>
  } {at = #tile.loop<@i, order = 0>}
}

// -----

// Attributes are checked when they are made.
// expected-error @+1 {{expected 1 or 4 warps, but got 3}}
module attributes {a = #tile.role<@a, warps = 3>} {}

// -----

// expected-error @+1 {{expected regs to be a multiple of 8 from 24 to 240, but got 250}}
module attributes {a = #tile.role<@a, warps = 4, regs = 250>} {}

// -----

// expected-error @+1 {{expected a depth of at least 1, but got 0}}
module attributes {a = #tile.ring<@a, depth = 0>} {}

// -----

// expected-error @+1 {{duplicate role @a}}
module attributes {a = #tile.schedule<roles = [@a<warps = 1>, @a<warps = 4>], rings = []>} {}

// -----

// expected-error @+1 {{expected an order}}
module attributes {a = #tile.at<@a, stage = 1>} {}
