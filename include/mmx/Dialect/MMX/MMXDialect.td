//===- MMXDialect.td - The mmx dialect ---------------------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_MMX_MMXDIALECT_TD
#define MMX_DIALECT_MMX_MMXDIALECT_TD

include "mlir/IR/OpBase.td"

def MMX_Dialect : Dialect {
  let name = "mmx";
  let cppNamespace = "::mmx";
  let summary = "What the MiniMax-01 models compute, one op per idea";
  let description = [{
    The `mmx` dialect states a model as functions over tensors in SSA form.
    Numbered equations (E1, E2, ...) and constraints (C1, C2, ...) refer to
    `docs/spec.md`.

    Conventions:

    * Sequences of different lengths are packed: the leading `?` of an
      activation counts the tokens of all sequences of a step, and a table
      `starts` of length sequences + 1 says where each sequence begins
      (`starts[0] = 0`, `starts[sequences] = tokens`). Nothing is padded.
    * A pool of recurrent states or of cache rows is a value that goes in and
      comes out and is used once; lowering aliases it in place, and a pool
      that is used twice is an error.
    * `slots[b]` is the row of a state pool that sequence `b` owns.
    * Weights are `[out, in]`; `linear(x, w) = x w^T`.
    * State, decay, statistics, routing, softmax and logits are f32 in every
      lowering. Other activations may be f32 or bf16; accumulation is f32.
    * A function of a step has `mmx.phase`, its arguments `mmx.role` and
      `mmx.shape` (the extents in the step symbols), its results `mmx.role`:
      C37 to C39.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 0;
  let dependentDialects = [];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class MMX_Op<string mnemonic, list<Trait> traits = []>
    : Op<MMX_Dialect, mnemonic, traits>;

#endif // MMX_DIALECT_MMX_MMXDIALECT_TD
