// RUN: mmx-opt %s | mmx-opt | FileCheck %s
// RUN: mmx-opt %s --mlir-print-op-generic | mmx-opt | FileCheck %s

// CHECK-LABEL: func.func @products
func.func @products(%a: !llvm.ptr<3>, %b: !llvm.ptr<3>, %q: vector<64xbf16>,
                    %h: vector<8xf16>) {
  // CHECK: %[[P:.*]] = hopper.wgmma %{{.*}}, %{{.*}} in <64x128xbf16, swizzle = 128> transpose_b : vector<64xbf16>, vector<32xf32>
  %p = hopper.wgmma %q, %b in <64x128xbf16, swizzle = 128> transpose_b
      : vector<64xbf16>, vector<32xf32>
  // CHECK: %[[S:.*]] = hopper.wgmma %{{.*}} in <128x128xbf16, swizzle = 128, panel = 32768> transpose_a, %{{.*}} in <128x64xbf16, swizzle = 64> : !llvm.ptr<3>, vector<64xf32>
  %s = hopper.wgmma %a in <128x128xbf16, swizzle = 128, panel = 32768> transpose_a,
      %b in <128x64xbf16, swizzle = 64> : !llvm.ptr<3>, vector<64xf32>
  // CHECK: %[[S1:.*]] = hopper.wgmma %{{.*}} in <128x128xbf16, swizzle = 128>, %{{.*}} in <128x64xbf16, swizzle = 64> acc %[[S]] : !llvm.ptr<3>, vector<64xf32>
  %s1 = hopper.wgmma %a in <128x128xbf16, swizzle = 128>,
      %b in <128x64xbf16, swizzle = 64> acc %s : !llvm.ptr<3>, vector<64xf32>
  // CHECK: %[[F:.*]] = hopper.wgmma %{{.*}}, %{{.*}} in <16x16xf16, swizzle = 32> : vector<8xf16>, vector<8xf32>
  %f = hopper.wgmma %h, %b in <16x16xf16, swizzle = 32>
      : vector<8xf16>, vector<8xf32>
  // CHECK: hopper.wait pending 1 for %[[P]], %{{.*}} : vector<32xf32>, vector<64xbf16>
  %r:2 = hopper.wait pending 1 for %p, %q : vector<32xf32>, vector<64xbf16>
  // CHECK: hopper.wait pending 0{{$}}
  hopper.wait pending 0
  return
}

// CHECK-LABEL: func.func @address
func.func @address(%base: !llvm.ptr<3>, %row: i32, %col: i32) -> !llvm.ptr<3> {
  // CHECK: hopper.address %{{.*}}[%{{.*}}, %{{.*}}] in <64x128xbf16, swizzle = 128>{{$}}
  %p = hopper.address %base[%row, %col] in <64x128xbf16, swizzle = 128>
  return %p : !llvm.ptr<3>
}
