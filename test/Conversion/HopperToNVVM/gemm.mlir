// One warp group computes 64x64 of C = A B^T from bulk loads to a bulk store:
// the ops of hopper and nvvm are enough for a kernel.
//
// RUN: mmx-opt %s --convert-hopper-to-nvvm | mlir-opt --convert-nvvm-to-llvm \
// RUN:   | mlir-translate --mlir-to-llvmir \
// RUN:   | llc -march=nvptx64 -mcpu=sm_90a -mattr=+ptx80 -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=LOAD
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=PRODUCT
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=STORE
// RUN: %if ptxas %{ %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin > %t.log 2>&1 %}
// RUN: %if ptxas %{ FileCheck %s --input-file=%t.log --check-prefix=LOG %}

// The same by way of the code generator.
// RUN: mmx-opt %s --gpu-assemble-kernels=print > %t.print
// RUN: FileCheck %s --input-file=%t.print --check-prefix=LOAD
// RUN: FileCheck %s --input-file=%t.print --check-prefix=PRODUCT
// RUN: FileCheck %s --input-file=%t.print --check-prefix=STORE
// RUN: %if ptxas %{ FileCheck %s --input-file=%t.print --check-prefix=REPORT %}

// REPORT: mmx.report = {barriers = 1 : i64, registers = {{[0-9]+}} : i64, spills = 0 : i64, stack = 0 : i64}

// LOAD: .visible .entry gemm
// LOAD: mbarrier.init
// LOAD: mbarrier.arrive.expect_tx
// LOAD: cp.async.bulk.tensor.2d.shared::cluster.global

// PRODUCT: mbarrier.try_wait.parity
// PRODUCT: wgmma.fence.sync.aligned
// PRODUCT-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PRODUCT: wgmma.commit_group.sync.aligned
// PRODUCT: wgmma.wait_group.sync.aligned 0

// STORE-COUNT-4: stmatrix.sync.aligned.m8n8.x4.shared.b16
// STORE: fence.proxy.async.shared::cta
// STORE: cp.async.bulk.tensor.2d.global.shared::cta

// LOG-NOT: C75
// LOG: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// LOG-NOT: C75

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

llvm.func @gemm(%a: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64},
                %b: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64},
                %c: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64},
                %blocks: i32)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, mmx.kernel,
                mmx.threads = 128 : i64, mmx.shared = 16392 : i64} {
  %0 = llvm.mlir.constant(0 : i32) : i32
  %1 = llvm.mlir.constant(1 : i32) : i32
  %4 = llvm.mlir.constant(4 : i32) : i32
  %8 = llvm.mlir.constant(8 : i32) : i32
  %15 = llvm.mlir.constant(15 : i32) : i32
  %16 = llvm.mlir.constant(16 : i32) : i32
  %32 = llvm.mlir.constant(32 : i32) : i32
  %48 = llvm.mlir.constant(48 : i32) : i32
  %64 = llvm.mlir.constant(64 : i32) : i32
  %bytes = llvm.mlir.constant(16384 : i32) : i32
  %ticks = llvm.mlir.constant(1000000 : i32) : i32
  %zero = llvm.mlir.constant(dense<0.0> : vector<32xf32>) : vector<32xf32>
  %base = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %sb = llvm.getelementptr %base[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %da = llvm.addrspacecast %base : !llvm.ptr<3> to !llvm.ptr<7>
  %db = llvm.addrspacecast %sb : !llvm.ptr<3> to !llvm.ptr<7>
  %bar = llvm.getelementptr %base[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %row = nvvm.read.ptx.sreg.ctaid.x : i32
  %col = nvvm.read.ptx.sreg.ctaid.y : i32
  %m = llvm.mul %row, %64 : i32
  %n = llvm.mul %col, %64 : i32
  %first = llvm.icmp "eq" %tid, %0 : i32
  llvm.cond_br %first, ^init, ^ready
^init:
  nvvm.mbarrier.init %bar, %1 : !llvm.ptr<3>, i32
  llvm.br ^ready
^ready:
  nvvm.barrier0
  llvm.br ^loop(%0, %zero : i32, vector<32xf32>)
^loop(%i: i32, %acc: vector<32xf32>):
  %more = llvm.icmp "slt" %i, %blocks : i32
  llvm.cond_br %more, ^body, ^store
^body:
  %k = llvm.mul %i, %64 : i32
  llvm.cond_br %first, ^load, ^compute
^load:
  nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
  nvvm.cp.async.bulk.tensor.shared.cluster.global %da, %a, %bar, box[%k, %m] : !llvm.ptr<7>, !llvm.ptr
  nvvm.cp.async.bulk.tensor.shared.cluster.global %db, %b, %bar, box[%k, %n] : !llvm.ptr<7>, !llvm.ptr
  llvm.br ^compute
^compute:
  %phase = llvm.and %i, %1 : i32
  nvvm.mbarrier.try_wait.parity %bar, %phase, %ticks : !llvm.ptr<3>, i32, i32
  %p = hopper.wgmma %base in <64x64xbf16, swizzle = 128>,
      %sb in <64x64xbf16, swizzle = 128> transpose_b acc %acc : !llvm.ptr<3>, vector<32xf32>
  %sum = hopper.wait pending 0 for %p : vector<32xf32>
  nvvm.barrier0
  %next = llvm.add %i, %1 : i32
  llvm.br ^loop(%next, %sum : i32, vector<32xf32>)
^store:
  %half = llvm.fptrunc %acc : vector<32xf32> to vector<32xbf16>
  %pairs = llvm.bitcast %half : vector<32xbf16> to vector<16xi32>
  // Lane l gives the address of row l % 16 and column 8 (l / 16) of a 16x16
  // block: four 8x8 matrices, one in each of four registers.
  %lane = llvm.and %tid, %15 : i32
  %sixteenth = llvm.lshr %tid, %4 : i32
  %right = llvm.and %sixteenth, %1 : i32
  %warp = llvm.lshr %sixteenth, %1 : i32
  %top = llvm.mul %warp, %16 : i32
  %r = llvm.add %top, %lane : i32
  %c0 = llvm.mul %right, %8 : i32
  %c1 = llvm.add %c0, %16 : i32
  %c2 = llvm.add %c0, %32 : i32
  %c3 = llvm.add %c0, %48 : i32
  %p0 = hopper.address %base[%r, %c0] in <64x64xbf16, swizzle = 128>
  %p1 = hopper.address %base[%r, %c1] in <64x64xbf16, swizzle = 128>
  %p2 = hopper.address %base[%r, %c2] in <64x64xbf16, swizzle = 128>
  %p3 = hopper.address %base[%r, %c3] in <64x64xbf16, swizzle = 128>
  %i0 = llvm.mlir.constant(0 : i32) : i32
  %e0 = llvm.extractelement %pairs[%i0 : i32] : vector<16xi32>
  %i1 = llvm.mlir.constant(1 : i32) : i32
  %e1 = llvm.extractelement %pairs[%i1 : i32] : vector<16xi32>
  %i2 = llvm.mlir.constant(2 : i32) : i32
  %e2 = llvm.extractelement %pairs[%i2 : i32] : vector<16xi32>
  %i3 = llvm.mlir.constant(3 : i32) : i32
  %e3 = llvm.extractelement %pairs[%i3 : i32] : vector<16xi32>
  %i4 = llvm.mlir.constant(4 : i32) : i32
  %e4 = llvm.extractelement %pairs[%i4 : i32] : vector<16xi32>
  %i5 = llvm.mlir.constant(5 : i32) : i32
  %e5 = llvm.extractelement %pairs[%i5 : i32] : vector<16xi32>
  %i6 = llvm.mlir.constant(6 : i32) : i32
  %e6 = llvm.extractelement %pairs[%i6 : i32] : vector<16xi32>
  %i7 = llvm.mlir.constant(7 : i32) : i32
  %e7 = llvm.extractelement %pairs[%i7 : i32] : vector<16xi32>
  %i8 = llvm.mlir.constant(8 : i32) : i32
  %e8 = llvm.extractelement %pairs[%i8 : i32] : vector<16xi32>
  %i9 = llvm.mlir.constant(9 : i32) : i32
  %e9 = llvm.extractelement %pairs[%i9 : i32] : vector<16xi32>
  %i10 = llvm.mlir.constant(10 : i32) : i32
  %e10 = llvm.extractelement %pairs[%i10 : i32] : vector<16xi32>
  %i11 = llvm.mlir.constant(11 : i32) : i32
  %e11 = llvm.extractelement %pairs[%i11 : i32] : vector<16xi32>
  %i12 = llvm.mlir.constant(12 : i32) : i32
  %e12 = llvm.extractelement %pairs[%i12 : i32] : vector<16xi32>
  %i13 = llvm.mlir.constant(13 : i32) : i32
  %e13 = llvm.extractelement %pairs[%i13 : i32] : vector<16xi32>
  %i14 = llvm.mlir.constant(14 : i32) : i32
  %e14 = llvm.extractelement %pairs[%i14 : i32] : vector<16xi32>
  %i15 = llvm.mlir.constant(15 : i32) : i32
  %e15 = llvm.extractelement %pairs[%i15 : i32] : vector<16xi32>
  nvvm.stmatrix %p0, %e0, %e1, %e2, %e3 {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32, i32, i32
  nvvm.stmatrix %p1, %e4, %e5, %e6, %e7 {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32, i32, i32
  nvvm.stmatrix %p2, %e8, %e9, %e10, %e11 {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32, i32, i32
  nvvm.stmatrix %p3, %e12, %e13, %e14, %e15 {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32, i32, i32
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  nvvm.barrier0
  llvm.cond_br %first, ^bulk, ^done
^bulk:
  nvvm.cp.async.bulk.tensor.global.shared.cta %c, %base, box[%n, %m] : !llvm.ptr, !llvm.ptr<3>
  nvvm.cp.async.bulk.commit.group
  nvvm.cp.async.bulk.wait_group 0
  llvm.br ^done
^done:
  llvm.return
}
