//===- GPUCodegen.h - Kernels to PTX and machine code -----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the kernels of a module, functions with the attribute `mmx.kernel`
// in upstream dialects, for GPUs of NVIDIA. A kernel has a pointer for every
// view, an i64 for every extent and the pointer of a scratch area, tensor maps
// (128 bytes by value) before them. Attributes of the function:
//
//   mmx.threads   threads of a block
//   mmx.shared    bytes of dynamic shared memory of a block
//   mmx.scratch   bytes of global memory of a block
//   mmx.cluster   blocks of a cluster in x, y, z; absent: no clusters
//   mmx.warp_groups  no further loops are unrolled
//   mmx.registers registers of a thread at most; absent: what a block may have
//   mmx.spills    bytes of spilled registers that are known and accepted
//   mmx.tensor_maps  recipes of the tensor maps
//
// Ownership: results own their bytes; the module is only read. Threads: kernels
// are compiled on the threads of the module's context. Errors: llvm::Error;
// matrix products that the assembler serialises, registers that spill, and code
// that overwrites operands of a product in flight are errors.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TARGET_GPUCODEGEN_H
#define MMX_TARGET_GPUCODEGEN_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mmx/Target/Assembler.h"
#include "mmx/Target/CodeText.h"
#include "mmx/Target/MachineCodeChecker.h"
#include <functional>

namespace mmx {

struct GPUKernel {
  std::string symbol;
  std::string ptx;
  std::vector<uint8_t> cubin; ///< empty without an assembler
  AssemblyReport report;      ///< zeros without an assembler
  int64_t threads, shared, scratch;
  std::array<int64_t, 3> cluster; ///< ones without clusters
  bool cached;                    ///< found in the cache
};

struct GPUCodegenOptions {
  /// Code is kept here by content hash; empty: no cache.
  std::string cacheDirectory;
  /// The assembler; empty: PTX only.
  std::string ptxas = findAssembler();
  /// Shows the assembler's code of matrix products to a check; empty: none.
  std::string disassembler = findDisassembler();
  /// Called after each kernel, from one thread at a time.
  std::function<void(int done, int total)> progress;
};

/// The architecture that code for GPUs is made for.
inline constexpr llvm::StringLiteral gpuArchitecture = "sm_90a";

/// The kernels in the order of the module.
llvm::Expected<std::vector<GPUKernel>>
compileKernelsForGPU(mlir::ModuleOp module, const GPUCodegenOptions &options);

/// All kernels as text, in the order of the module. Nothing is cached.
llvm::Expected<std::string> printKernelsForGPU(mlir::ModuleOp module,
                                               CodeText form);

} // namespace mmx

#endif // MMX_TARGET_GPUCODEGEN_H
