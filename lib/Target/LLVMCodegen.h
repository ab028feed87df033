//===- LLVMCodegen.h - One kernel through LLVM ------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_TARGET_LLVMCODEGEN_H
#define MMX_LIB_TARGET_LLVMCODEGEN_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mmx/Target/CodeText.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mmx {

/// The machine `cpu` of `triple`; products are fused only where a kernel says
/// so, since results must not depend on what the optimizer finds. Null if this
/// LLVM has no such target.
std::unique_ptr<llvm::TargetMachine>
createTargetMachine(llvm::StringRef triple, llvm::StringRef cpu,
                    llvm::StringRef features);

struct LLVMCodegenOptions {
  /// Unroll loops where LLVM finds it worthwhile.
  bool unroll = false;
  /// Emit a text; none: an object.
  std::optional<CodeText> text;
  /// Prepares the function of the kernel, still an op of the LLVM dialect.
  llvm::function_ref<void(mlir::Operation *)> prepare;
  /// Prepares the module before it is optimized.
  llvm::function_ref<void(llvm::Module &)> finish;
};

/// Lowers a copy of `kernel`, with the globals it uses, and emits it.
llvm::Expected<llvm::SmallVector<char, 0>>
emitKernel(mlir::FunctionOpInterface kernel, llvm::TargetMachine &machine,
           const LLVMCodegenOptions &options);

/// Appends the texts of kernels, which `print` makes on the threads of
/// `context`, in order.
llvm::Expected<std::string>
joinTexts(mlir::MLIRContext *context, size_t count,
          llvm::function_ref<llvm::Expected<std::string>(size_t)> print);

/// Calls compile(i) for all i below `count` on the threads of `context`, which
/// gets the dialects that code generation needs, and `progress` after each,
/// from one thread at a time.
llvm::Error compileEach(mlir::MLIRContext *context, size_t count,
                        llvm::function_ref<llvm::Error(size_t)> compile,
                        const std::function<void(int, int)> &progress);

} // namespace mmx

#endif // MMX_LIB_TARGET_LLVMCODEGEN_H
