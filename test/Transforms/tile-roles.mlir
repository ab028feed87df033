// RUN: mmx-opt %S/../Dialect/Tile/Inputs/attention.mlir --tile-specialize-warps --tile-pipeline | FileCheck %s --check-prefix=ATTENTION
// RUN: sed -e 's/order = 80/order = 65/' %S/../Dialect/Tile/Inputs/attention.mlir | mmx-opt --tile-specialize-warps --tile-pipeline | FileCheck %s --check-prefix=EARLY
// RUN: mmx-opt %S/../Dialect/Tile/Inputs/gemm.mlir --tile-specialize-warps --tile-pipeline | FileCheck %s --check-prefix=GEMM
// RUN: mmx-opt %S/../Dialect/Tile/Inputs/grouped.mlir --tile-specialize-warps --tile-pipeline | FileCheck %s --check-prefix=GROUPED
// RUN: mmx-opt %S/../Dialect/Tile/Inputs/decode.mlir --tile-specialize-warps --tile-pipeline | FileCheck %s --check-prefix=DECODE

// Wait counts differ between the sections, turns stand in all of them. Both
// instances of the split role arrive at the barriers.
// ATTENTION: tile.barriers @k depth 2 full 1 bytes 32 empty 8
// ATTENTION: tile.role @mm warps 4 instances 2
// ATTENTION: tile.section prologue 0 of @j {
// ATTENTION-NEXT: tile.turn_begin @t
// ATTENTION-NEXT: tile.wait_full @k stage 0
// ATTENTION-NEXT: tile.run "tile.mma" order 0 stage 0
// ATTENTION-NEXT: tile.turn_end @t
// ATTENTION-NEXT: tile.wait_mma for 0 pending 0 stage 0
// ATTENTION-NEXT: tile.arrive_empty @k stage 0
// ATTENTION: tile.section steady 0 of @j {
// ATTENTION-NEXT: tile.turn_begin @t
// ATTENTION-NEXT: tile.wait_full @k stage 0
// ATTENTION-NEXT: tile.run "tile.mma" order 0 stage 0
// ATTENTION-NEXT: tile.wait_full @v stage 1
// ATTENTION-NEXT: tile.run "tile.mma" order 10 stage 1
// ATTENTION-NEXT: tile.turn_end @t
// ATTENTION-NEXT: tile.wait_mma for 0 pending 1 stage 0
// ATTENTION-NEXT: tile.arrive_empty @k stage 0
// ATTENTION: tile.wait_mma for 10 pending 0 stage 1
// ATTENTION-NEXT: tile.arrive_empty @v stage 1
// ATTENTION: tile.run "tile.map" order 80 stage 0{{$}}
// ATTENTION: tile.section epilogue 0 of @j {
// ATTENTION: tile.turn_begin @t

// Converted before the wait, the weights of the product need a second set.
// EARLY: tile.run "tile.map" order 65 stage 0 copies 2

// One poll for two fields. The product of step k - 1 is waited for after that of
// step k; the accumulator is updated in place.
// GEMM: tile.barriers @ab depth 4 full 1 bytes 96 empty 4
// GEMM: tile.role @mm warps 4 instances 2
// GEMM: tile.turn_begin @m
// GEMM-NEXT: tile.run_loop @k stage 0 {
// GEMM: tile.section steady 0 of @k {
// GEMM-NEXT: tile.wait_full @ab stage 0
// GEMM-NEXT: tile.run "tile.mma" order 0 stage 0{{$}}
// GEMM-NEXT: tile.wait_mma for 0 pending 1 stage 1
// GEMM-NEXT: tile.arrive_empty @ab stage 1
// GEMM-NEXT: }
// GEMM: tile.turn_end @m

// Gathered rows are written by 4 warps; two accumulators make one block in
// flight two products.
// GROUPED: tile.barriers @x depth 2 full 4 bytes 0 empty 8
// GROUPED: tile.barriers @w depth 2 full 1 bytes 64 empty 8
// GROUPED: tile.role @ldx
// GROUPED: tile.run "tile.gather" order 0 stage 0
// GROUPED-NEXT: tile.fence @x stage 0
// GROUPED-NEXT: tile.arrive_full @x stage 0
// GROUPED: tile.role @mm
// GROUPED: tile.section steady 0 of @k {
// GROUPED: tile.wait_mma for 0 pending 2 stage 2
// GROUPED: tile.run "tile.map" order 40 stage 0 copies 2

// All readers are threads: no fence.
// DECODE: tile.barriers @st depth 2 full 1 bytes 88 empty 4
// DECODE-NOT: tile.fence
