//===- TileOps.td - Operations of the tile dialect ---------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_TILE_TILEOPS_TD
#define MMX_DIALECT_TILE_TILEOPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mmx/Dialect/Tile/TileSchedule.td"
include "mmx/Dialect/Tile/TileTypes.td"

def Tile_Scalar : AnyTypeOf<[Index, I1, I32, F32], "a uniform scalar">;
def Tile_Tile : AnyTypeOf<[Tile_SramType, Tile_FragType], "a tile">;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [
    IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "one kernel: a sequential program for every cell of a grid";
  let description = [{
    The parameters are views and `index` or `f32` scalars. `grid` maps the
    kernel's extents (all dynamic extents of its views in order, then its
    `index` parameters) to the size of the grid, at most three dimensions;
    the names after `grid` are the coordinates of a cell.

    Cells are independent: they run in any order and at the same time.

    With `cluster = array<i64: d, n>` the cells of grid dimension `d` run in
    clusters of `n` and may share loads. `schedule` holds roles and rings.

    Example:
    ```mlir
    tile.kernel @silu(%x: !tile.view<?x64xf32, read>,
                      %y: !tile.view<?x64xf32, write>)
        grid(%i) = affine_map<()[s0, s1] -> (s0 ceildiv 64)> {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %row = arith.muli %i, %c64 : index
      %a = tile.load %x[%row, %c0] dims(0, 1) : !tile.view<?x64xf32, read> -> !tile.frag<64x64xf32>
      %b = tile.map(%a) : (!tile.frag<64x64xf32>) -> !tile.frag<64x64xf32> {
      ^bb0(%v: f32, %r: index, %c: index):
        %n = arith.negf %v : f32
        %e = math.exp %n : f32
        %one = arith.constant 1.0 : f32
        %d = arith.addf %e, %one : f32
        %s = arith.divf %v, %d : f32
        tile.yield %s : f32
      }
      tile.store %b, %y[%row, %c0] dims(0, 1) : !tile.frag<64x64xf32>, !tile.view<?x64xf32, write>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, AffineMapAttr:$grid,
                       OptionalAttr<DenseI64ArrayAttr>:$cluster,
                       OptionalAttr<StrAttr>:$label,
                       OptionalAttr<Tile_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::mlir::StringAttr":$sym_name,
      "::mlir::AffineMapAttr":$grid, "::mlir::DenseI64ArrayAttr":$cluster,
      "::mlir::StringAttr":$label), [{
    build($_builder, $_state, sym_name, grid, cluster, label, ScheduleAttr());
  }]>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Parameters: the entry block's arguments without the grid coordinates.
    ::llvm::ArrayRef<::mlir::BlockArgument> getParams();
    /// The coordinates of a cell, one per grid dimension.
    ::llvm::ArrayRef<::mlir::BlockArgument> getGridIds();
    unsigned getGridRank() { return getGrid().getNumResults(); }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator,
                                     ParentOneOf<["MapOp"]>]> {
  let summary = "ends the body of a map";
  let description = [{
    Example:
    ```mlir
    tile.yield %s : f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values `:` type($values) attr-dict";
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

def Tile_DimOp : Tile_Op<"dim", [Pure]> {
  let summary = "an extent of a view";
  let description = [{
    Example:
    ```mlir
    %n = tile.dim %x, 0 : !tile.view<?x64xf32, read>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$view `,` $dim attr-dict `:` qualified(type($view))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_TableOp : Tile_Op<"table", [MemoryEffects<[MemRead]>]> {
  let summary = "reads one element as a uniform scalar";
  let description = [{
    The view must be `read`, so that every role may repeat the read. An i32
    element may be read as `index` (sign-extended). The element must lie
    within the extents.

    Example:
    ```mlir
    %s = tile.table %starts[%b] : !tile.view<?xi32, read> -> index
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$indices);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$view `[` $indices `]` attr-dict `:` "
                       "qualified(type($view)) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments,
                                   MemoryEffects<[MemRead]>]> {
  let summary = "a tile of a view";
  let description = [{
    Dimension `j` of the tile runs along dimension `dims[j]` of the view, from
    `indices` on; `dims` is increasing. Elements outside the extents of the
    view, and tile rows (dimension 0) from `rows` on, are `fill`.

    Example:
    ```mlir
    %k = tile.load %keys[%t, %h, %c0] dims(0, 2) rows %m
       : !tile.view<?x4x16xf32, read> -> !tile.sram<64x16xf32>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$indices,
                       Optional<Index>:$rows, DenseI64ArrayAttr:$dims,
                       DefaultValuedAttr<F64Attr, "0.0">:$fill);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` `dims` `` custom<Dims>($dims) (`rows` $rows^)?
    attr-dict `:` qualified(type($view)) `->` qualified(type($result))
  }];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [MemoryEffects<[MemRead]>]> {
  let summary = "a tile of rows chosen by a table";
  let description = [{
    Row `i` of the tile is taken from row `ids[start + i]` of dimension
    `dims[0]` of the view; `indices` gives the other coordinates (that of
    dimension `dims[0]` is added to the id). Rows from `rows` on are `fill`
    and their ids are not read.

    Example:
    ```mlir
    %x = tile.gather %view[%c0, %k] ids(%tokens at %start) rows %n dims(0, 1)
       : !tile.view<?x64xf32, read>, !tile.view<?xi32, read> -> !tile.sram<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$indices,
                       Tile_ViewType:$ids, Index:$start, Index:$rows,
                       DenseI64ArrayAttr:$dims,
                       DefaultValuedAttr<F64Attr, "0.0">:$fill);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` `ids` `(` $ids `at` $start `)` `rows` $rows
    `dims` `` custom<Dims>($dims) attr-dict `:` qualified(type($view)) `,`
    qualified(type($ids)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments,
                                     MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile to a view";
  let description = [{
    The mirror of `tile.load`: elements outside the extents and rows from
    `rows` on are not written; a float tile is rounded to the element type of
    the view. With `ids` row `i` goes to row `ids[start + i]` of dimension
    `dims[0]`; ids must be unique.

    Example:
    ```mlir
    tile.store %o, %out[%t, %h, %c0] dims(0, 2) rows %m
       : !tile.frag<64x16xf32>, !tile.view<?x4x16xf32, write>
    tile.store %d, %down[%c0, %f] ids(%choices at %start) rows %m dims(0, 1)
       : !tile.frag<64x64xf32>, !tile.view<?x64xf32, write>, !tile.view<?xi32, read>
    ```
  }];
  let arguments = (ins Tile_Tile:$tile, Tile_ViewType:$view,
                       Variadic<Index>:$indices, Optional<Tile_ViewType>:$ids,
                       Optional<Index>:$start, Optional<Index>:$rows,
                       DenseI64ArrayAttr:$dims);
  let assemblyFormat = [{
    $tile `,` $view `[` $indices `]` (`ids` `(` $ids^ `at` $start `)`)?
    (`rows` $rows^)? `dims` `` custom<Dims>($dims) attr-dict `:`
    qualified(type($tile)) `,` qualified(type($view))
    (`,` qualified(type($ids))^)?
  }];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def Tile_ReadOp : Tile_Op<"read", [Pure]> {
  let summary = "copies a shared-memory tile into registers";
  let description = [{
    Example:
    ```mlir
    %f = tile.read %s : !tile.sram<64x16xf32> -> !tile.frag<64x16xf32>
    ```
  }];
  let arguments = (ins Tile_SramType:$tile);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = "$tile attr-dict `:` qualified(type($tile)) `->` "
                       "qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_PutOp : Tile_Op<"put", [Pure]> {
  let summary = "copies registers into a shared-memory tile";
  let description = [{
    Example:
    ```mlir
    %s = tile.put %f : !tile.frag<64x16xf32> -> !tile.sram<64x16xf32>
    ```
  }];
  let arguments = (ins Tile_FragType:$tile);
  let results = (outs Tile_SramType:$result);
  let assemblyFormat = "$tile attr-dict `:` qualified(type($tile)) `->` "
                       "qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_MmaOp : Tile_Op<"mma", [Pure]> {
  let summary = "matrix product of two tiles, accumulated in f32";
  let description = [{
    `result = acc + op(a) op(b)`, `op` a transposition where `transpose_a` or
    `transpose_b` is given; without `acc` it is 0. Operands are bf16 or f32,
    accumulator and result f32 fragments; at most one of `a` and `b` is a
    fragment.

    Each element is a chain of fused multiply-adds in the order of the
    reduction index, so the result does not depend on how a lowering cuts
    rows and columns.

    Example:
    ```mlir
    %p = tile.mma %q, %k transpose_b
       : !tile.sram<64x16xf32>, !tile.sram<64x16xf32> -> !tile.frag<64x64xf32>
    %o = tile.mma %w, %v acc %o0
       : !tile.frag<64x64xf32>, !tile.sram<64x16xf32> -> !tile.frag<64x16xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b,
                       Optional<Tile_FragType>:$acc, UnitAttr:$transpose_a,
                       UnitAttr:$transpose_b);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = [{
    $a (`transpose_a` $transpose_a^)? `,` $b (`transpose_b` $transpose_b^)?
    (`acc` $acc^)? attr-dict `:` qualified(type($a)) `,` qualified(type($b))
    `->` custom<AccType>(ref($acc), type($acc), type($result))
  }];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [AttrSizedOperandSegments,
    RecursiveMemoryEffects, SingleBlock]> {
  let summary = "computes every element of a fragment on its own";
  let description = [{
    The body is scalar code: one argument per operand (its element at this
    position; a rank-1 operand is broadcast along the other dimension), then
    the row and the column as `index` (0 for the dimension that a rank-1
    result lacks). It may use uniform scalars of the kernel. It is pure.

    With `when %c` and `%c` false the result is operand 0.

    Example:
    ```mlir
    %m = tile.map(%p) when %diagonal : (!tile.frag<64x64xf32>) -> !tile.frag<64x64xf32> {
    ^bb0(%x: f32, %r: index, %c: index):
      %keep = arith.cmpi sge, %r, %c : index
      %zero = arith.constant 0.0 : f32
      %y = arith.select %keep, %x, %zero : f32
      tile.yield %y : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_FragType>:$operands_,
                       Optional<I1>:$when);
  let results = (outs Variadic<Tile_FragType>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combines the elements of a fragment along a dimension";
  let description = [{
    The order is part of the contract: the extent is padded with the neutral
    element to a power of two, then the upper half is folded onto the lower
    one until one element is left. With a second result (`max` only) that is
    the position of the largest element, the smallest one among equals.

    Example:
    ```mlir
    %s = tile.reduce add %x dim 1 : !tile.frag<64x32xf32> -> !tile.frag<64xf32, along 0>
    %m, %i = tile.reduce max %x dim 1
       : !tile.frag<64x32xf32> -> !tile.frag<64xf32, along 0>, !tile.frag<64xi32, along 0>
    ```
  }];
  let arguments = (ins Tile_ReduceKind:$kind, Tile_FragType:$tile,
                       I64Attr:$dim);
  let results = (outs Tile_FragType:$result, Optional<Tile_FragType>:$index);
  let assemblyFormat = [{
    $kind $tile `dim` $dim attr-dict `:` qualified(type($tile)) `->`
    qualified(type($result)) (`,` qualified(type($index))^)?
  }];
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [Pure]> {
  let summary = "running sums of a fragment along a dimension";
  let description = [{
    Element `i` is the sum of the elements up to and with `i`, or before `i`
    with `exclusive`.

    Example:
    ```mlir
    %p = tile.scan %x dim 0 exclusive : !tile.frag<64x4xi32>
    ```
  }];
  let arguments = (ins Tile_FragType:$tile, I64Attr:$dim, UnitAttr:$exclusive);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = [{
    $tile `dim` $dim (`exclusive` $exclusive^)? attr-dict `:`
    custom<SameType>(type($tile), type($result))
  }];
  let hasVerifier = 1;
}

#endif // MMX_DIALECT_TILE_TILEOPS_TD
