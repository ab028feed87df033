//===- TileEmitterInterfaces.h - mmx ops as tile programs -------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_CONVERSION_MMXTOTILE_TILEEMITTERINTERFACES_H
#define MMX_CONVERSION_MMXTOTILE_TILEEMITTERINTERFACES_H

#include "mlir/IR/OpDefinition.h"

namespace mmx {

class KernelEmitter;
struct ElementContext;

/// Which elements of an operand one element of the result depends on.
enum class OperandAccess {
  Element,   ///< the one at the same place
  PerRow,    ///< one for each row: a statistic, a coefficient
  PerColumn, ///< one for each column: the weight of a norm
  None,      ///< none: only the operand's extents matter
};

} // namespace mmx

#include "mmx/Conversion/MMXToTile/TileEmitterInterfaces.h.inc"

#endif // MMX_CONVERSION_MMXTOTILE_TILEEMITTERINTERFACES_H
