// RUN: mmx-opt %s --tile-interpret='kernel=reduce print-values=true' -o /dev/null | FileCheck %s --check-prefix=REDUCE
// RUN: mmx-opt %s --tile-interpret='kernel=products print-values=true' -o /dev/null | FileCheck %s --check-prefix=MMA
// RUN: mmx-opt %s --tile-interpret='kernel=scans print-values=true' -o /dev/null | FileCheck %s --check-prefix=SCAN
// RUN: mmx-opt %s --tile-interpret='kernel=rounding print-values=true' -o /dev/null | FileCheck %s --check-prefix=ROUND
// RUN: mmx-opt %s --tile-interpret='kernel=scalars print-values=true extents=7' -o /dev/null | FileCheck %s --check-prefix=SCALAR
// RUN: mmx-opt %s --tile-interpret='kernel=panels print-values=true extents=5,5' -o /dev/null | FileCheck %s --check-prefix=PANEL

// The fold: ((x0 + x4) + x2) + (x1 + x3). With 2^24 and ones each sum that
// meets 2^24 first is lost, so the result tells the order.
// REDUCE: view 1 2x1xf32
// REDUCE-NEXT: {{^}}  3{{$}}
// REDUCE-NEXT: {{^}}  1.67772e+07{{$}}
// REDUCE: view 2 2x1xf32
// REDUCE-NEXT: {{^}}  1.67772e+07{{$}}
// REDUCE-NEXT: {{^}}  1.67772e+07{{$}}
// REDUCE: view 3 2x1xi32
// REDUCE-NEXT: {{^}}  0{{$}}
// REDUCE-NEXT: {{^}}  2{{$}}
tile.kernel @reduce(%x: !tile.view<2x5xf32, read>, %s: !tile.view<2x1xf32, write>, %m: !tile.view<2x1xf32, write>,
                    %p: !tile.view<2x1xi32, write>)
    grid() = affine_map<() -> ()> attributes {tile.inputs = [
      dense<[[16777216.0, 1.0, 1.0, 1.0, -16777216.0], [0.0, 0.0, 16777216.0, 1.0, 16777216.0]]> : tensor<2x5xf32>,
      unit, unit, unit]} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<2x5xf32, read> -> !tile.frag<2x5xf32>
  %sum = tile.reduce add %a dim 1 : !tile.frag<2x5xf32> -> !tile.frag<2xf32, along 0>
  %max, %at = tile.reduce max %a dim 1 : !tile.frag<2x5xf32> -> !tile.frag<2xf32, along 0>, !tile.frag<2xi32, along 0>
  // 16777216 + 16777216 halved, so that it prints alike.
  %half = tile.map(%sum) : (!tile.frag<2xf32, along 0>) -> !tile.frag<2xf32, along 0> {
  ^bb0(%v: f32, %r: index, %c: index):
    %big = arith.constant 1.0e7 : f32
    %is = arith.cmpf ogt, %v, %big : f32
    %h = arith.constant 0.5 : f32
    %w = arith.mulf %v, %h : f32
    %y = arith.select %is, %w, %v : f32
    tile.yield %y : f32
  }
  tile.store %half, %s[%c0, %c0] dims(0) : !tile.frag<2xf32, along 0>, !tile.view<2x1xf32, write>
  tile.store %max, %m[%c0, %c0] dims(0) : !tile.frag<2xf32, along 0>, !tile.view<2x1xf32, write>
  tile.store %at, %p[%c0, %c0] dims(0) : !tile.frag<2xi32, along 0>, !tile.view<2x1xi32, write>
}

// (1 + 2^-12)^2 - 1 - 2^-11 keeps its last term in a chain of fused
// multiply-adds; with a rounded product it is 0. 2^-24 = 5.96046e-08.
// MMA: view 1 1x3xf32
// MMA-NEXT: {{^}}  5.96046e-08 5.96046e-08 0{{$}}
tile.kernel @products(%x: !tile.view<2x2xf32, read>, %y: !tile.view<1x3xf32, write>)
    grid() = affine_map<() -> ()> attributes {tile.inputs = [
      dense<[[-1.00048828125, 1.000244140625], [1.0, 1.000244140625]]> : tensor<2x2xf32>, unit]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<2x2xf32, read> -> !tile.sram<1x2xf32>
  %b = tile.load %x[%c1, %c0] dims(0, 1) : !tile.view<2x2xf32, read> -> !tile.sram<1x2xf32>
  // First -1 - 2^-11 times 1, then the square added to it.
  %p = tile.mma %a, %b transpose_b : !tile.sram<1x2xf32>, !tile.sram<1x2xf32> -> !tile.frag<1x1xf32>
  tile.store %p, %y[%c0, %c0] dims(0, 1) : !tile.frag<1x1xf32>, !tile.view<1x3xf32, write>
  // The same in two products that carry the accumulator.
  %a0 = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<2x2xf32, read> -> !tile.sram<1x1xf32>
  %a1 = tile.load %x[%c0, %c1] dims(0, 1) : !tile.view<2x2xf32, read> -> !tile.sram<1x1xf32>
  %b0 = tile.load %x[%c1, %c0] dims(0, 1) : !tile.view<2x2xf32, read> -> !tile.sram<1x1xf32>
  %b1 = tile.load %x[%c1, %c1] dims(0, 1) : !tile.view<2x2xf32, read> -> !tile.sram<1x1xf32>
  %q0 = tile.mma %a0, %b0 : !tile.sram<1x1xf32>, !tile.sram<1x1xf32> -> !tile.frag<1x1xf32>
  %q1 = tile.mma %a1, %b1 acc %q0 : !tile.sram<1x1xf32>, !tile.sram<1x1xf32> -> !tile.frag<1x1xf32>
  tile.store %q1, %y[%c0, %c1] dims(0, 1) : !tile.frag<1x1xf32>, !tile.view<1x3xf32, write>
  // And with the square rounded first.
  %s = tile.mma %a1, %b1 : !tile.sram<1x1xf32>, !tile.sram<1x1xf32> -> !tile.frag<1x1xf32>
  %t = tile.mma %a0, %b0 acc %s : !tile.sram<1x1xf32>, !tile.sram<1x1xf32> -> !tile.frag<1x1xf32>
  tile.store %t, %y[%c0, %c2] dims(0, 1) : !tile.frag<1x1xf32>, !tile.view<1x3xf32, write>
}

// SCAN: view 1 2x3xi32
// SCAN-NEXT: {{^}}  0 3 4{{$}}
// SCAN-NEXT: {{^}}  0 5 7{{$}}
// SCAN: view 2 2x3xi32
// SCAN-NEXT: {{^}}  3 1 4{{$}}
// SCAN-NEXT: {{^}}  8 3 13{{$}}
tile.kernel @scans(%x: !tile.view<2x3xi32, read>, %y: !tile.view<2x3xi32, write>, %z: !tile.view<2x3xi32, write>)
    grid() = affine_map<() -> ()> attributes {tile.inputs = [dense<[[3, 1, 4], [5, 2, 9]]> : tensor<2x3xi32>, unit, unit]} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<2x3xi32, read> -> !tile.frag<2x3xi32>
  %b = tile.scan %a dim 1 exclusive : !tile.frag<2x3xi32>
  %c = tile.scan %a dim 0 : !tile.frag<2x3xi32>
  tile.store %b, %y[%c0, %c0] dims(0, 1) : !tile.frag<2x3xi32>, !tile.view<2x3xi32, write>
  tile.store %c, %z[%c0, %c0] dims(0, 1) : !tile.frag<2x3xi32>, !tile.view<2x3xi32, write>
}

// Ties to even, once in a map and once in a store; bf16 sums are rounded.
// ROUND: view 1 4xbf16
// ROUND-NEXT: {{^}}  256 256 260 258{{$}}
// ROUND: view 2 4xf32
// ROUND-NEXT: {{^}}  256 256 260 258{{$}}
// ROUND: view 3 4xf32
// ROUND-NEXT: {{^}}  512 512 520 516{{$}}
tile.kernel @rounding(%x: !tile.view<4xf32, read>, %y: !tile.view<4xbf16, write>, %z: !tile.view<4xf32, write>, %w: !tile.view<4xf32, write>)
    grid() = affine_map<() -> ()> attributes {tile.inputs = [dense<[256.0, 257.0, 259.0, 257.5]> : tensor<4xf32>, unit, unit, unit]} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] dims(0) : !tile.view<4xf32, read> -> !tile.frag<4xf32, along 1>
  tile.store %a, %y[%c0] dims(0) : !tile.frag<4xf32, along 1>, !tile.view<4xbf16, write>
  %b, %s = tile.map(%a) : (!tile.frag<4xf32, along 1>) -> (!tile.frag<4xbf16, along 1>, !tile.frag<4xbf16, along 1>) {
  ^bb0(%v: f32, %r: index, %c: index):
    %t = arith.truncf %v : f32 to bf16
    %one = arith.constant 1.0 : bf16
    %u = arith.addf %t, %t : bf16
    %k = arith.addf %u, %one : bf16
    tile.yield %t, %k : bf16, bf16
  }
  tile.store %b, %z[%c0] dims(0) : !tile.frag<4xbf16, along 1>, !tile.view<4xf32, write>
  tile.store %s, %w[%c0] dims(0) : !tile.frag<4xbf16, along 1>, !tile.view<4xf32, write>
}

// Uniform scalars of all kinds, and loops in kernels and in maps.
// SCALAR: view 0 2x6xf32
// SCALAR-NEXT: {{^}}  8 -4 3 -2 5 1.5{{$}}
// SCALAR-NEXT: {{^}}  21 21 21 21 21 21{{$}}
tile.kernel @scalars(%y: !tile.view<2x6xf32, write>, %n: index, %f: f32)
    grid(%i) = affine_map<()[s0] -> (1)> attributes {tile.inputs = [unit, unit, 1.5 : f32]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cm2 = arith.constant -2 : index
  %up = affine.apply affine_map<()[s0] -> (s0 ceildiv 2 * 2)>()[%n]
  %down = arith.floordivsi %n, %cm2 : index
  %least = affine.min affine_map<()[s0] -> (s0, 3, s0 * 2)>()[%n]
  %rem = arith.remsi %cm2, %n : index
  %most = affine.max affine_map<()[s0] -> (s0 - 2, -s0)>()[%n]
  %count = scf.for %j = %c0 to %n step %c1 iter_args(%sum = %c0) -> (index) {
    %next = arith.addi %sum, %j : index
    scf.yield %next : index
  }
  %a, %b = tile.map() : () -> (!tile.frag<6xf32, along 1>, !tile.frag<6xf32, along 1>) {
  ^bb0(%r: index, %c: index):
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %is0 = arith.cmpi eq, %c, %c0 : index
    %is1 = arith.cmpi eq, %c, %c1 : index
    %is2 = arith.cmpi eq, %c, %c2 : index
    %is3 = arith.cmpi eq, %c, %c3 : index
    %is4 = arith.cmpi eq, %c, %c4 : index
    %0 = arith.select %is4, %most, %c0 : index
    %1 = arith.select %is3, %rem, %0 : index
    %2 = arith.select %is2, %least, %1 : index
    %3 = arith.select %is1, %down, %2 : index
    %4 = arith.select %is0, %up, %3 : index
    %5 = arith.index_cast %4 : index to i64
    %6 = arith.sitofp %5 : i64 to f64
    %7 = arith.truncf %6 : f64 to f32
    %last = arith.cmpi sgt, %c, %c4 : index
    %8 = arith.select %last, %f, %7 : f32
    %9 = scf.for %j = %c0 to %n step %c1 iter_args(%sum = %c0) -> (index) {
      %next = arith.addi %sum, %j : index
      scf.yield %next : index
    }
    %same = arith.cmpi eq, %9, %count : index
    %10 = arith.select %same, %9, %c0 : index
    %11 = arith.index_cast %10 : index to i32
    %12 = arith.sitofp %11 : i32 to f32
    tile.yield %8, %12 : f32, f32
  }
  tile.store %a, %y[%c0, %c0] dims(1) : !tile.frag<6xf32, along 1>, !tile.view<2x6xf32, write>
  tile.store %b, %y[%c1, %c0] dims(1) : !tile.frag<6xf32, along 1>, !tile.view<2x6xf32, write>
}

// Panels change addresses, not elements.
// PANEL: view 1 5x2xf32
// PANEL-NEXT: {{^}}  0 1{{$}}
// PANEL-NEXT: {{^}}  2 3{{$}}
// PANEL-NEXT: {{^}}  4 5{{$}}
// PANEL-NEXT: {{^}}  6 7{{$}}
// PANEL-NEXT: {{^}}  8 9{{$}}
tile.kernel @panels(%x: !tile.view<?x2xf32, read, panel = 4 along 0>, %y: !tile.view<?x2xf32, write, panel = 2 along 1>)
    grid(%i) = affine_map<()[s0, s1] -> (s0 ceildiv 3)> attributes {tile.inputs = ["ramp", "poison"]} {
  %c0 = arith.constant 0 : index
  %r = affine.apply affine_map<(d0) -> (d0 * 3)>(%i)
  %a = tile.load %x[%r, %c0] dims(0, 1) : !tile.view<?x2xf32, read, panel = 4 along 0> -> !tile.sram<3x2xf32>
  tile.store %a, %y[%r, %c0] dims(0, 1) : !tile.sram<3x2xf32>, !tile.view<?x2xf32, write, panel = 2 along 1>
}
