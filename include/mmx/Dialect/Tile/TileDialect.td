//===- TileDialect.td - The tile dialect -------------------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_TILE_TILEDIALECT_TD
#define MMX_DIALECT_TILE_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::mmx::tile";
  let summary = "How one kernel computes: tiles on chip and a sequential program";
  let description = [{
    A `tile.kernel` is an ordinary sequential program over global views, tiles
    in shared memory (`!tile.sram`), register fragments (`!tile.frag`) and
    uniform scalars, run for every cell of a grid. Loops are `scf.for` with
    bounds that may depend on data; scalars use `arith`. No conditional
    encloses a tile op. `docs/tile.md` has the rules, by number.

    A schedule (roles, rings, stages) may be attached. It is data: deleting it
    does not change the meaning of the program.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

#endif // MMX_DIALECT_TILE_TILEDIALECT_TD
