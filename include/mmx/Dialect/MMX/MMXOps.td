//===- MMXOps.td - Operations of the mmx dialect -----------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_MMX_MMXOPS_TD
#define MMX_DIALECT_MMX_MMXOPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mmx/Dialect/MMX/MMXAttrs.td"
include "mmx/Dialect/MMX/MMXInterfaces.td"

/// f32 or bf16 activations; f64 so that exact references can be written.
def MMX_Float : AnyTypeOf<[F32, BF16, F64], "f32, bf16 or f64">;
def MMX_Rows : TensorRankOf<[MMX_Float], [2]>;          // [tokens, width]
def MMX_Heads : TensorRankOf<[MMX_Float], [3]>;         // [tokens, heads, dim]
def MMX_Activation : TensorRankOf<[MMX_Float], [2, 3]>;
def MMX_Weight : TensorRankOf<[MMX_Float], [1, 2, 3]>;
def MMX_Stat : TensorRankOf<[F32], [1]>;                // one value a token
def MMX_Index : TensorRankOf<[I32], [1]>;               // tables
def MMX_PageTable : TensorRankOf<[I32], [2]>;           // [sequences, pages]
def MMX_States : TensorRankOf<[F32], [4]>;              // [slots, H, D, D]
def MMX_Cache : TensorRankOf<[MMX_Float], [3]>;         // [rows, kv heads, dim]
def MMX_Scores : TensorRankOf<[MMX_Float], [3]>;        // [heads, m, m]

include "mmx/Dialect/MMX/MMXModelOps.td"
include "mmx/Dialect/MMX/MMXAttentionOps.td"
include "mmx/Dialect/MMX/MMXExpertOps.td"
include "mmx/Dialect/MMX/MMXBlockOps.td"

#endif // MMX_DIALECT_MMX_MMXOPS_TD
