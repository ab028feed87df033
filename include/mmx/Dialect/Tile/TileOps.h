//===- TileOps.h - Operations of the tile dialect ---------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_TILE_TILEOPS_H
#define MMX_DIALECT_TILE_TILEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mmx/Dialect/Tile/TileDialect.h"

#define GET_OP_CLASSES
#include "mmx/Dialect/Tile/TileOps.h.inc"

#endif // MMX_DIALECT_TILE_TILEOPS_H
