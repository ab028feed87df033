//===- HopperOps.td - Operations of the hopper dialect -----*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_HOPPER_HOPPEROPS_TD
#define MMX_DIALECT_HOPPER_HOPPEROPS_TD

include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Dialect/LLVMIR/NVVMRequiresSMTraits.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mmx/Dialect/Hopper/HopperAttrs.td"

def Hopper_Shared : LLVM_PointerInAddressSpace<3>;
def Hopper_Accumulator : VectorOfRankAndType<[1], [F32]>;
def Hopper_Fragment : VectorOfRankAndType<[1], [F32, BF16, F16]>;

def Hopper_WgmmaOp : Hopper_Op<"wgmma", [
    NVVMRequiresSMa<[90]>, MemoryEffects<[MemRead, MemWrite]>,
    OptionalTypesMatchWith<"accumulator and result have one type", "result",
                           "acc", "$_self">]> {
  let summary = "starts a product on the tensor cores";
  let description = [{
    `result = A B + acc`, or `A B` without `acc`. A is `M x K`, stored `K x M`
    with `transpose_a`; B is `K x N`, stored `N x K` with `transpose_b`. A is a
    fragment or a matrix in shared memory, B a matrix in shared memory. All
    warps of the warp group run the op with the same addresses.

    M is a multiple of 64, N a multiple of 8 up to 256, K a multiple of 16.
    Elements are bf16 or f16, accumulators f32.

    The op is one group: `wgmma.fence`, a `wgmma.mma_async` for each 64 rows and
    16 of K, `wgmma.commit_group`. The result is in flight: until a
    `hopper.wait` returns it, it may only be the accumulator of other products
    or be carried by a loop. A fragment A is read until the wait that covers
    the group, which takes it as an operand.

    Example:
    ```mlir
    %p = hopper.wgmma %q, %k in <64x128xbf16, swizzle = 128> transpose_b
        : vector<64xbf16>, vector<32xf32>
    %s = hopper.wgmma %a in <64x64xbf16, swizzle = 128> transpose_a,
        %k in <64x128xbf16, swizzle = 128> acc %s0
        : !llvm.ptr<3>, vector<64xf32>
    ```
  }];
  let arguments = (ins
    AnyTypeOf<[VectorOfRankAndType<[1], [BF16, F16]>, Hopper_Shared]>:$a,
    Hopper_Shared:$b, Optional<Hopper_Accumulator>:$acc,
    OptionalAttr<Hopper_MatrixAttr>:$a_matrix, Hopper_MatrixAttr:$b_matrix,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Hopper_Accumulator:$result);
  let assemblyFormat = [{
    $a (`in` $a_matrix^)? (`transpose_a` $transpose_a^)? `,`
    $b `in` custom<Matrix>($b_matrix) (`transpose_b` $transpose_b^)? (`acc` $acc^)?
    attr-dict `:` type($a) `,` type($result)
  }];
  let extraClassDeclaration = [{
    /// Columns of the result.
    int64_t getN();
    /// Extent of the sum.
    int64_t getK();
    /// Blocks of 64 rows.
    int64_t getRowBlocks();
    /// Whether A is in registers.
    bool hasFragmentA() {
      return ::mlir::isa<::mlir::VectorType>(getA().getType());
    }
  }];
  let hasVerifier = 1;
}

def Hopper_WaitOp : Hopper_Op<"wait", [
    NVVMRequiresSMa<[90]>, MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "waits for products and returns what they held";
  let description = [{
    Waits until at most `pending` of the latest groups are in flight (0 to 7).
    Takes the results and the fragments A of the groups it waits for; both are
    used after the wait only through what it returns. Returning a fragment keeps
    its registers: the assembler takes no notice of reads by products in flight.

    Example:
    ```mlir
    %r:2 = hopper.wait pending 0 for %s, %a : vector<64xf32>, vector<32xbf16>
    ```
  }];
  let arguments = (ins I64Attr:$pending, Variadic<Hopper_Fragment>:$values);
  let results = (outs Variadic<Hopper_Fragment>:$results);
  let assemblyFormat = [{
    `pending` $pending (`for` $values^ `:` type($values))? attr-dict
  }];
  let hasVerifier = 1;
}

def Hopper_AddressOp : Hopper_Op<"address", [Pure]> {
  let summary = "the address of an element of a matrix in shared memory";
  let description = [{
    Follows panels and swizzle. The 16 bytes from a column that is a multiple of
    8 are contiguous.

    Example:
    ```mlir
    %p = hopper.address %base[%row, %col] in <64x128xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Hopper_Shared:$base, I32:$row, I32:$col,
                       Hopper_MatrixAttr:$matrix);
  let results = (outs Hopper_Shared:$result);
  let assemblyFormat = [{
    $base `[` $row `,` $col `]` `in` $matrix attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$base, "::mlir::Value":$row,
      "::mlir::Value":$col, "::mmx::hopper::MatrixAttr":$matrix), [{
    build($_builder, $_state, base.getType(), base, row, col, matrix);
  }]>];
}

#endif // MMX_DIALECT_HOPPER_HOPPEROPS_TD
