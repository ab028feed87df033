// RUN: mmx-opt %s --mmx-fuse | FileCheck %s

// The gate joins the product that it waits for, and brings the norm that only
// it reads; the statistic is a kernel of its own, and a reshape goes to the
// readers.
// CHECK-LABEL: func.func @gate
// CHECK-NOT: mmx.merge_heads
// CHECK: %[[S:.*]] = mmx.kernel(%[[A:.*]] = %arg0) : (tensor<?x4x16xf32>) -> tensor<?xf32>
// CHECK-NEXT: %[[M:.*]] = mmx.merge_heads %[[A]]
// CHECK-NEXT: mmx.sum_squares %[[M]]
// CHECK: %[[Y:.*]] = mmx.kernel(
// CHECK: mmx.merge_heads
// CHECK: mmx.normalize
// CHECK: mmx.linear
// CHECK: mmx.gate
// CHECK-NEXT: mmx.yield
// CHECK: return %[[Y]]
func.func @gate(%o: tensor<?x4x16xf32>, %x: tensor<?x64xf32>, %w: tensor<64xf32>, %p: tensor<64x64xf32>)
    -> tensor<?x64xf32> {
  %m = mmx.merge_heads %o : (tensor<?x4x16xf32>) -> tensor<?x64xf32>
  %s = mmx.sum_squares %m : (tensor<?x64xf32>) -> tensor<?xf32>
  %n = mmx.normalize %m, %s, %w {eps = 1.0e-6 : f64, width = 64 : i64}
     : (tensor<?x64xf32>, tensor<?xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %g = mmx.linear %x, %p : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %y = mmx.gate %n, %g : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// The sum needs a product of the activation: it cannot be computed with the
// first product, whose kernel would wait for itself.
// CHECK-LABEL: func.func @cycle
// CHECK: mmx.kernel
// CHECK-NEXT: mmx.linear
// CHECK-NEXT: mmx.silu
// CHECK-NEXT: mmx.yield
// CHECK: mmx.kernel
// CHECK-NEXT: mmx.linear
// CHECK-NEXT: mmx.residual
// CHECK-NEXT: mmx.yield
func.func @cycle(%x: tensor<?x64xf32>, %p: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %a = mmx.linear %x, %p : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %b = mmx.silu %a : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %c = mmx.linear %b, %p : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %d = mmx.residual %b, %c {alpha = 2.0 : f64, beta = 1.0 : f64}
     : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

// Nothing follows an op whose rows are scattered; an elementwise op without
// an anchor is a kernel too.
// CHECK-LABEL: func.func @isolated
// CHECK: mmx.kernel
// CHECK-NEXT: mmx.experts_down
// CHECK-NEXT: mmx.yield
// CHECK: mmx.kernel
// CHECK-NEXT: mmx.silu
// CHECK-NEXT: mmx.yield
func.func @isolated(%h: tensor<?x96xf32>, %c: tensor<?xi32>, %o: tensor<5xi32>, %w2: tensor<4x64x96xf32>,
    %w: tensor<?x2xf32>) -> tensor<?x64xf32> {
  %d = mmx.experts_down %h, %c, %o, %w2, %w
     : (tensor<?x96xf32>, tensor<?xi32>, tensor<5xi32>, tensor<4x64x96xf32>, tensor<?x2xf32>) -> tensor<?x64xf32>
  %y = mmx.silu %d : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
