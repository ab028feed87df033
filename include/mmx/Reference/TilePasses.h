//===- TilePasses.h - Passes that run tile programs -------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_TILEPASSES_H
#define MMX_REFERENCE_TILEPASSES_H

#include "mlir/Pass/Pass.h"

namespace mmx::tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "mmx/Reference/TilePasses.h.inc"

} // namespace mmx::tile

#endif // MMX_REFERENCE_TILEPASSES_H
