//===- HopperDialect.td - The hopper dialect ---------------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_HOPPER_HOPPERDIALECT_TD
#define MMX_DIALECT_HOPPER_HOPPERDIALECT_TD

include "mlir/IR/OpBase.td"

def Hopper_Dialect : Dialect {
  let name = "hopper";
  let cppNamespace = "::mmx::hopper";
  let summary = "Tensor-core products of sm_90a that nvvm lacks";
  let description = [{
    Products of a warp group (four warps, 128 threads) on tiles in shared
    memory or in registers, and the wait for them. Barriers, bulk copies,
    clusters and register counts are ops of `nvvm`.

    A tile of `64 m x c` elements in the registers of a warp group is a
    fragment: each thread holds `vector<(m c / 2) x T>`. Element `i` of lane `l`
    of warp `w` is, with `b = i / (c / 2)`, `e = i % (c / 2)`, `j = e / 4` and
    `q = e % 4`,

    ```
    row    64 b + 16 w + l / 4 + 8 (q / 2)
    column 8 j + 2 (l % 4) + q % 2
    ```

    Accumulators and left operands have the same form, so that an accumulator
    becomes the left operand of another product by conversion alone (PTX ISA,
    "Register fragments and shared memory matrix layouts", wgmma .m64nNk16).

    A product is asynchronous: between its op and the `hopper.wait` that covers
    it, nothing may read its result or write the registers it reads.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

class Hopper_Op<string mnemonic, list<Trait> traits = []>
    : Op<Hopper_Dialect, mnemonic, traits>;

#endif // MMX_DIALECT_HOPPER_HOPPERDIALECT_TD
