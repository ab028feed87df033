//===- MMXPasses.h - Passes over the mmx dialect ----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TRANSFORMS_MMXPASSES_H
#define MMX_TRANSFORMS_MMXPASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mmx {

#define GEN_PASS_DECL
#include "mmx/Transforms/MMXPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "mmx/Transforms/MMXPasses.h.inc"

} // namespace mmx

#endif // MMX_TRANSFORMS_MMXPASSES_H
