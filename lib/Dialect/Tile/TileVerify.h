//===- TileVerify.h - Shared parts of the tile verifiers --------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_DIALECT_TILE_TILEVERIFY_H
#define MMX_LIB_DIALECT_TILE_TILEVERIFY_H

#include "mlir/IR/Operation.h"
#include "mmx/Dialect/Tile/TileDialect.h"

namespace mmx::tile {

/// Shape of a !tile.sram or !tile.frag.
inline llvm::ArrayRef<int64_t> getTileShape(mlir::Type type) {
  if (auto sram = mlir::dyn_cast<SramType>(type))
    return sram.getShape();
  return mlir::cast<FragType>(type).getShape();
}

inline mlir::Type getTileElementType(mlir::Type type) {
  if (auto sram = mlir::dyn_cast<SramType>(type))
    return sram.getElementType();
  return mlir::cast<FragType>(type).getElementType();
}

/// Whether `op` computes scalars from scalars (T10).
bool isScalarOp(mlir::Operation *op);

} // namespace mmx::tile

#endif // MMX_LIB_DIALECT_TILE_TILEVERIFY_H
