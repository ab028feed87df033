// Matrix products on the CPU: f32 activations, weights in panels of 16.
//
//   mmx-opt bench/cpu-products.mlir -o /dev/null
//     --tile-run-cpu='kernel=NAME extents=ROWS,ROWS repeat=20 interpret=false'
//
// prints the smallest processor time of one run of the whole grid on one
// thread; without interpret=false the result is compared with the interpreter
// first (minutes for the large ones; do it once with few rows).

// ROWS x 1536 x 256
tile.kernel @product_1536x256_bf16(%x: !tile.view<?x256xf32, read>, %w: !tile.view<1536x256xbf16, read, panel = 16 along 0>, %y: !tile.view<?x1536xf32, write>)
    grid(%i, %j) = affine_map<()[s0, s1] -> (s0 ceildiv 64, 24)> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %m = arith.muli %i, %c64 : index
  %n = arith.muli %j, %c64 : index
  %a = tile.load %x[%m, %c0] dims(0, 1) : !tile.view<?x256xf32, read> -> !tile.sram<64x256xf32>
  %b = tile.load %w[%n, %c0] dims(0, 1) : !tile.view<1536x256xbf16, read, panel = 16 along 0> -> !tile.sram<64x256xbf16>
  %p = tile.mma %a, %b transpose_b : !tile.sram<64x256xf32>, !tile.sram<64x256xbf16> -> !tile.frag<64x64xf32>
  tile.store %p, %y[%m, %n] dims(0, 1) : !tile.frag<64x64xf32>, !tile.view<?x1536xf32, write>
}

// ROWS x 1536 x 256
tile.kernel @product_1536x256_f32(%x: !tile.view<?x256xf32, read>, %w: !tile.view<1536x256xf32, read, panel = 16 along 0>, %y: !tile.view<?x1536xf32, write>)
    grid(%i, %j) = affine_map<()[s0, s1] -> (s0 ceildiv 64, 24)> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %m = arith.muli %i, %c64 : index
  %n = arith.muli %j, %c64 : index
  %a = tile.load %x[%m, %c0] dims(0, 1) : !tile.view<?x256xf32, read> -> !tile.sram<64x256xf32>
  %b = tile.load %w[%n, %c0] dims(0, 1) : !tile.view<1536x256xf32, read, panel = 16 along 0> -> !tile.sram<64x256xf32>
  %p = tile.mma %a, %b transpose_b : !tile.sram<64x256xf32>, !tile.sram<64x256xf32> -> !tile.frag<64x64xf32>
  tile.store %p, %y[%m, %n] dims(0, 1) : !tile.frag<64x64xf32>, !tile.view<?x1536xf32, write>
}

// ROWS x 2048 x 2048
tile.kernel @product_2048x2048_bf16(%x: !tile.view<?x2048xf32, read>, %w: !tile.view<2048x2048xbf16, read, panel = 16 along 0>, %y: !tile.view<?x2048xf32, write>)
    grid(%i, %j) = affine_map<()[s0, s1] -> (s0 ceildiv 64, 32)> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %m = arith.muli %i, %c64 : index
  %n = arith.muli %j, %c64 : index
  %a = tile.load %x[%m, %c0] dims(0, 1) : !tile.view<?x2048xf32, read> -> !tile.sram<64x2048xf32>
  %b = tile.load %w[%n, %c0] dims(0, 1) : !tile.view<2048x2048xbf16, read, panel = 16 along 0> -> !tile.sram<64x2048xbf16>
  %p = tile.mma %a, %b transpose_b : !tile.sram<64x2048xf32>, !tile.sram<64x2048xbf16> -> !tile.frag<64x64xf32>
  tile.store %p, %y[%m, %n] dims(0, 1) : !tile.frag<64x64xf32>, !tile.view<?x2048xf32, write>
}

// ROWS x 2048 x 2048
tile.kernel @product_2048x2048_f32(%x: !tile.view<?x2048xf32, read>, %w: !tile.view<2048x2048xf32, read, panel = 16 along 0>, %y: !tile.view<?x2048xf32, write>)
    grid(%i, %j) = affine_map<()[s0, s1] -> (s0 ceildiv 64, 32)> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %m = arith.muli %i, %c64 : index
  %n = arith.muli %j, %c64 : index
  %a = tile.load %x[%m, %c0] dims(0, 1) : !tile.view<?x2048xf32, read> -> !tile.sram<64x2048xf32>
  %b = tile.load %w[%n, %c0] dims(0, 1) : !tile.view<2048x2048xf32, read, panel = 16 along 0> -> !tile.sram<64x2048xf32>
  %p = tile.mma %a, %b transpose_b : !tile.sram<64x2048xf32>, !tile.sram<64x2048xf32> -> !tile.frag<64x64xf32>
  tile.store %p, %y[%m, %n] dims(0, 1) : !tile.frag<64x64xf32>, !tile.view<?x2048xf32, write>
}

// ROWS x 2048 x 6144
tile.kernel @product_2048x6144_bf16(%x: !tile.view<?x6144xf32, read>, %w: !tile.view<2048x6144xbf16, read, panel = 16 along 0>, %y: !tile.view<?x2048xf32, write>)
    grid(%i, %j) = affine_map<()[s0, s1] -> (s0 ceildiv 64, 32)> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %m = arith.muli %i, %c64 : index
  %n = arith.muli %j, %c64 : index
  %a = tile.load %x[%m, %c0] dims(0, 1) : !tile.view<?x6144xf32, read> -> !tile.sram<64x6144xf32>
  %b = tile.load %w[%n, %c0] dims(0, 1) : !tile.view<2048x6144xbf16, read, panel = 16 along 0> -> !tile.sram<64x6144xbf16>
  %p = tile.mma %a, %b transpose_b : !tile.sram<64x6144xf32>, !tile.sram<64x6144xbf16> -> !tile.frag<64x64xf32>
  tile.store %p, %y[%m, %n] dims(0, 1) : !tile.frag<64x64xf32>, !tile.view<?x2048xf32, write>
}

// What the multipliers give: 12000 products of 12x64x64 in the first-level
// cache, 1.18 GFLOP in all, sums of 24 registers. Takes no extents.
tile.kernel @peak(%x: !tile.view<12x64xf32, read>, %w: !tile.view<64x64xf32, read, panel = 16 along 0>, %y: !tile.view<12x64xf32, write>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 12000 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<12x64xf32, read> -> !tile.sram<12x64xf32>
  %b = tile.load %w[%c0, %c0] dims(0, 1) : !tile.view<64x64xf32, read, panel = 16 along 0> -> !tile.sram<64x64xf32>
  %zero = tile.map() : () -> !tile.frag<12x64xf32> {
  ^bb0(%r: index, %c: index):
    %z = arith.constant 0.0 : f32
    tile.yield %z : f32
  }
  %p = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (!tile.frag<12x64xf32>) {
    %t = tile.mma %a, %b transpose_b acc %s : !tile.sram<12x64xf32>, !tile.sram<64x64xf32> -> !tile.frag<12x64xf32>
    scf.yield %t : !tile.frag<12x64xf32>
  }
  tile.store %p, %y[%c0, %c0] dims(0, 1) : !tile.frag<12x64xf32>, !tile.view<12x64xf32, write>
}
