//===- ReferenceModel.h - A model in the reference interpreter --*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_COMPILER_REFERENCEMODEL_H
#define MMX_LIB_COMPILER_REFERENCEMODEL_H

#include "compiler_api.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mmx/Model/ImportModel.h"
#include "mmx/Reference/MMXInterpreter.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

/// An imported module with the interpreter that runs it. The C interface
/// hands out pointers to this.
struct MmxReference {
  using Fetch = int (*)(void *context, const char *name, MmxTensor *out);

  /// Imports the model at `path`; `fetch` is asked for weights when they are
  /// first used.
  static llvm::Expected<std::unique_ptr<MmxReference>>
  open(llvm::StringRef path, const mmx::ImportOptions &options, Fetch fetch,
       void *fetchContext);

  /// Runs a function on buffers that are found by role. Pools are updated and
  /// outputs written in place; outputs without a buffer are dropped.
  llvm::Error run(llvm::StringRef function,
                  llvm::ArrayRef<MmxRoleBuffer> buffers);

  mlir::ModuleOp getModule() { return *module; }

private:
  MmxReference();

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<mmx::reference::Interpreter> interpreter;
};

#endif // MMX_LIB_COMPILER_REFERENCEMODEL_H
