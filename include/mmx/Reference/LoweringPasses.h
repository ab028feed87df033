//===- LoweringPasses.h - Passes that compare levels ------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_LOWERINGPASSES_H
#define MMX_REFERENCE_LOWERINGPASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mmx::reference {

#define GEN_PASS_DECL
#include "mmx/Reference/LoweringPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "mmx/Reference/LoweringPasses.h.inc"

} // namespace mmx::reference

#endif // MMX_REFERENCE_LOWERINGPASSES_H
