//===- TileDialect.h - The tile dialect: attributes and types ---*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_TILE_TILEDIALECT_H
#define MMX_DIALECT_TILE_TILEDIALECT_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "mmx/Dialect/Tile/TileDialect.h.inc"
#include "mmx/Dialect/Tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mmx/Dialect/Tile/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "mmx/Dialect/Tile/TileTypes.h.inc"

#endif // MMX_DIALECT_TILE_TILEDIALECT_H
