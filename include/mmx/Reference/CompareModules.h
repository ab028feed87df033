//===- CompareModules.h - Whether two modules mean the same -----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_COMPAREMODULES_H
#define MMX_REFERENCE_COMPAREMODULES_H

#include "mlir/IR/BuiltinOps.h"
#include "mmx/Reference/RandomInputs.h"

namespace mmx::reference {

/// Runs every function of `before` that has a body in both modules, on the
/// same random arguments and weights. Success if each result differs by at
/// most `tolerance` times its largest element (or 1, if that is larger). An
/// element that is NaN before is undefined and may become anything.
///
/// The error says which function, result and element differ most. Modules are
/// not changed. `count`, if given, is the number of functions that ran.
llvm::Error compareModules(mlir::ModuleOp before, mlir::ModuleOp after,
                           uint64_t seed, double tolerance,
                           StepSizes sizes = {}, unsigned *count = nullptr);

} // namespace mmx::reference

#endif // MMX_REFERENCE_COMPAREMODULES_H
