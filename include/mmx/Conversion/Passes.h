//===- Passes.h - Passes that go down a level -------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_CONVERSION_PASSES_H
#define MMX_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mmx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "mmx/Conversion/Passes.h.inc"

} // namespace mmx

#endif // MMX_CONVERSION_PASSES_H
