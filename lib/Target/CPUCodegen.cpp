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

static llvm::Expected<std::vector<uint8_t>>
emitObject(func::FuncOp kernel, const CPUTarget &target) {
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
  auto bytes = emitKernel(kernel, *machine, options);
  if (!bytes)
    return bytes.takeError();
  return std::vector<uint8_t>(bytes->begin(), bytes->end());
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
    llvm::Expected<std::vector<uint8_t>> object =
        emitObject(job.kernel, target);
    if (!object)
      return llvm::createStringError("kernel @" + symbol + ": " +
                                     llvm::toString(object.takeError()));
    job.object = std::move(*object);
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

llvm::Expected<CPUObject>
mmx::compileKernelsForCPU(ModuleOp module, const CPUTarget &target,
                          const CPUCodegenOptions &options) {
  initializeX86();
  std::vector<Job> jobs;
  for (auto kernel : module.getOps<func::FuncOp>())
    if (kernel->hasAttr("mmx.kernel"))
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
