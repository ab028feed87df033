// RUN: mmx-opt %s | mmx-opt | FileCheck %s
// RUN: mmx-opt %s --mlir-print-op-generic | mmx-opt | FileCheck %s

// CHECK-DAG: #[[$TWO:.*]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s5)>
// CHECK-DAG: #[[$NONE:.*]] = affine_map<() -> ()>

// CHECK-LABEL: tile.kernel @types
// CHECK-SAME: (%{{.*}}: !tile.view<?x?xf32, read>, %{{.*}}: !tile.view<4x?xbf16, write>,
// CHECK-SAME: %{{.*}}: !tile.view<?xi32, inplace>, %{{.*}}: !tile.view<192x64xi8, read, panel = 16 along 0>,
// CHECK-SAME: %{{.*}}: !tile.view<2x?x64xbf16, read, panel = 8 along 1>, %{{.*}}: index, %{{.*}}: f32)
// CHECK-SAME: grid(%{{.*}}, %{{.*}}) = #[[$TWO]]
// CHECK-SAME: attributes {cluster = array<i64: 1, 1>, label = "types"}
tile.kernel @types(%a: !tile.view<?x?xf32, read>, %b: !tile.view<4x?xbf16, write>,
                   %c: !tile.view<?xi32, inplace>, %d: !tile.view<192x64xi8, read, panel = 16 along 0>,
                   %e: !tile.view<2x?x64xbf16, read, panel = 8 along 1>, %n: index, %r: f32)
    grid(%i, %j) = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s5)>
    attributes {cluster = array<i64: 1, 1>, label = "types"} {
}

// CHECK-LABEL: tile.kernel @one_cell
// CHECK-SAME: () grid() = #[[$NONE]]
tile.kernel @one_cell() grid() = affine_map<() -> ()> {
}

// CHECK-LABEL: tile.kernel @memory
tile.kernel @memory(%x: !tile.view<?x4x16xf32, read>, %ids: !tile.view<?xi32, read>,
                    %y: !tile.view<?x4x16xbf16, write>, %m: !tile.view<8xi8, read>)
    grid(%i) = affine_map<()[s0, s1, s2] -> (s0)> {
  %c0 = arith.constant 0 : index
  // CHECK: tile.dim %{{.*}}, 0 : !tile.view<?x4x16xf32, read>
  %n = tile.dim %x, 0 : !tile.view<?x4x16xf32, read>
  // CHECK: tile.table %{{.*}}[%{{.*}}] : !tile.view<?xi32, read> -> index
  %t = tile.table %ids[%i] : !tile.view<?xi32, read> -> index
  // CHECK: tile.table %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : !tile.view<?x4x16xf32, read> -> f32
  %f = tile.table %x[%i, %c0, %c0] : !tile.view<?x4x16xf32, read> -> f32
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] dims(0, 2) : !tile.view<?x4x16xf32, read> -> !tile.sram<8x16xf32>
  %a = tile.load %x[%t, %i, %c0] dims(0, 2) : !tile.view<?x4x16xf32, read> -> !tile.sram<8x16xf32>
  // CHECK: tile.load %{{.*}} dims(1, 2) rows %{{.*}} {fill = -1.000000e+30 : f64} : {{.*}} -> !tile.frag<4x16xf32>
  %b = tile.load %x[%t, %i, %c0] dims(1, 2) rows %n {fill = -1.0e30 : f64} : !tile.view<?x4x16xf32, read> -> !tile.frag<4x16xf32>
  // CHECK: tile.load %{{.*}} dims(2) : {{.*}} -> !tile.frag<16xf32, along 1>
  %c = tile.load %x[%t, %i, %c0] dims(2) : !tile.view<?x4x16xf32, read> -> !tile.frag<16xf32, along 1>
  // CHECK: tile.load %{{.*}} dims(0) {fill = 7.000000e+00 : f64} : {{.*}} -> !tile.sram<8xi8>
  %d = tile.load %m[%c0] dims(0) {fill = 7.0 : f64} : !tile.view<8xi8, read> -> !tile.sram<8xi8>
  // CHECK: tile.gather %{{.*}}[%{{.*}}] ids(%{{.*}} at %{{.*}}) rows %{{.*}} dims(0, 2) : !tile.view<?x4x16xf32, read>, !tile.view<?xi32, read> -> !tile.sram<8x16xf32>
  %g = tile.gather %x[%c0, %c0, %c0] ids(%ids at %i) rows %n dims(0, 2) : !tile.view<?x4x16xf32, read>, !tile.view<?xi32, read> -> !tile.sram<8x16xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}] dims(0, 2) : !tile.sram<8x16xf32>, !tile.view<?x4x16xbf16, write>
  tile.store %a, %y[%t, %c0, %c0] dims(0, 2) : !tile.sram<8x16xf32>, !tile.view<?x4x16xbf16, write>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}] ids(%{{.*}} at %{{.*}}) rows %{{.*}} dims(0, 2) : !tile.sram<8x16xf32>, !tile.view<?x4x16xbf16, write>, !tile.view<?xi32, read>
  tile.store %g, %y[%c0, %c0, %c0] ids(%ids at %i) rows %n dims(0, 2) : !tile.sram<8x16xf32>, !tile.view<?x4x16xbf16, write>, !tile.view<?xi32, read>
}

// CHECK-LABEL: tile.kernel @tiles
tile.kernel @tiles(%x: !tile.view<?x16xf32, read>, %y: !tile.view<?x16xi32, read>)
    grid(%i) = affine_map<()[s0, s1] -> (s0)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %true = arith.constant true
  %a = tile.load %x[%i, %c0] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.sram<8x16xf32>
  %u = tile.load %y[%i, %c0] dims(0, 1) : !tile.view<?x16xi32, read> -> !tile.frag<8x16xi32>
  // CHECK: tile.read %{{.*}} : !tile.sram<8x16xf32> -> !tile.frag<8x16xf32>
  %f = tile.read %a : !tile.sram<8x16xf32> -> !tile.frag<8x16xf32>
  // CHECK: tile.put %{{.*}} : !tile.frag<8x16xf32> -> !tile.sram<8x16xf32>
  %s = tile.put %f : !tile.frag<8x16xf32> -> !tile.sram<8x16xf32>
  // CHECK: %[[P:.*]] = tile.mma %{{.*}}, %{{.*}} transpose_b : !tile.sram<8x16xf32>, !tile.sram<8x16xf32> -> !tile.frag<8x8xf32>
  %p = tile.mma %s, %a transpose_b : !tile.sram<8x16xf32>, !tile.sram<8x16xf32> -> !tile.frag<8x8xf32>
  // CHECK: tile.mma %{{.*}} transpose_a, %{{.*}} : !tile.sram<8x16xf32>, !tile.frag<8x16xf32> -> !tile.frag<16x16xf32>
  %q = tile.mma %s transpose_a, %f : !tile.sram<8x16xf32>, !tile.frag<8x16xf32> -> !tile.frag<16x16xf32>
  // CHECK: scf.for {{.*}} -> (!tile.frag<8x16xf32>)
  %l = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %f) -> (!tile.frag<8x16xf32>) {
    // CHECK: tile.mma %[[P]], %{{.*}} acc %{{.*}} : !tile.frag<8x8xf32>, !tile.sram<8x16xf32> -> !tile.frag<8x16xf32>
    %r = tile.mma %p, %a acc %acc : !tile.frag<8x8xf32>, !tile.sram<8x16xf32> -> !tile.frag<8x16xf32>
    scf.yield %r : !tile.frag<8x16xf32>
  }
  // CHECK: tile.map() : () -> !tile.frag<8xf32, along 0>
  %z = tile.map() : () -> !tile.frag<8xf32, along 0> {
  ^bb0(%r: index, %c: index):
    %0 = arith.constant 0.0 : f32
    tile.yield %0 : f32
  }
  // CHECK: tile.map(%{{.*}}, %{{.*}}) when %{{.*}} : (!tile.frag<8x16xf32>, !tile.frag<8xf32, along 0>) -> !tile.frag<8x16xf32>
  %m = tile.map(%l, %z) when %true : (!tile.frag<8x16xf32>, !tile.frag<8xf32, along 0>) -> !tile.frag<8x16xf32> {
  ^bb0(%v: f32, %w: f32, %r: index, %c: index):
    %0 = arith.addf %v, %w : f32
    // CHECK: tile.yield %{{.*}} : f32
    tile.yield %0 : f32
  }
  // CHECK: tile.map(%{{.*}}) : (!tile.frag<8x16xf32>) -> (!tile.frag<8x16xbf16>, !tile.frag<8x16xi1>)
  %h:2 = tile.map(%m) : (!tile.frag<8x16xf32>) -> (!tile.frag<8x16xbf16>, !tile.frag<8x16xi1>) {
  ^bb0(%v: f32, %r: index, %c: index):
    %0 = arith.truncf %v : f32 to bf16
    %1 = arith.cmpi sge, %r, %c : index
    tile.yield %0, %1 : bf16, i1
  }
  // CHECK: tile.reduce add %{{.*}} dim 1 : !tile.frag<8x16xf32> -> !tile.frag<8xf32, along 0>
  %ra = tile.reduce add %m dim 1 : !tile.frag<8x16xf32> -> !tile.frag<8xf32, along 0>
  // CHECK: tile.reduce max %{{.*}} dim 0 : !tile.frag<8x16xf32> -> !tile.frag<16xf32, along 1>, !tile.frag<16xi32, along 1>
  %rm:2 = tile.reduce max %m dim 0 : !tile.frag<8x16xf32> -> !tile.frag<16xf32, along 1>, !tile.frag<16xi32, along 1>
  // CHECK: tile.scan %{{.*}} dim 1 exclusive : !tile.frag<8x16xi32>
  %sc = tile.scan %u dim 1 exclusive : !tile.frag<8x16xi32>
  // CHECK: tile.scan %{{.*}} dim 1 : !tile.frag<16xi32, along 1>
  %sv = tile.scan %rm#1 dim 1 : !tile.frag<16xi32, along 1>
}
