//===- CPUCodegen.cpp - Kernels to a shared object for the CPU ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/CPUCodegen.h"

#include "KernelCache.h"
#include "LLVMCodegen.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;
using namespace mmx;

namespace {
/// Part of the cache key: raise it when the code below changes what it emits.
constexpr llvm::StringLiteral codegenVersion = "1";

constexpr llvm::StringLiteral triple = "x86_64-unknown-linux-gnu";

/// One kernel on its way.
struct Job {
  func::FuncOp kernel;
  std::vector<uint8_t> object;
  CPUKernel result;
};
} // namespace

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

/// Tells the back end that full registers are wanted: by default it prefers
/// 256 bits even where there are 512.
static void setVectorWidth(llvm::Function &function, const CPUTarget &target) {
  std::string bits = std::to_string(target.vectorLanes * 32);
  function.addFnAttr("min-legal-vector-width", bits);
  function.addFnAttr("prefer-vector-width", bits);
  function.addFnAttr("target-cpu", target.cpu);
}

/// An object, or a text if one is wanted.
static llvm::Expected<llvm::SmallVector<char, 0>>
emit(func::FuncOp kernel, const CPUTarget &target,
     std::optional<CodeText> text) {
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(triple, target.cpu, /*features=*/"");
  if (!machine)
    return llvm::createStringError("this LLVM has no target " + triple);
  auto finish = [&](llvm::Module &module) {
    for (llvm::Function &function : module)
      if (!function.isDeclaration())
        setVectorWidth(function, target);
  };
  LLVMCodegenOptions options;
  options.finish = finish;
  options.text = text;
  auto bytes = emitKernel(kernel, *machine, options);
  if (!bytes)
    return llvm::createStringError("kernel @" + kernel.getName() + ": " +
                                   llvm::toString(bytes.takeError()));
  return bytes;
}

/// Bytes of machine code of function `symbol` in an object.
static uint64_t getCodeBytes(ArrayRef<uint8_t> object, StringRef symbol) {
  llvm::MemoryBufferRef buffer(llvm::toStringRef(object), "kernel");
  auto file = llvm::object::ObjectFile::createELFObjectFile(buffer);
  if (!file) {
    llvm::consumeError(file.takeError());
    return 0;
  }
  for (llvm::object::ELFSymbolRef candidate : (*file)->symbols()) {
    llvm::Expected<StringRef> name = candidate.getName();
    if (name && *name == symbol &&
        candidate.getELFType() == llvm::ELF::STT_FUNC)
      return candidate.getSize();
    if (!name)
      llvm::consumeError(name.takeError());
  }
  return 0;
}

static llvm::Error compileKernel(Job &job, const CPUTarget &target,
                                 const CPUCodegenOptions &options) {
  StringRef symbol = job.kernel.getName();
  std::string entry =
      hashKernel(job.kernel, (codegenVersion + target.cpu).str()) + ".o";
  std::optional<std::vector<uint8_t>> cached =
      readCacheEntry(options.cacheDirectory, entry);
  // A damaged entry has no such symbol and is made anew.
  if (cached && getCodeBytes(*cached, symbol) > 0) {
    job.object = std::move(*cached);
    job.result.cached = true;
  } else {
    auto object = emit(job.kernel, target, /*text=*/std::nullopt);
    if (!object)
      return object.takeError();
    job.object.assign(object->begin(), object->end());
    writeCacheEntry(options.cacheDirectory, entry, job.object);
  }
  job.result.symbol = symbol.str();
  job.result.codeBytes = getCodeBytes(job.object, symbol);
  if (auto scratch = job.kernel->getAttrOfType<IntegerAttr>("mmx.scratch"))
    job.result.scratchBytes = scratch.getInt();
  if (job.result.codeBytes > maxKernelCodeBytes)
    return llvm::createStringError(
        "kernel @" + symbol + ": expected at most " +
        llvm::Twine(maxKernelCodeBytes) + " bytes of code, but got " +
        llvm::Twine(job.result.codeBytes) +
        "; a tile was unrolled: choose smaller tiles");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// All kernels
//===----------------------------------------------------------------------===//

static void initializeX86() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
}

static SmallVector<func::FuncOp> collectKernels(ModuleOp module) {
  return llvm::filter_to_vector(
      module.getOps<func::FuncOp>(),
      [](func::FuncOp function) { return function->hasAttr("mmx.kernel"); });
}

llvm::Expected<std::string> mmx::printKernelsForCPU(ModuleOp module,
                                                    const CPUTarget &target,
                                                    CodeText form) {
  initializeX86();
  SmallVector<func::FuncOp> kernels = collectKernels(module);
  auto print = [&](size_t i) -> llvm::Expected<std::string> {
    auto text = emit(kernels[i], target, form);
    if (!text)
      return text.takeError();
    return std::string(text->begin(), text->end());
  };
  return joinTexts(module.getContext(), kernels.size(), print);
}

llvm::Expected<CPUObject>
mmx::compileKernelsForCPU(ModuleOp module, const CPUTarget &target,
                          const CPUCodegenOptions &options) {
  initializeX86();
  std::vector<Job> jobs;
  for (func::FuncOp kernel : collectKernels(module))
    jobs.push_back({kernel, {}, {}});

  auto compile = [&](size_t i) {
    return compileKernel(jobs[i], target, options);
  };
  if (llvm::Error error = compileEach(module.getContext(), jobs.size(), compile,
                                      options.progress))
    return std::move(error);

  std::vector<std::vector<uint8_t>> objects;
  CPUObject result;
  for (Job &job : jobs) {
    objects.push_back(std::move(job.object));
    result.kernels.push_back(std::move(job.result));
  }
  llvm::Expected<std::vector<uint8_t>> elf = linkSharedObject(objects);
  if (!elf)
    return elf.takeError();
  result.elf = std::move(*elf);
  return result;
}
