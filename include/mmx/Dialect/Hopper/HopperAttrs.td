//===- HopperAttrs.td - Layouts in shared memory -----------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_HOPPER_HOPPERATTRS_TD
#define MMX_DIALECT_HOPPER_HOPPERATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mmx/Dialect/Hopper/HopperDialect.td"

def Hopper_MatrixAttr : AttrDef<Hopper_Dialect, "Matrix"> {
  let mnemonic = "matrix";
  let summary = "how a matrix stands in shared memory";
  let description = [{
    Rows x columns of bf16 or f16, columns contiguous, in panels of `swizzle`
    bytes (128, 64 or 32) of columns. A panel holds all rows, one after another;
    panels follow each other at `panel` bytes, which defaults to
    `rows * swizzle` and is given for a part of the rows of a larger matrix.
    Within the 8 rows of a group, the 16-byte units of a row are permuted: bits
    4 and up of the address are exclusive-ored with bits 7 and up, as many as
    the swizzle has. This is what a bulk tensor load with this swizzle and boxes
    of `swizzle` bytes x `rows` writes, panel by panel.

    The address of the matrix is a multiple of `8 * swizzle` bytes.

    Examples: `#hopper.matrix<64x128xbf16, swizzle = 128>`,
    `#hopper.matrix<64x128xbf16, swizzle = 64, panel = 8192>`
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols,
                        "::mlir::Type":$elementType, "int64_t":$swizzle,
                        "int64_t":$panel);
  let builders = [
    AttrBuilder<(ins "int64_t":$rows, "int64_t":$cols,
                     "::mlir::Type":$elementType, "int64_t":$swizzle), [{
      return $_get($_ctxt, rows, cols, elementType, swizzle, rows * swizzle);
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Columns of one panel.
    int64_t getPanelCols() const { return getSwizzle() / 2; }
    /// Panels side by side.
    int64_t getNumPanels() const { return getCols() / getPanelCols(); }
  }];
}

#endif // MMX_DIALECT_HOPPER_HOPPERATTRS_TD
