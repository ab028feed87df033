// RUN: mmx-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: tile.kernel @dim
tile.kernel @dim(%x: !tile.view<?x16xf32, read>, %y: !tile.view<?x16xf32, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s0)> {
  // CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
  // CHECK-DAG: %[[N:.*]] = tile.dim %{{.*}}, 0
  // CHECK-NOT: tile.dim
  // CHECK: tile.load %{{.*}}[%[[N]], %[[C16]]]
  %n = tile.dim %x, 0 : !tile.view<?x16xf32, read>
  %m = tile.dim %x, 1 : !tile.view<?x16xf32, read>
  %a = tile.load %x[%n, %m] dims(0, 1) : !tile.view<?x16xf32, read> -> !tile.sram<8x16xf32>
  tile.store %a, %y[%n, %m] dims(0, 1) : !tile.sram<8x16xf32>, !tile.view<?x16xf32, write>
}

// CHECK-LABEL: tile.kernel @copies
tile.kernel @copies(%x: !tile.view<8x16xf32, read>, %y: !tile.view<8x16xf32, write>)
    grid() = affine_map<() -> ()> {
  %c0 = arith.constant 0 : index
  // CHECK: %[[A:.*]] = tile.load
  // CHECK-NEXT: tile.store %[[A]], {{.*}} : !tile.sram<8x16xf32>
  // CHECK-NEXT: %[[B:.*]] = tile.load
  // CHECK-NEXT: tile.store %[[B]], {{.*}} : !tile.frag<8x16xf32>
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.put
  // CHECK-NEXT: %[[C:.*]] = tile.read
  // CHECK-NEXT: tile.store %[[C]]
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<8x16xf32, read> -> !tile.sram<8x16xf32>
  %f = tile.read %a : !tile.sram<8x16xf32> -> !tile.frag<8x16xf32>
  %s = tile.put %f : !tile.frag<8x16xf32> -> !tile.sram<8x16xf32>
  tile.store %s, %y[%c0, %c0] dims(0, 1) : !tile.sram<8x16xf32>, !tile.view<8x16xf32, write>
  %b = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<8x16xf32, read> -> !tile.frag<8x16xf32>
  %t = tile.put %b : !tile.frag<8x16xf32> -> !tile.sram<8x16xf32>
  %g = tile.read %t : !tile.sram<8x16xf32> -> !tile.frag<8x16xf32>
  tile.store %g, %y[%c0, %c0] dims(0, 1) : !tile.frag<8x16xf32>, !tile.view<8x16xf32, write>
  // A copy to a fragment along another dimension is no copy.
  %v = tile.load %x[%c0, %c0] dims(1) : !tile.view<8x16xf32, read> -> !tile.frag<16xf32, along 1>
  %w = tile.put %v : !tile.frag<16xf32, along 1> -> !tile.sram<16xf32>
  %r = tile.read %w : !tile.sram<16xf32> -> !tile.frag<16xf32, along 0>
  tile.store %r, %y[%c0, %c0] dims(1) : !tile.frag<16xf32, along 0>, !tile.view<8x16xf32, write>
}

// CHECK-LABEL: tile.kernel @rows
tile.kernel @rows(%x: !tile.view<?x16xf32, read>, %y: !tile.view<?x16xf32, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s0)> {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  // CHECK: tile.load %{{.*}} dims(0, 1) :
  // CHECK: tile.store %{{.*}} rows %{{.*}} dims(0, 1) :
  // CHECK: tile.store %{{.*}}] dims(0, 1) :
  %a = tile.load %x[%i, %c0] dims(0, 1) rows %c8 : !tile.view<?x16xf32, read> -> !tile.sram<8x16xf32>
  tile.store %a, %y[%i, %c0] rows %c7 dims(0, 1) : !tile.sram<8x16xf32>, !tile.view<?x16xf32, write>
  tile.store %a, %y[%i, %c0] rows %c8 dims(0, 1) : !tile.sram<8x16xf32>, !tile.view<?x16xf32, write>
}

// CHECK-LABEL: tile.kernel @mma
tile.kernel @mma(%x: !tile.view<8x8xf32, read>, %y: !tile.view<8x8xf32, write>)
    grid() = affine_map<() -> ()> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<8x8xf32, read> -> !tile.sram<8x8xf32>
  // CHECK-NOT: tile.map
  // CHECK: tile.mma %{{.*}}, %{{.*}} : !tile.sram
  %zero = tile.map() : () -> !tile.frag<8x8xf32> {
  ^bb0(%r: index, %c: index):
    %0 = arith.constant 0.0 : f32
    tile.yield %0 : f32
  }
  %p = tile.mma %a, %a acc %zero : !tile.sram<8x8xf32>, !tile.sram<8x8xf32> -> !tile.frag<8x8xf32>
  tile.store %p, %y[%c0, %c0] dims(0, 1) : !tile.frag<8x8xf32>, !tile.view<8x8xf32, write>
}

// CHECK-LABEL: tile.kernel @map
tile.kernel @map(%x: !tile.view<8x8xf32, read>, %y: !tile.view<8x8xf32, write>)
    grid() = affine_map<() -> ()> {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  %false = arith.constant false
  // CHECK: %[[A:.*]] = tile.load
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<8x8xf32, read> -> !tile.frag<8x8xf32>
  // CHECK: %[[M:.*]] = tile.map(%[[A]]) : (!tile.frag<8x8xf32>) -> !tile.frag<8x8xf32>
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: index, %{{.*}}: index):
  %m = tile.map(%a, %a) when %true : (!tile.frag<8x8xf32>, !tile.frag<8x8xf32>) -> !tile.frag<8x8xf32> {
  ^bb0(%v: f32, %w: f32, %r: index, %c: index):
    %0 = arith.negf %v : f32
    tile.yield %0 : f32
  }
  // CHECK-NOT: tile.map
  %n = tile.map(%m) when %false : (!tile.frag<8x8xf32>) -> !tile.frag<8x8xf32> {
  ^bb0(%v: f32, %r: index, %c: index):
    %0 = arith.negf %v : f32
    tile.yield %0 : f32
  }
  // CHECK: tile.store %[[M]]
  tile.store %n, %y[%c0, %c0] dims(0, 1) : !tile.frag<8x8xf32>, !tile.view<8x8xf32, write>
}
