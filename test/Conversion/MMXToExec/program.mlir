// RUN: mmx-opt %s --convert-mmx-to-exec | FileCheck %s

// One step of a small layer: roles become inputs, weights take the layout of
// the kernel's view, equal constants are one buffer, in-place results are the
// buffers of their operands and outputs are written where the caller wants
// them.

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#sequences = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s1)>
#rows = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 64)>
#states = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3, 4, 16, 16)>
#packed = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 192)>
#logits = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 320)>

// CHECK-DAG: #[[T:.+]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
// CHECK-DAG: #[[TT:.+]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s0)>
// CHECK-DAG: #[[S:.+]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3, 4, 16, 16)>
// CHECK-DAG: #[[TOS:.+]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s1, s3, s0)>
// CHECK-DAG: #[[HALF:.+]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 2, s0)>

mmx.global @table : tensor<320x64xbf16> from [#mmx.source<"embed">]
mmx.global @qkv : tensor<192x64xbf16> from [#mmx.source<"qkv">]

tile.kernel @embed(%ids: !tile.view<?xi32, read>, %t: !tile.view<320x64xbf16, read>,
                   %h: !tile.view<?x64xf32, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s0)> {
}
tile.kernel @project(%x: !tile.view<?x64xf32, read>,
                     %w: !tile.view<192x64xbf16, read, panel = 16 along 0>,
                     %y: !tile.view<?x192xf32, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s0)> {
}
// The packed projection is seen as heads of query, key and value.
tile.kernel @lightning(%qkv: !tile.view<?x4x3x16xf32, read>, %slots: !tile.view<?xi32, read>,
                       %s: !tile.view<?x4x16x16xf32, inplace>, %rates: !tile.view<4xf32, read>,
                       %o: !tile.view<?x64xf32, write>)
    grid(%i) = affine_map<()[s0, s1, s2, s3] -> (s1)> {
}
tile.kernel @head(%x: !tile.view<?x32xf32, read>,
                  %w: !tile.view<320x64xbf16, read, panel = 16 along 0>,
                  %y: !tile.view<?x320xf32, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s0)> {
}

// CHECK-LABEL: exec.program @prefill
// CHECK-NOT: func.func
func.func @prefill(
    %ids: tensor<?xi32> {mmx.role = "ids", mmx.shape = #tokens},
    %slots: tensor<?xi32> {mmx.role = "slots", mmx.shape = #sequences},
    %s0: tensor<?x4x16x16xf32> {mmx.role = "state.0", mmx.shape = #states},
    %s1: tensor<?x4x16x16xf32> {mmx.role = "state.1", mmx.shape = #states})
    -> (tensor<?x320xf32> {mmx.role = "logits"},
        tensor<?x4x16x16xf32> {mmx.role = "state.0"},
        tensor<?x4x16x16xf32> {mmx.role = "state.1"},
        tensor<?x64xf32> {mmx.role = "hidden.0"})
    attributes {mmx.phase = "prefill"} {
  // CHECK-NEXT: %ids = exec.input "ids" : #[[T]]
  // CHECK-NEXT: %slots = exec.input "slots"
  // CHECK-NEXT: %state.0 = exec.input "state.0" : #[[S]]
  // CHECK-NEXT: %state.1 = exec.input "state.1" : #[[S]]
  %t = mmx.weight @table : tensor<320x64xbf16>
  %w = mmx.weight @qkv : tensor<192x64xbf16>
  %g0 = arith.constant dense<[0.5, 0.25, 0.125, 0.0625]> : tensor<4xf32>
  %g1 = arith.constant dense<[0.5, 0.25, 0.125, 0.0625]> : tensor<4xf32>
  // CHECK-NEXT: %hidden.0 = exec.input "hidden.0"
  // CHECK-NEXT: %table = exec.weight @table :
  // CHECK-NEXT: exec.launch @embed(%ids, %table, %hidden.0) writes [2] extents #[[TT]] label "embed"
  %h = mmx.launch @embed(%ids, %t) inplace [-1] shapes [#rows] label "embed"
      : (tensor<?xi32>, tensor<320x64xbf16>) -> tensor<?x64xf32>
  // CHECK-NEXT: %[[Y0:.+]] = exec.temp
  // CHECK-NEXT: %qkv = exec.weight @qkv panel 16 along 0
  // CHECK-NEXT: exec.launch @project(%hidden.0, %qkv, %[[Y0]]) writes [2] extents #[[TT]]
  %y0 = mmx.launch @project(%h, %w) inplace [-1] shapes [#packed]
      : (tensor<?x64xf32>, tensor<192x64xbf16>) -> tensor<?x192xf32>
  // CHECK-NEXT: %[[O0:.+]] = exec.temp
  // CHECK-NEXT: %cst = exec.constant
  // CHECK-NEXT: exec.launch @lightning(%[[Y0]], %slots, %state.0, %cst, %[[O0]]) writes [2, 4] extents #[[TOS]]
  %o0, %n0 = mmx.launch @lightning(%y0, %slots, %s0, %g0) inplace [-1, 2] shapes [#rows, #states]
      : (tensor<?x192xf32>, tensor<?xi32>, tensor<?x4x16x16xf32>, tensor<4xf32>)
        -> (tensor<?x64xf32>, tensor<?x4x16x16xf32>)
  // CHECK-NEXT: %[[Y1:.+]] = exec.temp
  // CHECK-NEXT: exec.launch @project(%[[O0]], %qkv, %[[Y1]])
  %y1 = mmx.launch @project(%o0, %w) inplace [-1] shapes [#packed]
      : (tensor<?x64xf32>, tensor<192x64xbf16>) -> tensor<?x192xf32>
  // CHECK-NEXT: %[[O1:.+]] = exec.temp
  // CHECK-NEXT: exec.launch @lightning(%[[Y1]], %slots, %state.1, %cst, %[[O1]])
  %o1, %n1 = mmx.launch @lightning(%y1, %slots, %s1, %g1) inplace [-1, 2] shapes [#rows, #states]
      : (tensor<?x192xf32>, tensor<?xi32>, tensor<?x4x16x16xf32>, tensor<4xf32>)
        -> (tensor<?x64xf32>, tensor<?x4x16x16xf32>)
  // CHECK-NEXT: %logits = exec.input "logits"
  // CHECK-NEXT: %[[TABLE:.+]] = exec.weight @table panel 16 along 0
  // CHECK-NEXT: exec.launch @head(%[[O1]], %[[TABLE]], %logits) writes [2] extents #[[HALF]]
  %l = mmx.launch @head(%o1, %t) inplace [-1] shapes [#logits]
      : (tensor<?x64xf32>, tensor<320x64xbf16>) -> tensor<?x320xf32>
  return %l, %n0, %n1, %h : tensor<?x320xf32>, tensor<?x4x16x16xf32>, tensor<?x4x16x16xf32>, tensor<?x64xf32>
}

// Functions without a phase stay.
// CHECK: func.func @other
func.func @other() {
  return
}
