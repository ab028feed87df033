//===- TileRoleOps.h - What the roles of a kernel execute -------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_TILE_TILEROLEOPS_H
#define MMX_DIALECT_TILE_TILEROLEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mmx/Dialect/Tile/TileDialect.h"

#define GET_OP_CLASSES
#include "mmx/Dialect/Tile/TileRoleOps.h.inc"

#endif // MMX_DIALECT_TILE_TILEROLEOPS_H
