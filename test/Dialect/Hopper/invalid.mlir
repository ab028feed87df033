// RUN: mmx-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected elements of bf16 or f16, but got 'f32'}}
func.func @f() attributes {x = #hopper.matrix<64x64xf32, swizzle = 128>} { return }

// -----

// expected-error @+1 {{expected a swizzle of 128, 64 or 32 bytes, but got 16}}
func.func @f() attributes {x = #hopper.matrix<64x64xbf16, swizzle = 16>} { return }

// -----

// expected-error @+1 {{expected a multiple of 8 rows, but got 12}}
func.func @f() attributes {x = #hopper.matrix<12x64xbf16, swizzle = 128>} { return }

// -----

// expected-error @+1 {{expected a multiple of 64 columns, the width of a panel, but got 32}}
func.func @f() attributes {x = #hopper.matrix<64x32xbf16, swizzle = 128>} { return }

// -----

// expected-error @+1 {{expected panels a multiple of 1024 bytes apart, at least 8192, but got 4096}}
func.func @f() attributes {x = #hopper.matrix<64x64xbf16, swizzle = 128, panel = 4096>} { return }

// -----

// expected-error @+1 {{expected panels a multiple of 512 bytes apart, at least 4096, but got 4352}}
func.func @f() attributes {x = #hopper.matrix<64x64xbf16, swizzle = 64, panel = 4352>} { return }

// -----

// expected-error @+1 {{expected panels at most 262128 bytes apart, but got 262144}}
func.func @f() attributes {x = #hopper.matrix<64x64xbf16, swizzle = 128, panel = 262144>} { return }

// -----

// expected-error @+1 {{expected rows x columns, but got 1 extents}}
func.func @f() attributes {x = #hopper.matrix<64xbf16, swizzle = 128>} { return }

// -----

func.func @f(%a: vector<32xbf16>, %b: !llvm.ptr<3>) {
  // expected-error @+1 {{expected N of at most 256, but got 320}}
  %d = hopper.wgmma %a, %b in <64x320xbf16, swizzle = 128> : vector<32xbf16>, vector<160xf32>
  return
}

// -----

func.func @f(%a: vector<12xbf16>, %b: !llvm.ptr<3>) {
  // expected-error @+1 {{expected K a multiple of 16, but got 24}}
  %d = hopper.wgmma %a, %b in <24x64xbf16, swizzle = 128> : vector<12xbf16>, vector<32xf32>
  return
}

// -----

func.func @f(%a: vector<32xbf16>, %b: !llvm.ptr<3>) {
  // expected-error @+1 {{expected a result of a multiple of 64x64, 32 elements a thread, but got 48}}
  %d = hopper.wgmma %a, %b in <64x64xbf16, swizzle = 128> : vector<32xbf16>, vector<48xf32>
  return
}

// -----

func.func @f(%a: vector<32xbf16>, %b: !llvm.ptr<3>) {
  // expected-error @+1 {{expected a fragment A of 128x64, 64 elements a thread, but got 32}}
  %d = hopper.wgmma %a, %b in <64x64xbf16, swizzle = 128> : vector<32xbf16>, vector<64xf32>
  return
}

// -----

func.func @f(%a: vector<32xf16>, %b: !llvm.ptr<3>) {
  // expected-error @+1 {{expected A and B of one type, but got 'f16' and 'bf16'}}
  %d = hopper.wgmma %a, %b in <64x64xbf16, swizzle = 128> : vector<32xf16>, vector<32xf32>
  return
}

// -----

func.func @f(%a: vector<32xbf16>, %b: !llvm.ptr<3>) {
  // expected-error @+1 {{expected no matrix and no transpose_a for A in registers}}
  %d = hopper.wgmma %a transpose_a, %b in <64x64xbf16, swizzle = 128> : vector<32xbf16>, vector<32xf32>
  return
}

// -----

func.func @f(%a: !llvm.ptr<3>, %b: !llvm.ptr<3>) {
  // expected-error @+1 {{expected a matrix for A in shared memory}}
  %d = hopper.wgmma %a, %b in <64x64xbf16, swizzle = 128> : !llvm.ptr<3>, vector<32xf32>
  return
}

// -----

func.func @f(%a: !llvm.ptr<3>, %b: !llvm.ptr<3>) {
  // expected-error @+1 {{expected A and B of one type, but got 'f16' and 'bf16'}}
  %d = hopper.wgmma %a in <64x64xf16, swizzle = 128>, %b in <64x64xbf16, swizzle = 128> : !llvm.ptr<3>, vector<32xf32>
  return
}

// -----

func.func @f(%a: !llvm.ptr<3>, %b: !llvm.ptr<3>) {
  // expected-error @+1 {{expected A with 64 columns, as B has rows, but got 128}}
  %d = hopper.wgmma %a in <64x128xbf16, swizzle = 128>, %b in <64x64xbf16, swizzle = 128> : !llvm.ptr<3>, vector<32xf32>
  return
}

// -----

func.func @f(%a: !llvm.ptr<3>, %b: !llvm.ptr<3>) {
  // expected-error @+1 {{expected A with 64 rows, as the result has, but got 128}}
  %d = hopper.wgmma %a in <64x128xbf16, swizzle = 128> transpose_a, %b in <64x64xbf16, swizzle = 128> : !llvm.ptr<3>, vector<32xf32>
  return
}

// -----

// expected-note @+1 {{prior use here}}
func.func @f(%a: vector<32xbf16>, %b: !llvm.ptr) {
  // expected-error @+1 {{expects different type than prior uses}}
  %d = hopper.wgmma %a, %b in <64x64xbf16, swizzle = 128> : vector<32xbf16>, vector<32xf32>
  return
}

// -----

func.func @f(%a: vector<32xbf16>, %b: !llvm.ptr<3>) {
  // expected-error @+1 {{custom op 'hopper.wgmma' 'result' must be vector of 32-bit float values of ranks 1, but got 'vector<32xbf16>'}}
  %d = hopper.wgmma %a, %b in <64x64xbf16, swizzle = 128> : vector<32xbf16>, vector<32xbf16>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected 0 to 7 pending groups, but got 8}}
  hopper.wait pending 8
  return
}

// -----

func.func @f(%a: vector<4xbf16>) {
  // expected-error @+1 {{expected fragments of a multiple of 8 elements, but got 4}}
  %r = hopper.wait pending 0 for %a : vector<4xbf16>
  return
}

// -----

// The ops are those of sm_90a alone.
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @f(%a: vector<32xbf16>, %b: !llvm.ptr<3>) {
    // expected-error @+1 {{'hopper.wgmma' op is not supported on sm_80}}
    %d = hopper.wgmma %a, %b in <64x64xbf16, swizzle = 128> : vector<32xbf16>, vector<32xf32>
    return
  }
}
