//===- MMXToTilePasses.td - From fusion groups to kernels --*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_CONVERSION_MMXTOTILE_MMXTOTILEPASSES_TD
#define MMX_CONVERSION_MMXTOTILE_MMXTOTILEPASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertMMXToTile : Pass<"convert-mmx-to-tile", "::mlir::ModuleOp"> {
  let summary = "turns fusion groups into tile kernels and launches";
  let description = [{
    Every `mmx.kernel` becomes a `tile.kernel` of the module and an
    `mmx.launch` of it. Kernels with the same text are shared: what differs
    from layer to layer (decay rates) is an operand. The anchor of the group
    owns the loops and the grid, elementwise ops become one map on its result
    tile, and ops that rename elements become the shape of a view.

    Arguments of the function with dynamic extents carry `mmx.shape`, a map
    from the symbols of a step to their extents.

    Example:
    ```mlir
    %y = mmx.kernel(%a = %x, %b = %w) : (tensor<?x64xf32>, tensor<192x64xbf16>) -> tensor<?x192xf32> {
      %0 = mmx.linear %a, %b : ...
      %1 = mmx.silu %0 : ...
      mmx.yield %1 : ...
    }
    ```
    becomes
    ```mlir
    %y = mmx.launch @linear_silu_192x64_bf16(%x, %w) inplace [-1] shapes [...] : ...
    ```
  }];
  let options = [
    Option<"panel", "panel", "int64_t", /*default=*/"16",
           "rows of a panel in which weights of products and key caches are "
           "stored; 0 for row-major">];
  let statistics = [
    Statistic<"numKernels", "kernels", "tile kernels made">,
    Statistic<"numShared", "shared", "launches of a kernel made before">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mmx::tile::TileDialect"];
}

#endif // MMX_CONVERSION_MMXTOTILE_MMXTOTILEPASSES_TD
