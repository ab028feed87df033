//===- LLVMCodegen.cpp - One kernel through LLVM --------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLVMCodegen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mmx/Target/CPUCodegen.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;
using namespace mmx;

std::unique_ptr<llvm::TargetMachine>
mmx::createTargetMachine(StringRef triple, StringRef cpu, StringRef features) {
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple(triple), cpu, features, options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// Scalar optimizations only: what can be done at once is already so.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     bool unroll) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = unroll;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

/// A module of its own for the kernel and the globals it uses.
static OwningOpRef<ModuleOp> isolate(FunctionOpInterface kernel) {
  OwningOpRef<ModuleOp> module(ModuleOp::create(kernel.getLoc()));
  Operation *clone = kernel->clone();
  // What is said for other readers of the module does not go into code.
  for (NamedAttribute attribute : llvm::to_vector(clone->getDiscardableAttrs()))
    clone->removeDiscardableAttr(attribute.getName());
  module->push_back(clone);
  llvm::SmallPtrSet<Operation *, 4> globals;
  kernel->walk([&](LLVM::AddressOfOp address) {
    if (Operation *global = SymbolTable::lookupNearestSymbolFrom(
            kernel, address.getGlobalNameAttr()))
      if (globals.insert(global).second)
        module->push_back(global->clone());
  });
  return module;
}

llvm::Expected<llvm::SmallVector<char, 0>>
mmx::emitKernel(FunctionOpInterface kernel, llvm::TargetMachine &machine,
                const LLVMCodegenOptions &options) {
  OwningOpRef<ModuleOp> module = isolate(kernel);
  if (llvm::Error error = lowerKernelToLLVM(*module))
    return std::move(error);
  if (options.prepare)
    options.prepare(SymbolTable::lookupSymbolIn(*module, kernel.getName()));
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(*module, context, kernel.getName());
  if (!llvmModule)
    return llvm::createStringError("cannot translate to LLVM IR");
  llvmModule->setTargetTriple(machine.getTargetTriple());
  llvmModule->setDataLayout(machine.createDataLayout());
  if (options.finish)
    options.finish(*llvmModule);
  optimize(*llvmModule, machine, options.unroll);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (options.text == CodeText::LLVMIR) {
    stream << *llvmModule;
    return std::move(bytes);
  }
  llvm::legacy::PassManager passes;
  auto fileType = options.text ? llvm::CodeGenFileType::AssemblyFile
                               : llvm::CodeGenFileType::ObjectFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, fileType))
    return llvm::createStringError("cannot emit code for this target");
  passes.run(*llvmModule);
  return std::move(bytes);
}

llvm::Error mmx::compileEach(MLIRContext *context, size_t count,
                             llvm::function_ref<llvm::Error(size_t)> compile,
                             const std::function<void(int, int)> &progress) {
  DialectRegistry registry;
  registerCodegenDialects(registry);
  context->appendDialectRegistry(registry);
  // Passes run on several threads below, where no dialect can be loaded.
  for (StringRef name : registry.getDialectNames())
    context->getOrLoadDialect(name);
  std::mutex mutex;
  llvm::Error errors = llvm::Error::success();
  int done = 0;
  parallelFor(context, 0, count, [&](size_t i) {
    llvm::Error error = compile(i);
    std::lock_guard lock(mutex);
    errors = llvm::joinErrors(std::move(errors), std::move(error));
    if (progress)
      progress(++done, count);
  });
  return errors;
}

llvm::Expected<std::string>
mmx::joinTexts(MLIRContext *context, size_t count,
               llvm::function_ref<llvm::Expected<std::string>(size_t)> print) {
  std::vector<std::string> texts(count);
  auto compile = [&](size_t i) -> llvm::Error {
    llvm::Expected<std::string> text = print(i);
    if (!text)
      return text.takeError();
    texts[i] = std::move(*text);
    return llvm::Error::success();
  };
  if (llvm::Error error = compileEach(context, count, compile, {}))
    return std::move(error);
  return llvm::join(texts, "\n");
}
