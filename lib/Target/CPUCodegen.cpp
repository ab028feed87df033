//===- CPUCodegen.cpp - Kernels to a shared object for the CPU ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/CPUCodegen.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
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
// Cache
//===----------------------------------------------------------------------===//

static std::string hashKernel(func::FuncOp kernel, const CPUTarget &target) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << codegenVersion << LLVM_VERSION_STRING << target.cpu;
  kernel->print(stream, OpPrintingFlags().useLocalScope());
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(digest, /*LowerCase=*/true);
}

static std::optional<std::vector<uint8_t>> readCache(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return std::nullopt;
  return std::vector<uint8_t>((*buffer)->getBufferStart(),
                              (*buffer)->getBufferEnd());
}

/// A failure to write only costs time later. Written aside and renamed, so
/// that nobody reads half a file.
static void writeCache(StringRef path, ArrayRef<uint8_t> object) {
  SmallString<128> temporary;
  int fd;
  if (llvm::sys::fs::createUniqueFile(path + "-%%%%%%", fd, temporary))
    return;
  llvm::raw_fd_ostream stream(fd, /*shouldClose=*/true);
  stream.write(reinterpret_cast<const char *>(object.data()), object.size());
  stream.close();
  bool failed = stream.has_error();
  stream.clear_error();
  if (failed || llvm::sys::fs::rename(temporary, path))
    llvm::sys::fs::remove(temporary);
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const CPUTarget &target) {
  std::string error;
  const llvm::Target *llvmTarget =
      llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
  if (!llvmTarget)
    return nullptr;
  llvm::TargetOptions options;
  // Products are fused only where a kernel says so: results must not depend
  // on what the optimizer finds.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(llvmTarget->createTargetMachine(
      llvm::Triple(triple), target.cpu, "", options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// Scalar optimizations only: loops are already in vectors.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
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
  OwningOpRef<ModuleOp> module(ModuleOp::create(kernel.getLoc()));
  Operation *clone = kernel->clone();
  // What is said for other readers of the module does not go into code.
  for (NamedAttribute attribute : llvm::to_vector(clone->getDiscardableAttrs()))
    clone->removeDiscardableAttr(attribute.getName());
  module->push_back(clone);
  if (llvm::Error error = lowerKernelToLLVM(*module))
    return std::move(error);

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(*module, context, kernel.getName());
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(target);
  if (!llvmModule || !machine)
    return llvm::createStringError("cannot translate to LLVM IR");
  llvmModule->setTargetTriple(llvm::Triple(triple));
  llvmModule->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *llvmModule)
    if (!function.isDeclaration())
      setVectorWidth(function, target);
  optimize(*llvmModule, *machine);

  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("cannot emit an object file");
  passes.run(*llvmModule);
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
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
  SmallString<128> cachePath(options.cacheDirectory);
  std::optional<std::vector<uint8_t>> cached;
  if (!cachePath.empty()) {
    llvm::sys::path::append(cachePath, hashKernel(job.kernel, target) + ".o");
    cached = readCache(cachePath);
  }
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
    if (!cachePath.empty())
      writeCache(cachePath, job.object);
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
  MLIRContext *context = module.getContext();
  DialectRegistry registry;
  registerCPUCodegenDialects(registry);
  context->appendDialectRegistry(registry);
  // Passes run on several threads below, where no dialect can be loaded.
  for (StringRef name : registry.getDialectNames())
    context->getOrLoadDialect(name);
  if (!options.cacheDirectory.empty())
    llvm::sys::fs::create_directories(options.cacheDirectory);

  std::vector<Job> jobs;
  for (auto kernel : module.getOps<func::FuncOp>())
    if (kernel->hasAttr("mmx.kernel"))
      jobs.push_back({kernel, {}, {}});

  std::mutex mutex;
  llvm::Error errors = llvm::Error::success();
  int done = 0;
  parallelForEach(context, jobs, [&](Job &job) {
    llvm::Error error = compileKernel(job, target, options);
    std::lock_guard lock(mutex);
    errors = llvm::joinErrors(std::move(errors), std::move(error));
    if (options.progress)
      options.progress(++done, jobs.size());
  });
  if (errors)
    return std::move(errors);

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
