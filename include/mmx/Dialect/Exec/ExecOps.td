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
    Example: `!exec.buffer<f32>`
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Exec_ProgramOp : Exec_Op<"program", [Symbol, IsolatedFromAbove,
                                         NoTerminator, SingleBlock]> {
  let summary = "one phase of the model as a list of host commands";
  let description = [{
    `arena` is the size of the temporary arena in bytes, known after
    `exec-plan-buffers`.

    Example:
    ```mlir
    exec.program @prefill {
      %ids = exec.input "ids" : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>, !exec.buffer<i32>
      %h = exec.temp : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 64)>, !exec.buffer<f32>
      exec.launch @embed(%ids, %h) extents affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s0)>
         : !exec.buffer<i32>, !exec.buffer<f32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<AffineMapAttr>:$arena);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name (`arena` $arena^)? attr-dict-with-keyword $body";
}

class Exec_BufferOp<string mnemonic> : Exec_Op<mnemonic> {
  let results = (outs Exec_BufferType:$result);
}

def Exec_InputOp : Exec_BufferOp<"input"> {
  let summary = "a buffer that the caller of the program provides";
  let description = [{
    `role` names it: "ids", "positions", "starts", "slots", "past",
    "cache_rows", "pages", "logit_rows" are read; "state.L", "key_cache.L",
    "value_cache.L" (layer L) live on between steps and are updated in place;
    "logits" and "hidden.L" are written.

    Example:
    ```mlir
    %ids = exec.input "ids" : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>, !exec.buffer<i32>
    ```
  }];
  let arguments = (ins StrAttr:$role, AffineMapAttr:$shape);
  let assemblyFormat =
      "$role attr-dict `:` $shape `,` qualified(type($result))";
}

def Exec_WeightOp : Exec_BufferOp<"weight"> {
  let summary = "a buffer that holds a weight";
  let description = [{
    `panel` and `along` give its layout as in `!tile.view`; 0 is row-major.

    Example:
    ```mlir
    %w = exec.weight @final_norm : affine_map<()[s0, s1, s2, s3, s4, s5] -> (64)>, !exec.buffer<f32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$global, AffineMapAttr:$shape,
                       DefaultValuedAttr<I64Attr, "0">:$panel,
                       DefaultValuedAttr<I64Attr, "0">:$along);
  let assemblyFormat =
      "$global attr-dict `:` $shape `,` qualified(type($result))";
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

def Exec_TempOp : Exec_BufferOp<"temp"> {
  let summary = "a buffer of the arena";
  let description = [{
    `offset` in bytes is set by `exec-plan-buffers`.

    Example:
    ```mlir
    %h = exec.temp : affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 64)>, !exec.buffer<f32>
    ```
  }];
  let arguments = (ins AffineMapAttr:$shape,
                       OptionalAttr<AffineMapAttr>:$offset);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` $shape `,` qualified(type($result))";
}

def Exec_LaunchOp : Exec_Op<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    Operands are the kernel's views in order. `extents` maps the symbols of a
    step to the kernel's dynamic extents, in order; the grid follows from
    them.

    Example:
    ```mlir
    exec.launch @embed(%ids, %h) extents affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s0)>
       : !exec.buffer<i32>, !exec.buffer<f32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
                       Variadic<Exec_BufferType>:$buffers,
                       AffineMapAttr:$extents, OptionalAttr<StrAttr>:$label);
  let assemblyFormat = [{
    $kernel `(` $buffers `)` `extents` $extents (`label` $label^)? attr-dict
    (`:` qualified(type($buffers))^)?
  }];
}

#endif // MMX_DIALECT_EXEC_EXECOPS_TD
