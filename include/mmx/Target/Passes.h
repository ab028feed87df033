//===- Passes.h - Passes that run generated code ----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TARGET_PASSES_H
#define MMX_TARGET_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mmx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "mmx/Target/Passes.h.inc"

} // namespace mmx

#endif // MMX_TARGET_PASSES_H
