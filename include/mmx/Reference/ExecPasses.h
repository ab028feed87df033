//===- ExecPasses.h - Passes that run host programs -------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_EXECPASSES_H
#define MMX_REFERENCE_EXECPASSES_H

#include "mlir/Pass/Pass.h"

namespace mmx::exec {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "mmx/Reference/ExecPasses.h.inc"

} // namespace mmx::exec

#endif // MMX_REFERENCE_EXECPASSES_H
