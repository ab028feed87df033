//===- PackageWriter.h - From host programs to a package --------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors are values, the module is only read, and equal inputs give equal
// bytes.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TARGET_PACKAGEWRITER_H
#define MMX_TARGET_PACKAGEWRITER_H

#include "mlir/IR/BuiltinOps.h"
#include "mmx/Target/CPUCodegen.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace mmx {

/// The file of schema/package.fbs for a module of `exec.program` with planned
/// buffers, the functions of its kernels (attributes `mmx.kernel` and
/// `mmx.grid`), the `mmx.global` of its weights and the attribute `mmx.model`.
/// `object` holds the code of the kernels for `target`; `dtype` is what
/// products read, "f32" or "bf16". Only weights and kernels that a program
/// uses are written.
llvm::Expected<std::vector<uint8_t>> writePackage(mlir::ModuleOp module,
                                                  const CPUObject &object,
                                                  const CPUTarget &target,
                                                  llvm::StringRef dtype);

} // namespace mmx

#endif // MMX_TARGET_PACKAGEWRITER_H
