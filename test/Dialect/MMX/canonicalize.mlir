// RUN: mmx-opt %s --canonicalize | FileCheck %s

// A conversion to the type that is there already is nothing.
// CHECK-LABEL: func.func @convert
// CHECK-SAME: (%[[X:.*]]: tensor<?x64xf32>)
// CHECK-NEXT: return %[[X]]
func.func @convert(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = mmx.convert %x : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// A rounding conversion stays.
// CHECK-LABEL: func.func @rounds
// CHECK: mmx.convert
func.func @rounds(%x: tensor<?x64xf32>) -> tensor<?x64xbf16> {
  %y = mmx.convert %x : (tensor<?x64xf32>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// Heads that were split and are merged again.
// CHECK-LABEL: func.func @heads
// CHECK-SAME: (%[[X:.*]]: tensor<?x64xf32>)
// CHECK-NEXT: return %[[X]]
func.func @heads(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %h = mmx.split_heads %x : (tensor<?x64xf32>) -> tensor<?x4x16xf32>
  %y = mmx.merge_heads %h : (tensor<?x4x16xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// One of three interleaved results is not the row it came from.
// CHECK-LABEL: func.func @interleaved
// CHECK: mmx.merge_heads
func.func @interleaved(%x: tensor<?x192xf32>) -> tensor<?x64xf32> {
  %q, %k, %v = mmx.split_heads %x : (tensor<?x192xf32>) -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>)
  %y = mmx.merge_heads %k : (tensor<?x4x16xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
