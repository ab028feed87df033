//===- GPUCodegen.cpp - Kernels to PTX and machine code -------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/GPUCodegen.h"

#include "KernelCache.h"
#include "LLVMCodegen.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mmx/Target/CPUCodegen.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;
using namespace mmx;

/// Part of the cache key: raise it when the code below changes what it emits.
static constexpr llvm::StringLiteral codegenVersion = "gpu1";

/// Part of the mark of checked code: raise it when the check finds more.
static constexpr llvm::StringLiteral checkerVersion = "check1";

static constexpr llvm::StringLiteral triple = "nvptx64-nvidia-cuda";
static constexpr llvm::StringLiteral features = "+ptx80";

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

static int64_t getNumber(Operation *op, StringRef name, int64_t missing) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : missing;
}

static GPUKernel describe(FunctionOpInterface kernel) {
  GPUKernel result = {};
  result.symbol = kernel.getName().str();
  result.threads = getNumber(kernel, "mmx.threads", 1);
  result.shared = getNumber(kernel, "mmx.shared", 0);
  result.scratch = getNumber(kernel, "mmx.scratch", 0);
  result.cluster = {1, 1, 1};
  if (auto cluster = kernel->getAttrOfType<DenseI64ArrayAttr>("mmx.cluster"))
    llvm::copy(cluster.asArrayRef().take_front(3), result.cluster.begin());
  return result;
}

static llvm::Expected<std::string> emitText(FunctionOpInterface kernel,
                                            const GPUKernel &description,
                                            CodeText form) {
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(triple, gpuArchitecture, features);
  if (!machine)
    return llvm::createStringError("this LLVM has no target " + triple);
  auto prepare = [&](Operation *function) {
    Builder builder(function->getContext());
    auto numbers = [&](ArrayRef<int32_t> values) {
      return builder.getDenseI32ArrayAttr(values);
    };
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                      builder.getUnitAttr());
    function->setAttr(
        NVVM::NVVMDialect::getReqntidAttrName(),
        numbers({static_cast<int32_t>(description.threads), 1, 1}));
    if (int64_t registers = getNumber(kernel, "mmx.registers", 0))
      function->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(),
                        builder.getI32IntegerAttr(registers));
    else
      function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                        builder.getI32IntegerAttr(1));
    // Tensor maps stay where the launch put them.
    auto arguments = cast<FunctionOpInterface>(function);
    for (unsigned i = 0; i < arguments.getNumArguments(); ++i)
      if (arguments.getArgAttr(i, LLVM::LLVMDialect::getByValAttrName()))
        arguments.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                             builder.getUnitAttr());
    SmallVector<int32_t> cluster(description.cluster.begin(),
                                 description.cluster.end());
    if (llvm::any_of(cluster, [](int32_t n) { return n != 1; }))
      function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                        numbers(cluster));
  };
  LLVMCodegenOptions options;
  // Code for warp groups is unrolled as it should be; registers are short.
  options.unroll = !kernel->hasAttr("mmx.warp_groups");
  options.text = form;
  options.prepare = prepare;
  auto text = emitKernel(kernel, *machine, options);
  if (!text)
    return text.takeError();
  return std::string(text->begin(), text->end());
}

/// The assembler is content with more than we are.
static llvm::Error checkReport(const AssemblyReport &report, int64_t accepted) {
  if (!report.remarks.empty())
    return llvm::createStringError("the assembler remarks:\n" +
                                   llvm::join(report.remarks, "\n"));
  if (report.spillBytes > accepted)
    return llvm::createStringError(
        "expected at most " + llvm::Twine(accepted) +
        " bytes of spilled registers, but got " +
        llvm::Twine(report.spillBytes) + " (" + llvm::Twine(report.registers) +
        " registers, " + llvm::Twine(report.stackBytes) +
        " bytes of stack); choose smaller tiles");
  return llvm::Error::success();
}

static llvm::StringRef toText(ArrayRef<uint8_t> bytes) {
  return llvm::toStringRef(bytes);
}

/// The assembler gives registers away that a product in flight still reads.
static llvm::Error checkCode(const GPUKernel &kernel, StringRef disassembler) {
  auto listing = disassemble(disassembler, kernel.cubin);
  if (!listing)
    return listing.takeError();
  std::vector<std::string> findings = findOperandsInFlight(*listing);
  if (findings.empty())
    return llvm::Error::success();
  return llvm::createStringError("the assembler's code is wrong:\n" +
                                 llvm::join(findings, "\n"));
}

namespace {
/// Compiles one kernel, or takes it from the cache. Its entries are H.ptx by
/// the hash H of the kernel, and by the hash A of PTX and assembler A.cubin,
/// A.log and A.checked, the hash of a cubin that passed the check.
class KernelCompiler {
public:
  KernelCompiler(FunctionOpInterface kernel, GPUKernel &result,
                 const GPUCodegenOptions &options, StringRef assembler)
      : kernel(kernel), result(result), options(options), assembler(assembler) {
  }
  llvm::Error run();

private:
  llvm::Error getPTX();
  llvm::Error getCode();
  llvm::Error check(StringRef hash);

  FunctionOpInterface kernel;
  GPUKernel &result;
  const GPUCodegenOptions &options;
  StringRef assembler; ///< its identity
};
} // namespace

llvm::Error KernelCompiler::getPTX() {
  std::string name =
      hashKernel(kernel, (codegenVersion + gpuArchitecture).str()) + ".ptx";
  if (auto ptx = readCacheEntry(options.cacheDirectory, name)) {
    result.ptx = toText(*ptx).str();
    result.cached = true;
    return llvm::Error::success();
  }
  auto text = emitText(kernel, result, CodeText::Assembly);
  if (!text)
    return text.takeError();
  result.ptx = *text;
  writeCacheEntry(options.cacheDirectory, name,
                  llvm::arrayRefFromStringRef(result.ptx));
  return llvm::Error::success();
}

llvm::Error KernelCompiler::getCode() {
  StringRef directory = options.cacheDirectory;
  std::string key = (assembler + gpuArchitecture + "\n" + result.ptx).str();
  std::string hash = hashBytes(llvm::arrayRefFromStringRef(key));
  auto cubin = readCacheEntry(directory, hash + ".cubin");
  auto log = readCacheEntry(directory, hash + ".log");
  std::string text = log ? toText(*log).str() : "";
  // Half an entry, or one without a report, is made anew.
  bool known = cubin && !cubin->empty() && StringRef(text).contains("Used ");
  if (known) {
    result.cubin = std::move(*cubin);
  } else {
    auto assembly = assemble(options.ptxas, result.ptx, gpuArchitecture);
    if (!assembly)
      return assembly.takeError();
    result.cached = false;
    result.cubin = std::move(assembly->cubin);
    text = assembly->log;
  }
  result.report = parseAssemblyReport(text);
  if (llvm::Error error = check(hash))
    return error;
  if (!known) {
    writeCacheEntry(directory, hash + ".cubin", result.cubin);
    writeCacheEntry(directory, hash + ".log",
                    llvm::arrayRefFromStringRef(text));
  }
  return llvm::Error::success();
}

/// Code from the cache may be older than the disassembler, so it is checked
/// once, too.
llvm::Error KernelCompiler::check(StringRef hash) {
  if (options.disassembler.empty() ||
      !StringRef(result.ptx).contains("wgmma.mma_async"))
    return llvm::Error::success();
  std::string name = (hash + ".checked").str();
  std::string mark = (checkerVersion + hashBytes(result.cubin)).str();
  auto known = readCacheEntry(options.cacheDirectory, name);
  if (known && toText(*known) == mark)
    return llvm::Error::success();
  if (llvm::Error error = checkCode(result, options.disassembler))
    return error;
  writeCacheEntry(options.cacheDirectory, name,
                  llvm::arrayRefFromStringRef(mark));
  return llvm::Error::success();
}

llvm::Error KernelCompiler::run() {
  result = describe(kernel);
  if (llvm::Error error = getPTX())
    return error;
  if (options.ptxas.empty())
    return llvm::Error::success();
  if (llvm::Error error = getCode())
    return error;
  return checkReport(result.report, getNumber(kernel, "mmx.spills", 0));
}

//===----------------------------------------------------------------------===//
// All kernels
//===----------------------------------------------------------------------===//

static void initializeNVPTX() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

static SmallVector<FunctionOpInterface> collectKernels(ModuleOp module) {
  SmallVector<FunctionOpInterface> kernels;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (function->hasAttr("mmx.kernel"))
      kernels.push_back(function);
  return kernels;
}

llvm::Expected<std::string> mmx::printKernelsForGPU(ModuleOp module,
                                                    CodeText form) {
  initializeNVPTX();
  SmallVector<FunctionOpInterface> kernels = collectKernels(module);
  auto print = [&](size_t i) {
    return emitText(kernels[i], describe(kernels[i]), form);
  };
  return joinTexts(module.getContext(), kernels.size(), print);
}

llvm::Expected<std::vector<GPUKernel>>
mmx::compileKernelsForGPU(ModuleOp module, const GPUCodegenOptions &options) {
  initializeNVPTX();
  SmallVector<FunctionOpInterface> kernels = collectKernels(module);
  std::vector<GPUKernel> results(kernels.size());
  std::string assembler;
  if (!options.ptxas.empty())
    assembler = identifyAssembler(options.ptxas);
  auto compile = [&](size_t i) -> llvm::Error {
    llvm::Error error =
        KernelCompiler(kernels[i], results[i], options, assembler).run();
    if (!error)
      return error;
    return llvm::createStringError("kernel @" + kernels[i].getName() + ": " +
                                   llvm::toString(std::move(error)));
  };
  if (llvm::Error error = compileEach(module.getContext(), kernels.size(),
                                      compile, options.progress))
    return std::move(error);
  return results;
}
