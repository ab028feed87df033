//===- CPUCodegen.h - Kernels to a shared object for the CPU ----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the kernels of a module, functions with the attribute `mmx.kernel`
// in upstream dialects, to one ELF shared object:
//
//   void kernel(void *const *buffers, const int64_t *extents,
//               int64_t i, int64_t j, int64_t k, void *scratch)
//
// Ownership: the result owns its bytes; the module is only read. Threads:
// kernels are compiled on the threads of the module's context; calls on
// different contexts may run at the same time. Errors: llvm::Error.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TARGET_CPUCODEGEN_H
#define MMX_TARGET_CPUCODEGEN_H

#include "mlir/IR/BuiltinOps.h"
#include "mmx/Target/CodeText.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mmx {

/// An x86-64 microarchitecture level: what code may rely on.
struct CPUTarget {
  std::string name;                  ///< "cpu-v3" (AVX2) or "cpu-v4" (AVX-512)
  std::string cpu;                   ///< the level as LLVM names it
  std::vector<std::string> features; ///< as /proc/cpuinfo spells them
  int64_t vectorLanes;               ///< f32 lanes of a register

  /// "cpu" is the highest level that this machine has.
  static llvm::Expected<CPUTarget> get(llvm::StringRef name);
};

/// What one kernel became.
struct CPUKernel {
  std::string symbol;
  uint64_t codeBytes;    ///< machine code
  uint64_t scratchBytes; ///< private memory of one running cell
  bool cached;           ///< found in the cache
};

struct CPUObject {
  std::vector<uint8_t> elf;
  std::vector<CPUKernel> kernels; ///< in the order of the module
};

struct CPUCodegenOptions {
  /// Objects are kept here by content hash; empty: no cache.
  std::string cacheDirectory;
  /// Called after each kernel, from one thread at a time.
  std::function<void(int done, int total)> progress;
};

/// A kernel with more code than this is an error: a tile was unrolled.
inline constexpr uint64_t maxKernelCodeBytes = 64 << 10;

llvm::Expected<CPUObject>
compileKernelsForCPU(mlir::ModuleOp module, const CPUTarget &target,
                     const CPUCodegenOptions &options);

/// All kernels as text, in the order of the module. Nothing is cached.
llvm::Expected<std::string> printKernelsForCPU(mlir::ModuleOp module,
                                               const CPUTarget &target,
                                               CodeText form);

/// The LLVM dialect for one kernel function inside a module of its own.
llvm::Error lowerKernelToLLVM(mlir::ModuleOp module);

/// Dialects and translations that the calls above need.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// Links objects into one shared object. Serialised: lld is not re-entrant.
llvm::Expected<std::vector<uint8_t>>
linkSharedObject(llvm::ArrayRef<std::vector<uint8_t>> objects);

} // namespace mmx

#endif // MMX_TARGET_CPUCODEGEN_H
