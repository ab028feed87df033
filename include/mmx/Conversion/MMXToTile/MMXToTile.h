//===- MMXToTile.h - Fusion groups as tile kernels --------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_CONVERSION_MMXTOTILE_MMXTOTILE_H
#define MMX_CONVERSION_MMXTOTILE_MMXTOTILE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"

namespace mmx {

#define GEN_PASS_DECL
#include "mmx/Conversion/MMXToTile/MMXToTilePasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "mmx/Conversion/MMXToTile/MMXToTilePasses.h.inc"

/// Attaches to the mmx ops what `convert-mmx-to-tile` asks of them: how an
/// anchor computes a grid cell, how an elementwise op computes an element.
void registerTileEmitterModels(mlir::DialectRegistry &registry);

} // namespace mmx

#endif // MMX_CONVERSION_MMXTOTILE_MMXTOTILE_H
