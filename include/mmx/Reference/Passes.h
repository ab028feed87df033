//===- Passes.h - Passes that run the interpreters --------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_PASSES_H
#define MMX_REFERENCE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mmx::reference {

#define GEN_PASS_DECL
#include "mmx/Reference/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mmx/Reference/Passes.h.inc"

} // namespace mmx::reference

#endif // MMX_REFERENCE_PASSES_H
