//===- MMXAttrs.td - Attributes of the mmx dialect ---------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_MMX_MMXATTRS_TD
#define MMX_DIALECT_MMX_MMXATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mmx/Dialect/MMX/MMXDialect.td"

def MMX_SlopeRule : I32EnumAttr<"SlopeRule",
    "how the base slope of a head is derived from its number",
    [I32EnumAttrCase<"Interpolated", 0, "interpolated">,
     I32EnumAttrCase<"Power", 1, "power">]> {
  let cppNamespace = "::mmx";
  let genSpecializedAttr = 0;
}

def MMX_DecayAttr : AttrDef<MMX_Dialect, "Decay"> {
  let mnemonic = "decay";
  let summary = "the decay rates of the heads of one lightning layer";
  let description = [{
    The rate of head `h` in layer `l` of `N` is `g(h, l) = s(h) f(l)` (E5, E6):
    a token that is `n` tokens old counts `exp(-g n)`.

    * `rule = interpolated` (the authors' code): `s` is the ALiBi slope, with
      the slopes of the next powers of two interleaved when the head count is
      no power of two, and `f(l) = 1 - l / (N - 1) + 1e-5`.
    * `rule = power` (checkpoints with `model_type` "minimax"):
      `s(h) = 2^(-8 (h + 1) / H)` for every head count and
      `f(l) = 1 - l / (N - 1 + 1e-5) + 1e-5`.

    `layer` is the absolute index over all layers, and `first` is the global
    index of the first head that this attribute speaks of; `heads` is the
    global head count. Both matter once heads are spread over ranks.

    Example: `#mmx.decay<layer = 3, layers = 80, heads = 64>`
  }];
  let parameters = (ins
    "int64_t":$layer, "int64_t":$layers, "int64_t":$heads,
    DefaultValuedParameter<"::mmx::SlopeRule",
                           "::mmx::SlopeRule::Interpolated">:$rule,
    DefaultValuedParameter<"int64_t", "0">:$first);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// The rate g of local head `head` (global head `first + head`), > 0, in
    /// double precision (E5, E6).
    double getRate(int64_t head) const;
  }];
  let genVerifyDecl = 1;
}

def MMX_TileSizesAttr : AttrDef<MMX_Dialect, "TileSizes"> {
  let mnemonic = "tiles";
  let summary = "the tile sizes that `mmx-choose-tiles` picked for a kernel";
  let description = [{
    `rows` tokens (or query rows) and `cols` output columns form the result
    tile of one grid cell, and the reduction runs in steps of `depth`. For
    attention kernels `rows` are query rows, `cols` the value width and
    `depth` the key rows of a block.

    With `groups > 0` that many warp groups run a cell, each with a role of its
    own, where else all threads do the same; `cols` are then those of a cell.

    Examples: `#mmx.tiles<rows = 64, cols = 64, depth = 256>`,
    `#mmx.tiles<rows = 64, cols = 64, depth = 64, groups = 4>`
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "int64_t":$depth,
                        DefaultValuedParameter<"int64_t", "0">:$groups);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def MMX_SourceAttr : AttrDef<MMX_Dialect, "Source"> {
  let mnemonic = "source";
  let summary = "a tensor of a checkpoint, or a range of its rows";
  let description = [{
    `name` is the tensor's name in the checkpoint. With `rows > 0` only rows
    `[first, first + rows)` of its last-but-one dimension are meant, and with
    `index >= 0` only element `index` of its leading dimension.

    Examples: `#mmx.source<"model.norm.weight">`,
    `#mmx.source<"mlp.experts.gate_up_proj", index = 2, first = 0, rows = 96>`
  }];
  let parameters = (ins
    StringRefParameter<"tensor name">:$name,
    DefaultValuedParameter<"int64_t", "-1">:$index,
    DefaultValuedParameter<"int64_t", "0">:$first,
    DefaultValuedParameter<"int64_t", "0">:$rows);
  let assemblyFormat =
      "`<` $name (`,` struct($index, $first, $rows)^)? `>`";
}

def MMX_SourceArrayAttr : TypedArrayAttrBase<MMX_SourceAttr,
    "checkpoint tensors, stacked in order">;

#endif // MMX_DIALECT_MMX_MMXATTRS_TD
