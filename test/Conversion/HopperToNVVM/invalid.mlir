// RUN: mmx-opt %s --convert-hopper-to-nvvm --verify-diagnostics

func.func @f(%a: vector<32xbf16>, %b: !llvm.ptr<3>) {
  %d = hopper.wgmma %a, %b in <64x64xbf16, swizzle = 128> : vector<32xbf16>, vector<32xf32>
  // expected-error @+1 {{reads a product in flight; expected a hopper.wait before it}}
  %e = arith.mulf %d, %d : vector<32xf32>
  %r:2 = hopper.wait pending 0 for %d, %a : vector<32xf32>, vector<32xbf16>
  return
}
