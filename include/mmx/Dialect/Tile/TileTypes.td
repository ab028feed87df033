//===- TileTypes.td - Types of the tile dialect ------------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_TILE_TILETYPES_TD
#define MMX_DIALECT_TILE_TILETYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mmx/Dialect/Tile/TileDialect.td"

class Tile_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Tile_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "an array in global memory with bounds";
  let description = [{
    Row-major and contiguous. Extents may be dynamic in any dimension; an
    access outside the extents reads the fill value and stores nothing.

    `mode` is `read`, `write` (the kernel may do both) or `inplace` (every
    grid cell and loop iteration owns the slice it touches, so loads may run
    ahead of stores).

    `panel = n along = d` means that dimension `d` is stored in panels of `n`:
    the element at `(.., i_d, ..)` stands where the row-major array of shape
    `(.., ceil(D_d / n), .., n)` has `(.., i_d / n, .., i_d % n)`: the position
    within the panel is innermost, and the last panel is padded with zeros.

    Examples: `!tile.view<?x64xf32, read>`,
    `!tile.view<192x64xbf16, read, panel = 16 along 0>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType,
                        "::mmx::tile::AccessMode":$mode,
                        DefaultValuedParameter<"int64_t", "0">:$panel,
                        DefaultValuedParameter<"int64_t", "0">:$along);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    bool isDynamicDim(int64_t dim) const;
    /// Number of dynamic extents.
    int64_t getNumDynamicDims() const;
  }];
}

def Tile_SramType : Tile_Type<"Sram", "sram"> {
  let summary = "a tile in shared memory";
  let description = [{
    Rank 1 or 2, static. Its layout is chosen by lowering.

    Example: `!tile.sram<64x128xbf16>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_FragType : Tile_Type<"Frag", "frag"> {
  let summary = "a tile in the registers of one role";
  let description = [{
    Rank 2, or rank 1 with the dimension of a rank-2 tile that it runs along:
    `along 0` is one value a row, `along 1` one value a column.

    Examples: `!tile.frag<64x128xf32>`, `!tile.frag<64xf32, along 0>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType,
                        DefaultValuedParameter<"int64_t", "-1">:$along);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_AccessMode : I32EnumAttr<"AccessMode", "how a kernel uses a view",
    [I32EnumAttrCase<"Read", 0, "read">, I32EnumAttrCase<"Write", 1, "write">,
     I32EnumAttrCase<"Inplace", 2, "inplace">]> {
  let cppNamespace = "::mmx::tile";
  let genSpecializedAttr = 0;
}

def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "how values are combined",
    [I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::mmx::tile";
}

#endif // MMX_DIALECT_TILE_TILETYPES_TD
