//===- MMXToExec.cpp - Functions of launches to host programs -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "mmx/Conversion/Passes.h"
#include "mmx/Dialect/Exec/ExecDialect.h"

namespace mmx {
#define GEN_PASS_DEF_CONVERTMMXTOEXEC
#include "mmx/Conversion/Passes.h.inc"
} // namespace mmx

using namespace mlir;

namespace {
struct ConvertMMXToExec : mmx::impl::ConvertMMXToExecBase<ConvertMMXToExec> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!function->hasAttr("mmx.phase"))
        continue;
      if (failed(mmx::ProgramBuilder(function, symbols).build()))
        return signalPassFailure();
      function.erase();
    }
  }
};
} // namespace
