// RUN: mmx-opt %s --convert-hopper-to-nvvm | FileCheck %s
// RUN: mmx-opt %s --convert-hopper-to-nvvm | mlir-opt --convert-nvvm-to-llvm \
// RUN:   | mlir-translate --mlir-to-llvmir \
// RUN:   | llc -march=nvptx64 -mcpu=sm_90a -mattr=+ptx80 -o %t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin > %t.log 2>&1 %}
// RUN: %if ptxas %{ FileCheck %s --input-file=%t.log --check-prefix=LOG %}

// LOG-NOT: C75
// LOG-COUNT-4: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// LOG-NOT: C75

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// Q K^T with Q in registers, without accumulator: only the first instruction
// has the scale 0, and nothing fills the registers. Then the mask by hand, and
// P V on top of it; the wait keeps the fragment of P.
// CHECK-LABEL: llvm.func @attention
llvm.func @attention(%q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %k = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %v = llvm.getelementptr %k[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %a = llvm.load %q : !llvm.ptr<1> -> vector<64xbf16>
  // The fence reads the fragment: 32 registers.
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.fence.sync.aligned;", "r,r,
  // CHECK: setp.ne.b32 p, 0, 0;
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0,
  // CHECK-SAME: $31}, {$32,$33,$34,$35}, $36, p, 1, 1, 0;
  // CHECK-SAME: "=f,
  // CHECK-COUNT-7: setp.ne.b32 p, 1, 0;{{.*}}wgmma.mma_async
  // CHECK-NOT: wgmma.mma_async
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  %p = hopper.wgmma %a, %k in <64x128xbf16, swizzle = 128> transpose_b
      : vector<64xbf16>, vector<32xf32>
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;", "=f,
  // CHECK: nvvm.read.ptx.sreg.dynamic.smem.size
  // CHECK-COUNT-8: "@$5 st.shared.v4.b32 [$4], {$0,$1,$2,$3};", "r,r,r,r,r,b,~{memory}"
  // CHECK-NOT: st.shared
  %p1, %a1 = hopper.wait pending 0 for %p, %a : vector<32xf32>, vector<64xbf16>
  %ph = llvm.fptrunc %p1 : vector<32xf32> to vector<32xbf16>
  // V is 64 x 64 with the columns contiguous: the other order of B.
  // CHECK: "wgmma.fence.sync.aligned;", "=f,
  // CHECK: $68, p, 1, 1, 1;
  %s = hopper.wgmma %ph, %v in <64x64xbf16, swizzle = 128> acc %p1
      : vector<32xbf16>, vector<32xf32>
  // CHECK: wgmma.wait_group.sync.aligned 0
  // CHECK-COUNT-4: st.shared.v4.b32
  %s1, %ph1 = hopper.wait pending 0 for %s, %ph : vector<32xf32>, vector<32xbf16>
  llvm.store %s1, %o : vector<32xf32>, !llvm.ptr<1>
  llvm.return
}

// A fragment that a later product reads needs no other use; the wait for the
// first of two groups leaves the second in flight.
// CHECK-LABEL: llvm.func @two_groups
llvm.func @two_groups(%q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %k = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %a = llvm.load %q : !llvm.ptr<1> -> vector<32xbf16>
  %d0 = hopper.wgmma %a, %k in <64x64xbf16, swizzle = 128> : vector<32xbf16>, vector<32xf32>
  %d1 = hopper.wgmma %a, %k in <64x64xbf16, swizzle = 128> transpose_b : vector<32xbf16>, vector<32xf32>
  // CHECK: wgmma.wait_group.sync.aligned 1
  // CHECK-NOT: st.shared
  // CHECK: wgmma.mma_async
  %r0, %a0 = hopper.wait pending 1 for %d0, %a : vector<32xf32>, vector<32xbf16>
  llvm.store %r0, %o : vector<32xf32>, !llvm.ptr<1>
  %d2 = hopper.wgmma %a0, %k in <64x64xbf16, swizzle = 128> transpose_b acc %r0 : vector<32xbf16>, vector<32xf32>
  // CHECK: wgmma.wait_group.sync.aligned 0
  // CHECK-COUNT-4: st.shared.v4.b32
  %r1, %r2, %a2 = hopper.wait pending 0 for %d1, %d2, %a0 : vector<32xf32>, vector<32xf32>, vector<32xbf16>
  %o1 = llvm.getelementptr %o[4096] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %r1, %o1 : vector<32xf32>, !llvm.ptr<1>
  llvm.store %r2, %o : vector<32xf32>, !llvm.ptr<1>
  llvm.return
}

// Descriptors: A is 128 x 64 of f16 stored 64 x 128 in two panels of 64
// columns, one for each 64 rows of the product; B in panels of 32 bytes, each
// the 16 numbers of one instruction. The accumulator is 2 x 4 registers.
// CHECK-LABEL: llvm.func @descriptors
llvm.func @descriptors(%o: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %a = llvm.mlir.addressof @shared : !llvm.ptr<3>
  // Stride 1024 bytes, swizzle of 128 bytes; B: 256 bytes, 32 bytes.
  // CHECK-DAG: llvm.mlir.constant(4611686293305294848 : i64)
  // CHECK-DAG: llvm.mlir.constant(-4611685949707911168 : i64)
  // The leading offset of A is a panel, 8192 bytes; a step is 16 rows of 128
  // bytes, a block of rows a panel: 512 << 16 plus 128, 256, 384, 512.
  // CHECK-DAG: llvm.mlir.constant(33554432 : i32)
  // CHECK-DAG: llvm.mlir.constant(33554560 : i32)
  // CHECK-DAG: llvm.mlir.constant(33554688 : i32)
  // CHECK-DAG: llvm.mlir.constant(33554816 : i32)
  // CHECK-DAG: llvm.mlir.constant(33554944 : i32)
  // A panel of B is 8 rows of 32 bytes: 1 << 16 plus 0, 16, 32, 48.
  // CHECK-DAG: llvm.mlir.constant(65536 : i32)
  // CHECK-DAG: llvm.mlir.constant(65552 : i32)
  // CHECK-DAG: llvm.mlir.constant(65568 : i32)
  // CHECK-DAG: llvm.mlir.constant(65584 : i32)
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0,$1,$2,$3}, $4, $5, p, 1, 1, 1, 0;
  %d = hopper.wgmma %a in <64x128xf16, swizzle = 128> transpose_a,
      %a in <8x64xf16, swizzle = 32> transpose_b : !llvm.ptr<3>, vector<8xf32>
  %r = hopper.wait pending 0 for %d : vector<8xf32>
  llvm.store %r, %o : vector<8xf32>, !llvm.ptr<1>
  llvm.return
}

// A loop carries a product in flight.
// CHECK-LABEL: llvm.func @carried
llvm.func @carried(%o: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
  %0 = llvm.mlir.constant(0 : i32) : i32
  %1 = llvm.mlir.constant(1 : i32) : i32
  %a = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %first = hopper.wgmma %a in <64x64xbf16, swizzle = 128>,
      %a in <64x64xbf16, swizzle = 128> : !llvm.ptr<3>, vector<32xf32>
  llvm.br ^loop(%0, %first : i32, vector<32xf32>)
^loop(%i: i32, %acc: vector<32xf32>):
  %d = hopper.wgmma %a in <64x64xbf16, swizzle = 128>,
      %a in <64x64xbf16, swizzle = 128> acc %acc : !llvm.ptr<3>, vector<32xf32>
  // CHECK: wgmma.wait_group.sync.aligned 1
  hopper.wait pending 1
  %next = llvm.add %i, %1 : i32
  %more = llvm.icmp "slt" %next, %n : i32
  llvm.cond_br %more, ^loop(%next, %d : i32, vector<32xf32>), ^exit
^exit:
  // CHECK: wgmma.wait_group.sync.aligned 0
  %r = hopper.wait pending 0 for %d : vector<32xf32>
  llvm.store %r, %o : vector<32xf32>, !llvm.ptr<1>
  llvm.return
}
