//===- CompileModel.cpp - From a checkpoint to a package ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Compiler/CompileModel.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mmx/Target/CPUCodegen.h"
#include "mmx/Target/PackageWriter.h"
#include "targets.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mlir;
using namespace mmx;

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

namespace {

/// Collects errors as text, and hands warnings and remarks on, while alive.
class DiagnosticCollector : public ScopedDiagnosticHandler {
public:
  DiagnosticCollector(MLIRContext *context, const CompileOptions &options)
      : ScopedDiagnosticHandler(context) {
    setHandler([this, &options](Diagnostic &diagnostic) {
      std::string text = print(diagnostic);
      const auto &report =
          diagnostic.getSeverity() == DiagnosticSeverity::Warning
              ? options.warn
              : options.remark;
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors += (errors.empty() ? "" : "\n") + text;
      else if (report)
        report(text);
    });
  }

  /// The errors so far, or `fallback` if there were none.
  Error takeError(StringRef fallback) {
    return makeError(errors.empty() ? fallback : StringRef(errors));
  }

private:
  static std::string print(Diagnostic &diagnostic) {
    std::string text;
    raw_string_ostream stream(text);
    if (auto name = dyn_cast<NameLoc>(diagnostic.getLocation()))
      stream << name.getName().getValue() << ": ";
    else if (auto line = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
      stream << line.getFilename().getValue() << ':' << line.getLine() << ':'
             << line.getColumn() << ": ";
    else if (!isa<UnknownLoc>(diagnostic.getLocation()))
      stream << diagnostic.getLocation() << ": ";
    stream << diagnostic;
    for (Diagnostic &note : diagnostic.getNotes()) {
      std::string noteText = note.str();
      // The op of a layer is a page long, and stands in the reproducer.
      if (!StringRef(noteText).starts_with("see current operation"))
        stream << "\nnote: " << noteText;
    }
    return text;
  }

  std::string errors;
};

} // namespace

static Error checkOptions(const CompileOptions &options) {
  if (options.dtype != "f32" && options.dtype != "bf16")
    return makeError("expected dtype \"f32\" or \"bf16\", but got \"" +
                     options.dtype + "\"");
  if (!options.dumpDirectory.empty())
    if (std::error_code code =
            sys::fs::create_directories(options.dumpDirectory))
      return makeError(options.dumpDirectory +
                       ": cannot make this folder: " + code.message());
  if (options.block < 0 || options.block > 4096)
    return makeError("expected a block of at most 4096 tokens, but got " +
                     Twine(options.block));
  return Error::success();
}

static bool isGPU(StringRef name) {
  const Target *target = findTarget(name);
  return target && !target->isCPU();
}

/// Lanes of a vector register of the target; any for a GPU.
static Expected<int64_t> getVectorLanes(StringRef target) {
  if (isGPU(target))
    return 1;
  if (!target.starts_with("cpu"))
    return makeError("expected target cpu, cpu-v3, cpu-v4, h20, h800, h100 or "
                     "h200, but got '" +
                     target + "'");
  Expected<CPUTarget> cpu = CPUTarget::get(target);
  if (!cpu)
    return cpu.takeError();
  return cpu->vectorLanes;
}

/// What a crash prints: where a pass fails in a thread of its own nothing else
/// can. MLIR writes the file.
static void announceReproducer(StringRef path) {
  // Kept for ever: a crash may come at any time.
  auto *message = new std::string(
      ("the compiler crashed; please report it with " + path +
       ", which shows it again: mmx-opt --run-reproducer " + path + "\n")
          .str());
  setBugReportMsg(message->c_str());
}

static LogicalResult runPipeline(ModuleOp module, const CompileOptions &options,
                                 int64_t lanes, Level level) {
  PassManager manager(module.getContext());
  PipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.block = options.block;
  pipeline.stopAfter = level;
  pipeline.lanes = lanes;
  pipeline.explain = options.explain;
  buildPipeline(manager, pipeline);
  if (!options.reproducer.empty()) {
    announceReproducer(options.reproducer);
    manager.enableCrashReproducerGeneration(options.reproducer);
  }
  if (!options.dumpDirectory.empty()) {
    // Whole modules can only be printed when nothing else runs.
    module.getContext()->disableMultithreading();
    manager.enableIRPrintingToFileTree(
        /*shouldPrintBeforePass=*/[](Pass *, Operation *) { return false; },
        /*shouldPrintAfterPass=*/[](Pass *, Operation *) { return true; },
        /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/false,
        /*printAfterOnlyOnFailure=*/false, options.dumpDirectory);
  }
  return manager.run(module);
}

static void reportProgress(const CompileOptions &options, StringRef stage,
                           int done) {
  if (options.progress)
    options.progress(stage, done, /*total=*/1);
}

/// Runs the pipeline; what a pass says against the module is the error.
static Error lowerModule(ModuleOp module, const CompileOptions &options,
                         Level level) {
  if (Error error = checkOptions(options))
    return error;
  Expected<int64_t> lanes = getVectorLanes(options.target);
  if (!lanes)
    return lanes.takeError();
  reportProgress(options, "lower", 0);
  DiagnosticCollector collector(module.getContext(), options);
  if (failed(runPipeline(module, options, *lanes, level))) {
    Error error = collector.takeError("the pass pipeline failed");
    if (!sys::fs::exists(options.reproducer))
      return error;
    return makeError(toString(std::move(error)) +
                     "\nto see it again: mmx-opt --run-reproducer " +
                     options.reproducer);
  }
  reportProgress(options, "lower", 1);
  return Error::success();
}

Expected<OwningOpRef<ModuleOp>> mmx::lowerModel(MLIRContext &context,
                                                const ModelFiles &files,
                                                const CompileOptions &options,
                                                Level level) {
  if (Error error = checkOptions(options))
    return std::move(error);
  if (options.warn)
    for (const std::string &warning : files.warnings)
      options.warn(warning);
  reportProgress(options, "import", 0);
  ImportOptions importOptions;
  importOptions.bf16Inputs = options.dtype == "bf16";
  importOptions.keepHidden = options.keepHidden;
  importOptions.routing = options.routing;
  Expected<OwningOpRef<ModuleOp>> module = importModel(
      context, files.config, files.checkpoint ? &*files.checkpoint : nullptr,
      importOptions);
  if (!module)
    return module.takeError();
  reportProgress(options, "import", 1);
  if (Error error = lowerModule(**module, options, level))
    return std::move(error);
  return module;
}

Expected<OwningOpRef<ModuleOp>> mmx::lowerFile(MLIRContext &context,
                                               StringRef path,
                                               const CompileOptions &options,
                                               Level level) {
  DiagnosticCollector collector(&context, options);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, &context);
  if (!module)
    return collector.takeError("cannot read " + path.str());
  if (Error error = lowerModule(*module, options, level))
    return std::move(error);
  return module;
}

static std::function<void(int, int)>
getKernelProgress(const CompileOptions &options) {
  if (!options.progress)
    return {};
  return [&](int done, int total) { options.progress("kernels", done, total); };
}

static Expected<std::vector<uint8_t>>
packageForCPU(ModuleOp module, const CompileOptions &options,
              ArrayRef<TextFile> texts) {
  Expected<CPUTarget> target = CPUTarget::get(options.target);
  if (!target)
    return target.takeError();
  CPUCodegenOptions codegen;
  codegen.cacheDirectory = options.cacheDirectory;
  codegen.progress = getKernelProgress(options);
  Expected<CPUObject> object = compileKernelsForCPU(module, *target, codegen);
  if (!object)
    return object.takeError();
  return writePackage(module, PackageCode(*object, *target), options.dtype,
                      texts);
}

static Expected<std::vector<uint8_t>>
packageForGPU(ModuleOp module, const CompileOptions &options,
              ArrayRef<TextFile> texts) {
  GPUCodegenOptions codegen;
  codegen.cacheDirectory = options.cacheDirectory;
  codegen.progress = getKernelProgress(options);
  if (codegen.ptxas.empty() && options.warn)
    options.warn("found no ptxas: the package holds PTX only, which the driver "
                 "assembles when it is loaded; set MMX_PTXAS or CUDA_HOME");
  auto kernels = compileKernelsForGPU(module, codegen);
  if (!kernels)
    return kernels.takeError();
  return writePackage(module, PackageCode(*kernels, options.target),
                      options.dtype, texts);
}

Expected<std::string>
mmx::printCode(ModuleOp module, const CompileOptions &options, CodeText form) {
  if (isGPU(options.target))
    return printKernelsForGPU(module, form);
  Expected<CPUTarget> target = CPUTarget::get(options.target);
  if (!target)
    return target.takeError();
  return printKernelsForCPU(module, *target, form);
}

Expected<std::vector<uint8_t>>
mmx::compileModel(StringRef path, const CompileOptions &options) {
  Expected<ModelFiles> files = readModelFiles(path);
  if (!files)
    return files.takeError();
  std::vector<TextFile> texts;
  if (options.texts) {
    auto read = readTextFiles(path);
    if (!read)
      return read.takeError();
    texts = std::move(*read);
  }
  DialectRegistry registry;
  registerPipelineDialects(registry);
  MLIRContext context(registry);
  auto module = lowerModel(context, *files, options, Level::LLVM);
  if (!module)
    return module.takeError();
  return isGPU(options.target) ? packageForGPU(**module, options, texts)
                               : packageForCPU(**module, options, texts);
}

std::string mmx::describeTools(StringRef target) {
  if (!isGPU(target))
    return "";
  std::string assembler = findAssembler();
  if (!assembler.empty())
    assembler = identifyAssembler(assembler);
  return assembler + "\n" + findDisassembler();
}

std::string mmx::getCacheDirectory() {
  if (std::optional<std::string> path = sys::Process::GetEnv("MMX_CACHE_DIR"))
    return *path;
  SmallString<128> path;
  if (!sys::path::cache_directory(path))
    return "";
  sys::path::append(path, "mmx");
  return path.str().str();
}
