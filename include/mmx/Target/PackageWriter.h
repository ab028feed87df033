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
#include "mmx/Model/TextFiles.h"
#include "mmx/Target/CPUCodegen.h"
#include "mmx/Target/GPUCodegen.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace mmx {

/// The code of the kernels of a package and the machine it is for; views of
/// what the code generators made.
struct PackageCode {
  PackageCode(const CPUObject &object, const CPUTarget &target);
  PackageCode(llvm::ArrayRef<GPUKernel> kernels, llvm::StringRef target);

  struct Object {
    llvm::ArrayRef<uint8_t> data;
    llvm::StringRef ptx;
  };
  struct Kernel {
    uint32_t object;
    uint64_t scratch;
    const GPUKernel *gpu = nullptr;
  };
  std::string target;
  std::vector<std::string> features;
  std::vector<Object> objects;
  llvm::StringMap<Kernel> kernels;
};

/// The file of schema/package.fbs for a module of `exec.program` with planned
/// buffers, the functions of its kernels (attributes `mmx.kernel` and
/// `mmx.grid`), the `mmx.global` of its weights and the attribute `mmx.model`.
/// `code` holds the code of the kernels; `dtype` is what products read, "f32"
/// or "bf16"; `texts` are carried as they are. Only weights and kernels that a
/// program uses are written.
llvm::Expected<std::vector<uint8_t>>
writePackage(mlir::ModuleOp module, const PackageCode &code,
             llvm::StringRef dtype, llvm::ArrayRef<TextFile> texts = {});

} // namespace mmx

#endif // MMX_TARGET_PACKAGEWRITER_H
