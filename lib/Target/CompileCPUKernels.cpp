//===- CompileCPUKernels.cpp - Compiles kernels and prints their sizes ----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/CPUCodegen.h"
#include "mmx/Target/Passes.h"
#include "llvm/Support/raw_ostream.h"

namespace mmx {
#define GEN_PASS_DEF_COMPILECPUKERNELS
#include "mmx/Target/Passes.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

namespace {

struct CompileCPUKernels : mmx::impl::CompileCPUKernelsBase<CompileCPUKernels> {
  using CompileCPUKernelsBase::CompileCPUKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerCodegenDialects(registry);
  }

  void runOnOperation() override {
    auto fail = [&](llvm::Error error) {
      getOperation().emitError(llvm::toString(std::move(error)));
      signalPassFailure();
    };
    llvm::Expected<CPUTarget> machine = CPUTarget::get(target);
    if (!machine)
      return fail(machine.takeError());
    llvm::Expected<CPUObject> object =
        compileKernelsForCPU(getOperation(), *machine, {});
    if (!object)
      return fail(object.takeError());
    for (const CPUKernel &kernel : object->kernels)
      llvm::outs() << "@" << kernel.symbol << ": " << kernel.codeBytes
                   << " bytes of code, " << kernel.scratchBytes
                   << " bytes of scratch\n";
    llvm::outs() << object->kernels.size() << " kernels, object of "
                 << object->elf.size() << " bytes\n";
    markAllAnalysesPreserved();
  }
};

} // namespace
