//===- MMXInterfaces.h - Interfaces of mmx ops ------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_MMX_MMXINTERFACES_H
#define MMX_DIALECT_MMX_MMXINTERFACES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

namespace mmx {

/// The extents of a tensor, one affine expression a dimension, in the symbols
/// of a step (see `StepSymbol`).
using SymbolicShape = llvm::SmallVector<mlir::AffineExpr>;

/// The quantities that vary from step to step, numbered as affine symbols.
enum class StepSymbol : unsigned {
  Tokens,      ///< tokens of all sequences
  Sequences,   ///< sequences of the step
  Outputs,     ///< rows whose logits are wanted
  Slots,       ///< rows of the state pools
  CacheRows,   ///< rows of the cache pools
  PageColumns, ///< columns of the page table
};
inline constexpr unsigned numStepSymbols = 6;

/// What `mmx-fuse` may do with an op.
enum class FusionKind {
  Elementwise, ///< each result element from operand elements in place
  Reindex,     ///< only renames elements: folds into any neighbour
  Anchor,      ///< a loop of its own: one in each kernel
  Isolated,    ///< an anchor whose results no elementwise op can follow
};

} // namespace mmx

#include "mmx/Dialect/MMX/MMXInterfaces.h.inc"

#endif // MMX_DIALECT_MMX_MMXINTERFACES_H
