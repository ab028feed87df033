// Frequencies and angles are rounded to f32, as in the code that the model was
// trained with (E13). At position 1000003 that is 2e-4 off the real cosine of
// the second frequency, at 10239999 1e-3.
// RUN: mmx-opt %s --mmx-interpret='entry=table' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --mmx-compare-lowering='pipeline=func.func(mmx-fuse,mmx-choose-tiles),convert-mmx-to-tile tolerance=1e-6' -o /dev/null

// CHECK: @table result 0: 3x8
// CHECK-NEXT: 0.54030{{[0-9]*}} 0.99984{{.*}} 0.84147{{[0-9]*}} 0.01778{{[0-9]*}} 0.000316
// CHECK-NEXT: -0.87798{{[0-9]*}} 0.13712{{[0-9]*}} -0.47825{{[0-9]*}} 0.79014{{[0-9]*}} 0.47868{{[0-9]*}} 0.99055{{[0-9]*}} 0.87822{{[0-9]*}} -0.61292
// CHECK-NEXT: -0.96555{{[0-9]*}} -0.94338{{[0-9]*}} -0.68956{{[0-9]*}} 0.51045{{[0-9]*}} 0.26019{{[0-9]*}} 0.3317{{[0-9]*}} 0.72422{{[0-9]*}} 0.8599
func.func @table() -> tensor<3x8xf32> {
  %p = arith.constant dense<[1, 1000003, 10239999]> : tensor<3xi32>
  %r = mmx.rope_table %p {theta = 1.0e7 : f64, rotary = 8 : i64} : (tensor<3xi32>) -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}
