// What is counted: bytes, products, iterations and cells, by hand.

// RUN: mmx-opt %s --split-input-file --tile-explain='target=h200 extents=4097,256' -o /dev/null 2>&1 | FileCheck %s
// RUN: mmx-opt %s --split-input-file --tile-explain='target=h200 extents=4097,0' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

// A triangle: cell i of 4 multiplies 64 rows by 64 (i + 1) columns. The mean of
// 1, 2, 3, 4 iterations is 2.5; 10 products of 64 x 64 x 64 in all, 5.2 MFLOP,
// and 4 + 10 + 4 tiles of 16 KB.
// CHECK: remark: @triangle on h200: predicted {{.*}}; 0.3 MB are {{.*}}, 0.3 MB enter or leave multiprocessors in 0.0 us, 0.01 GFLOP; 4 cells take {{.*}} us ({{[0-9]+}} cycles for each of 2.5 iterations) each, 4 at a time on each of 132 multiprocessors, in 1 wave; 256 threads
// NONE: remark: @triangle on h200: predicted 0.0 us, limited by the launch; {{.*}}; 0 cells
tile.kernel @triangle(%x: !tile.view<?x64xf32, read>, %y: !tile.view<?x64xf32, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s1 ceildiv 64)> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %i, %c64 : index
  %end = arith.addi %row, %c64 : index
  %a = tile.load %x[%row, %c0] dims(0, 1) : !tile.view<?x64xf32, read> -> !tile.sram<64x64xf32>
  %z = tile.map() : () -> !tile.frag<64x64xf32> {
  ^bb0(%r: index, %c: index):
    %v = arith.constant 0.0 : f32
    tile.yield %v : f32
  }
  %s = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %z) -> (!tile.frag<64x64xf32>) {
    %b = tile.load %x[%k, %c0] dims(0, 1) : !tile.view<?x64xf32, read> -> !tile.sram<64x64xf32>
    %n = tile.mma %a, %b transpose_b acc %acc : !tile.sram<64x64xf32>, !tile.sram<64x64xf32> -> !tile.frag<64x64xf32>
    scf.yield %n : !tile.frag<64x64xf32>
  }
  tile.store %s, %y[%row, %c0] dims(0, 1) : !tile.frag<64x64xf32>, !tile.view<?x64xf32, write>
}

// -----

// Two entries of a table bound a loop: 4096 sequences share the rows, one
// iteration each. A view of 64 KB is moved 4096 times in 16 KB.
// CHECK: remark: @parts on h200: predicted {{.*}}; 0.1 MB are {{.*}}, 134.2 MB enter or leave multiprocessors in 16.0 us, {{.*}}; 4096 cells take {{.*}} each
tile.kernel @parts(%starts: !tile.view<?xi32, read>, %x: !tile.view<?x64xf32, inplace>)
    grid(%i) = affine_map<()[s0, s1] -> (s0 - 1)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %i1 = arith.addi %i, %c1 : index
  %from = tile.table %starts[%i] : !tile.view<?xi32, read> -> index
  %to = tile.table %starts[%i1] : !tile.view<?xi32, read> -> index
  scf.for %t = %from to %to step %c64 {
    %a = tile.load %x[%t, %c0] dims(0, 1) : !tile.view<?x64xf32, inplace> -> !tile.frag<64x64xf32>
    tile.store %a, %x[%t, %c0] dims(0, 1) : !tile.frag<64x64xf32>, !tile.view<?x64xf32, inplace>
  }
}

// -----

// A tile of a sequence that may not exist: of the 4 tiles that a sequence may
// have each of 4096 has one.
// CHECK: remark: @tiles on h200: predicted {{.*}}; 4096 of 16384 cells take {{.*}} each
tile.kernel @tiles(%starts: !tile.view<?xi32, read>, %x: !tile.view<?x64xf32, inplace>)
    grid(%i, %j) = affine_map<()[s0, s1] -> (s0 - 1, s1 ceildiv 64)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %i1 = arith.addi %i, %c1 : index
  %begin = tile.table %starts[%i] : !tile.view<?xi32, read> -> index
  %end = tile.table %starts[%i1] : !tile.view<?xi32, read> -> index
  %offset = arith.muli %j, %c64 : index
  %from = arith.addi %begin, %offset : index
  %most = arith.addi %from, %c64 : index
  %to = arith.minsi %end, %most : index
  scf.for %t = %from to %to step %c64 {
    %a = tile.load %x[%t, %c0] dims(0, 1) : !tile.view<?x64xf32, inplace> -> !tile.frag<64x64xf32>
    tile.store %a, %x[%t, %c0] dims(0, 1) : !tile.frag<64x64xf32>, !tile.view<?x64xf32, inplace>
  }
}
