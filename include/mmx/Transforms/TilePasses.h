//===- TilePasses.h - Passes on the tile dialect ----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TRANSFORMS_TILEPASSES_H
#define MMX_TRANSFORMS_TILEPASSES_H

#include "mlir/Pass/Pass.h"

namespace mmx::tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "mmx/Transforms/TilePasses.h.inc"

} // namespace mmx::tile

#endif // MMX_TRANSFORMS_TILEPASSES_H
