//===- Partial.h - Elements of a reduction on their way ---------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILELOWERING_PARTIAL_H
#define MMX_LIB_CONVERSION_TILELOWERING_PARTIAL_H

#include "Emitter.h"
#include "mmx/Dialect/Tile/TileOps.h"

namespace mmx::lowering {

/// Partial results, scalar or vector, with their positions (i32) if asked for.
struct Partial {
  mlir::Value value, position;
};

/// What changes no result of `kind`; of `type`, scalar or vector.
mlir::Value neutral(Emitter &e, tile::ReduceKind kind, mlir::Type type);

/// `a` and `b` as `op` combines them, `a` the one of the lower position.
Partial combine(Emitter &e, tile::ReduceOp op, Partial a, Partial b);

} // namespace mmx::lowering

#endif // MMX_LIB_CONVERSION_TILELOWERING_PARTIAL_H
