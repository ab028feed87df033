// RUN: mmx-opt %s --convert-hopper-to-nvvm | mlir-translate --mlir-to-llvmir \
// RUN:   | opt -O1 -S | FileCheck %s

// Row 3 of 128 bytes; column 72 is unit 1 of panel 1, at 8192 bytes; 1 ^ 3 = 2.
// CHECK-LABEL: @wide(
// CHECK: getelementptr {{.*}}i8, ptr addrspace(3) %0, i{{32|64}} 8608
llvm.func @wide(%base: !llvm.ptr<3>) -> !llvm.ptr<3> {
  %r = llvm.mlir.constant(3 : i32) : i32
  %c = llvm.mlir.constant(72 : i32) : i32
  %p = hopper.address %base[%r, %c] in <64x128xbf16, swizzle = 128>
  llvm.return %p : !llvm.ptr<3>
}

// Row 3 of 64 bytes, unit 1; pairs of rows share a permutation: 1 ^ 1 = 0.
// CHECK-LABEL: @middle(
// CHECK: getelementptr {{.*}}i8, ptr addrspace(3) %0, i{{32|64}} 192
llvm.func @middle(%base: !llvm.ptr<3>) -> !llvm.ptr<3> {
  %r = llvm.mlir.constant(3 : i32) : i32
  %c = llvm.mlir.constant(8 : i32) : i32
  %p = hopper.address %base[%r, %c] in <64x32xbf16, swizzle = 64>
  llvm.return %p : !llvm.ptr<3>
}

// Row 5 of 32 bytes, unit 1; rows 4 to 7 swap the two units.
// CHECK-LABEL: @narrow(
// CHECK: getelementptr {{.*}}i8, ptr addrspace(3) %0, i{{32|64}} 160
llvm.func @narrow(%base: !llvm.ptr<3>) -> !llvm.ptr<3> {
  %r = llvm.mlir.constant(5 : i32) : i32
  %c = llvm.mlir.constant(8 : i32) : i32
  %p = hopper.address %base[%r, %c] in <64x16xbf16, swizzle = 32>
  llvm.return %p : !llvm.ptr<3>
}
