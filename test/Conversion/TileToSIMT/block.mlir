// RUN: mmx-opt %s --convert-tile-to-simt=threads=64 | FileCheck %s
// RUN: mmx-opt %s --convert-tile-to-simt='threads=64 shared=1024' | FileCheck %s --check-prefix=GLOBAL
// RUN: not mmx-opt %s --convert-tile-to-simt=threads=2048 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: mmx-opt %s --tile-run-cpu='extents=40,40 threads=5' -o /dev/null | FileCheck %s --check-prefix=AGREES

// RUN: mmx-opt %s --tile-run-cpu='extents=40,40 threads=5 shared=5375' -o /dev/null | FileCheck %s --check-prefix=SLICES

// SLICES: @gemm for cpu-v{{[34]}} in threads: {{.*}}, 5376 bytes of scratch in each block
// SLICES: view 2 agrees
// THREADS: expected 1 to 1024 threads, but got 2048
// AGREES: @gemm for cpu-v{{[34]}} in threads: {{.*}}
// AGREES: view 2 agrees

// CHECK: llvm.mlir.global external @mmx_shared() {addr_space = 3 : i32, alignment = 1024 : i64}
// CHECK-LABEL: func.func @gemm(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr, %[[C:.*]]: !llvm.ptr,
// CHECK-SAME: %{{.*}}: i64, %{{.*}}: i64, %[[SCRATCH:.*]]: !llvm.ptr)
// CHECK-SAME: mmx.kernel, mmx.scratch = 0 : i64, mmx.shared = 5376 : i64, mmx.threads = 64 : i64
// CHECK: gpu.thread_id x
// CHECK: llvm.addrspacecast
// CHECK: gpu.block_id x
// Rows that the view lacks are filled, and others not read.
// CHECK: scf.for
// CHECK: scf.if
// CHECK: llvm.load
// CHECK: llvm.store
// CHECK: else
// CHECK: llvm.store
// CHECK: gpu.barrier
// A thread computes four rows of a column.
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) -> (f32, f32, f32, f32)
// CHECK-COUNT-4: math.fma
// CHECK: gpu.barrier
// CHECK: return

// GLOBAL-LABEL: func.func @gemm(
// GLOBAL-SAME: mmx.scratch = 5376 : i64, mmx.shared = 0 : i64
// GLOBAL: gpu.grid_dim x
// GLOBAL-NOT: addressof
tile.kernel @gemm(%a: !tile.view<?x32xf32, read>, %b: !tile.view<24x32xbf16, read>,
                  %c: !tile.view<?x24xf32, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s0 ceildiv 16)> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %row = arith.muli %i, %c16 : index
  %A = tile.load %a[%row, %c0] dims(0, 1) : !tile.view<?x32xf32, read> -> !tile.sram<16x32xf32>
  %B = tile.load %b[%c0, %c0] dims(0, 1) : !tile.view<24x32xbf16, read> -> !tile.sram<24x32xbf16>
  %C = tile.mma %A, %B transpose_b : !tile.sram<16x32xf32>, !tile.sram<24x32xbf16> -> !tile.frag<16x24xf32>
  tile.store %C, %c[%row, %c0] dims(0, 1) : !tile.frag<16x24xf32>, !tile.view<?x24xf32, write>
}
