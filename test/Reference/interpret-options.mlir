// RUN: mmx-opt %s --mmx-interpret='entry=small max-elements=4' -o /dev/null | FileCheck %s --check-prefix=SMALL
// RUN: mmx-opt %s --mmx-interpret='entry=rounded round=true' -o /dev/null | FileCheck %s --check-prefix=ROUND
// RUN: mmx-opt %s --mmx-interpret='entry=rounded' -o /dev/null | FileCheck %s --check-prefix=EXACT
// RUN: mmx-opt %s --mmx-interpret='entry=random seed=3 sizes=tokens:2,sequences:1' -o /dev/null > %t.a
// RUN: mmx-opt %s --mmx-interpret='entry=random seed=3 sizes=tokens:2,sequences:1' -o /dev/null > %t.b
// RUN: mmx-opt %s --mmx-interpret='entry=random seed=4 sizes=tokens:2,sequences:1' -o /dev/null > %t.c
// RUN: cmp %t.a %t.b
// RUN: not cmp %t.a %t.c
// RUN: FileCheck %s --check-prefix=RANDOM --input-file=%t.a

// SMALL: @small result 0
// SMALL-NOT: @rounded
func.func @small() -> tensor<2x2xf32> {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = mmx.add %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// 1 + 2^-10 has no bf16: the nearest is 1.
// ROUND: @rounded result 0: 1x1
// ROUND-NEXT: 1{{$}}
// EXACT: @rounded result 0: 1x1
// EXACT-NEXT: 1.000977
func.func @rounded() -> tensor<1x1xbf16> {
  %x = arith.constant dense<1.0009765625> : tensor<1x1xf32>
  %y = mmx.convert %x : (tensor<1x1xf32>) -> tensor<1x1xbf16>
  return %y : tensor<1x1xbf16>
}

// RANDOM: @random result 0: 2x3
func.func @random(%x: tensor<?x3xf32> {mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 3)>}) -> tensor<?x3xf32> {
  %y = mmx.silu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
