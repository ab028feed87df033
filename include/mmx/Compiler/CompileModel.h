//===- CompileModel.h - From a checkpoint to a package ----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What mmx-compile and libmmx-compiler do. Errors are values with messages of
// one or more lines; nothing is printed. Calls on different contexts may run
// at the same time.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_COMPILER_COMPILEMODEL_H
#define MMX_COMPILER_COMPILEMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mmx/Compiler/Pipeline.h"
#include "mmx/Model/ImportModel.h"
#include "mmx/Target/CodeText.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace mmx {

/// $MMX_CACHE_DIR, or mmx in the user's cache folder.
std::string getCacheDirectory();

/// The assembler with its version and the disassembler that packages for a GPU
/// pass through; empty for a CPU.
std::string describeTools(llvm::StringRef target);

struct CompileOptions {
  std::string target = "cpu";
  std::string dtype = "f32"; ///< "f32" or "bf16": what products read
  int64_t block = 0;         ///< tokens of a lightning block; 0: chosen
  bool keepHidden = false;   ///< programs also write "hidden.L"
  bool routing = false; ///< programs read "routing.L" and write "experts.L"
  /// The package carries the tokenizer and what else text needs.
  bool texts = false;
  bool explain = false;      ///< remarks on the choice of tiles
  std::string dumpDirectory; ///< the module after each pass; empty: none

  /// Kernels are kept here by content; empty: no cache.
  std::string cacheDirectory = getCacheDirectory();
  /// Where a pass that fails leaves the module it got; empty: nowhere.
  std::string reproducer;
  /// Receive warnings and remarks, one or more lines each.
  std::function<void(llvm::StringRef)> warn, remark;
  /// Called as stages advance.
  std::function<void(llvm::StringRef stage, int done, int total)> progress;
};

/// Imports the model and lowers it to `level`. `context` must know the
/// dialects of `registerPipelineDialects`.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
lowerModel(mlir::MLIRContext &context, const ModelFiles &files,
           const CompileOptions &options, Level level);

/// The same for a module that is already imported, in a file of MLIR.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
lowerFile(mlir::MLIRContext &context, llvm::StringRef path,
          const CompileOptions &options, Level level);

/// The code of all kernels of a module at `Level::LLVM`, as text.
llvm::Expected<std::string>
printCode(mlir::ModuleOp module, const CompileOptions &options, CodeText form);

/// Compiles the model at `path` and returns the bytes of its package.
llvm::Expected<std::vector<uint8_t>>
compileModel(llvm::StringRef path, const CompileOptions &options);

} // namespace mmx

#endif // MMX_COMPILER_COMPILEMODEL_H
