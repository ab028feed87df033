//===- ExecOps.td - Operations of the exec dialect ---------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_EXEC_EXECOPS_TD
#define MMX_DIALECT_EXEC_EXECOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mmx/Dialect/Exec/ExecDialect.td"

def Exec_BufferType : TypeDef<Exec_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a buffer of elements, without its extents";
  let description = [{
    Elements are f32, bf16, f64, i32 or i8. The op that makes the buffer says
    its extents.

    Example: `!exec.buffer<f32>`
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

def Exec_ProgramOp : Exec_Op<"program", [Symbol, IsolatedFromAbove,
                                         NoTerminator, SingleBlock]> {
  let summary = "one phase of the model as a list of host commands";
  let description = [{
    Holds buffers and launches only. A role names one input at most. `arena`
    is the size of the temporary arena in bytes; it is there, as the offset of
    every `exec.temp`, after `exec-plan-buffers`.

    Example:
    ```mlir
    exec.program @prefill {
      %ids = exec.input "ids" : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>, !exec.buffer<i32>
      %h = exec.temp : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 64)>, !exec.buffer<f32>
      exec.launch @embed(%ids, %h) writes [1]
          extents affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s0)>
          : !exec.buffer<i32>, !exec.buffer<f32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<AffineMapAttr>:$arena);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name (`arena` $arena^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

class Exec_BufferOp<string mnemonic, list<Trait> traits = [Pure]>
    : Exec_Op<mnemonic, traits # [
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let results = (outs Exec_BufferType:$result);
  let hasVerifier = 1;
}

def Exec_InputOp : Exec_BufferOp<"input"> {
  let summary = "a buffer that the caller of the program provides";
  let description = [{
    `role` names it: "ids", "positions", "starts", "slots", "past",
    "cache_rows", "pages", "logit_rows", "routing.L" (layer L) are tables (i32)
    and read; the pools "state.L", "key_cache.L", "value_cache.L" live on
    between steps and are updated in place; "logits", "hidden.L" and "experts.L"
    (i32) are written. `panel` and `along` give the layout of a pool as in `!tile.view`; 0 is row-major.

    Examples:
    ```mlir
    %ids = exec.input "ids" : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>, !exec.buffer<i32>
    %keys = exec.input "key_cache.3" panel 16 along 0
        : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s4, 2, 16)>, !exec.buffer<f32>
    ```
  }];
  let arguments = (ins StrAttr:$role, AffineMapAttr:$shape,
                       DefaultValuedAttr<I64Attr, "0">:$panel,
                       DefaultValuedAttr<I64Attr, "0">:$along);
  let assemblyFormat = [{
    $role custom<Layout>($panel, $along) attr-dict `:` $shape `,`
    qualified(type($result))
  }];
  let extraClassDeclaration = [{
    /// What a program may do with the input.
    ::mmx::exec::RoleKind getKind();
  }];
}

def Exec_WeightOp : Exec_BufferOp<"weight", [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a buffer that holds a weight";
  let description = [{
    `panel` and `along` give its layout as in `!tile.view`; 0 is row-major.

    Examples:
    ```mlir
    %n = exec.weight @final_norm : affine_map<()[s0, s1, s2, s3, s4, s5] -> (64)>, !exec.buffer<f32>
    %w = exec.weight @lm_head panel 16 along 0
        : affine_map<()[s0, s1, s2, s3, s4, s5] -> (320, 64)>, !exec.buffer<bf16>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$global, AffineMapAttr:$shape,
                       DefaultValuedAttr<I64Attr, "0">:$panel,
                       DefaultValuedAttr<I64Attr, "0">:$along);
  let assemblyFormat = [{
    $global custom<Layout>($panel, $along) attr-dict `:` $shape `,`
    qualified(type($result))
  }];
}

def Exec_ConstantOp : Exec_BufferOp<"constant"> {
  let summary = "a buffer with known contents";
  let description = [{
    Example:
    ```mlir
    %g = exec.constant dense<[0.5, 0.25]> : tensor<2xf32> : !exec.buffer<f32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let assemblyFormat = "$value attr-dict `:` qualified(type($result))";
}

def Exec_TempOp : Exec_BufferOp<"temp", []> {
  let summary = "a buffer of the arena";
  let description = [{
    `at` is its offset from the start of the arena in bytes, set by
    `exec-plan-buffers`. The contents before the first launch that writes it
    and after the last one that uses it are undefined.

    Examples:
    ```mlir
    %h = exec.temp : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 64)>, !exec.buffer<f32>
    %x = exec.temp at affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 256)>
        : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 64)>, !exec.buffer<f32>
    ```
  }];
  let arguments = (ins AffineMapAttr:$shape,
                       OptionalAttr<AffineMapAttr>:$offset);
  let results = (outs Res<Exec_BufferType, "", [MemAlloc]>:$result);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` $shape `,` qualified(type($result))";
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

def Exec_LaunchOp : Exec_Op<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    Operands are the kernel's views in order; `writes` lists, in rising order,
    those that it writes (and may read): a written buffer is a temporary, a
    pool or an output and is passed once. `extents` maps the symbols of a step
    to the kernel's dynamic extents, in order; the grid follows from them.

    Example:
    ```mlir
    exec.launch @embed(%ids, %h) writes [1]
        extents affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s0)> label "embedding"
        : !exec.buffer<i32>, !exec.buffer<f32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
                       Variadic<Exec_BufferType>:$buffers,
                       DenseI64ArrayAttr:$writes, AffineMapAttr:$extents,
                       OptionalAttr<StrAttr>:$label);
  let assemblyFormat = [{
    $kernel `(` $buffers `)` `writes` $writes `extents` $extents
    (`label` $label^)? attr-dict (`:` qualified(type($buffers))^)?
  }];
  let hasVerifier = 1;
}

#endif // MMX_DIALECT_EXEC_EXECOPS_TD
