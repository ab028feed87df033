//===- mmx-compile.cpp - The compiler driver ------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/progress/Progress.h"
#include "tools/ToolVersion.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mmx/Compiler/CompileModel.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mmx;
using mmx::runtime::Progress;
namespace cl = llvm::cl;

namespace {
/// What --emit prints: the module at a level, or text that LLVM makes of its
/// kernels.
enum class Emission {
  MMX,
  Blocked,
  Fused,
  Tiles,
  Tile,
  Exec,
  LLVM,
  LLVMIR,
  Assembly,
  PTX
};
} // namespace

static constexpr llvm::StringLiteral overview = R"(compiles a MiniMax-01 model

MODEL is a checkpoint directory or a config.json. Of a checkpoint only the
config, the tokenizer and the headers of the safetensors files are read; the
package names the weights and does not hold them. With --emit, MODEL may be a
.mlir file that --emit mmx printed.

  mmx-compile MODEL -o model.mmx                  a package for this machine
  mmx-compile MODEL --emit tile                   print the kernels and stop
  mmx-compile MODEL --emit ptx --target h200      what a GPU gets
  mmx-compile MODEL -o model.mmx --explain        say why tiles were chosen
)";

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static cl::OptionCategory mainOptions("Options");
static cl::OptionCategory debugOptions("Options for looking inside");

static cl::opt<std::string> model(cl::Positional, cl::Required,
                                  cl::desc("MODEL"), cl::cat(mainOptions));
static cl::opt<std::string>
    output("o", cl::desc("Where to write; - is standard output"),
           cl::value_desc("file"), cl::cat(mainOptions));
static cl::opt<std::string>
    target("target",
           cl::desc("Machine to compile for: cpu (this one), cpu-v3 (AVX2), "
                    "cpu-v4 (AVX-512), h20, h800, h100 or h200"),
           cl::value_desc("name"), cl::init("cpu"), cl::cat(mainOptions));
static cl::opt<std::string> dtype("dtype",
                                  cl::desc("What matrix products read (f32)"),
                                  cl::value_desc("f32|bf16"), cl::init("f32"),
                                  cl::cat(mainOptions));
static cl::opt<int64_t>
    block("block", cl::desc("Tokens of a lightning block (0: chosen)"),
          cl::value_desc("n"), cl::init(0), cl::cat(mainOptions));
static cl::opt<bool>
    keepHidden("keep-hidden",
               cl::desc("Programs also write the input of every layer"),
               cl::cat(mainOptions));
static cl::opt<bool>
    routing("routing",
            cl::desc("Programs also take and write the experts of each token"),
            cl::cat(mainOptions));
static cl::opt<Progress::Mode> progressMode(
    "progress",
    cl::desc("How progress is shown on standard error; if not given a bar on a "
             "terminal, else nothing"),
    cl::values(
        clEnumValN(Progress::Mode::Bar, "bar", "a bar that redraws itself"),
        clEnumValN(Progress::Mode::Lines, "lines", "a line a stage"),
        clEnumValN(Progress::Mode::Json, "json", "JSON objects, one a line"),
        clEnumValN(Progress::Mode::None, "none", "nothing")),
    cl::init(Progress::Mode::Auto), cl::cat(mainOptions));
static cl::opt<Emission> emit(
    "emit", cl::desc("Print a level and stop:"),
    cl::values(
        clEnumValN(Emission::MMX, "mmx", "the imported model"),
        clEnumValN(Emission::Blocked, "blocked", "lightning loops over blocks"),
        clEnumValN(Emission::Fused, "fused", "ops grouped into kernels"),
        clEnumValN(Emission::Tiles, "tiles", "kernels with tile sizes"),
        clEnumValN(Emission::Tile, "tile", "kernels as tile programs"),
        clEnumValN(Emission::Exec, "exec", "host programs"),
        clEnumValN(Emission::LLVM, "llvm", "kernels ready for LLVM"),
        clEnumValN(Emission::LLVMIR, "llvm-ir", "kernels after LLVM's passes"),
        clEnumValN(Emission::Assembly, "asm", "machine code of a CPU"),
        clEnumValN(Emission::PTX, "ptx", "machine code of a GPU")),
    cl::cat(debugOptions));
static cl::opt<bool>
    explain("explain",
            cl::desc("Say for every kernel what moves, what is "
                     "computed and why its tile was chosen"),
            cl::cat(debugOptions));
static cl::opt<std::string>
    dumpDirectory("dump-dir",
                  cl::desc("Write the module after every pass to this folder"),
                  cl::value_desc("dir"), cl::cat(debugOptions));
static cl::opt<std::string>
    reproducer("reproducer",
               cl::desc("Where a pass that fails leaves what it was given"),
               cl::value_desc("file"), cl::init("mmx-reproducer.mlir"),
               cl::Hidden, cl::cat(debugOptions));

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Prints every line of a message with its own prefix.
static void printLines(llvm::StringRef text,
                       llvm::raw_ostream &(*prefix)(llvm::raw_ostream &,
                                                    llvm::StringRef)) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines)
    prefix(llvm::errs(), "mmx-compile") << line << '\n';
}

static llvm::raw_ostream &errorPrefix(llvm::raw_ostream &stream,
                                      llvm::StringRef name) {
  return llvm::WithColor::error(stream, name);
}

static llvm::raw_ostream &notePrefix(llvm::raw_ostream &stream,
                                     llvm::StringRef name) {
  return llvm::WithColor::note(stream, name);
}

static llvm::raw_ostream &warningPrefix(llvm::raw_ostream &stream,
                                        llvm::StringRef name) {
  return llvm::WithColor::warning(stream, name);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static Progress::Mode getProgressMode() {
  if (progressMode != Progress::Mode::Auto)
    return progressMode;
  return llvm::sys::Process::StandardErrIsDisplayed() ? Progress::Mode::Bar
                                                      : Progress::Mode::None;
}

/// Messages end the bar first.
static CompileOptions getOptions(Progress &progress) {
  CompileOptions options;
  options.target = target;
  options.dtype = dtype;
  options.block = block;
  options.keepHidden = keepHidden;
  options.routing = routing;
  options.texts = true;
  options.explain = explain;
  options.dumpDirectory = dumpDirectory;
  options.reproducer = reproducer;
  options.warn = [&](llvm::StringRef text) {
    progress.finish();
    printLines(text, warningPrefix);
  };
  options.remark = [&](llvm::StringRef text) {
    progress.finish();
    printLines(text, notePrefix);
  };
  options.progress = [&](llvm::StringRef stage, int done, int total) {
    progress.update(stage.str(), done, total);
  };
  return options;
}

/// Opens the file to write before the work starts, so that a wrong name costs
/// no time.
static llvm::Expected<std::unique_ptr<llvm::ToolOutputFile>>
openOutput(llvm::StringRef name) {
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file =
      mlir::openOutputFile(name, &message);
  if (!file)
    return llvm::createStringError(message);
  return std::move(file);
}

/// The level of the module that is printed, or that code is made of.
static Level getLevel() {
  switch (emit) {
  case Emission::MMX:
    return Level::MMX;
  case Emission::Blocked:
    return Level::Blocked;
  case Emission::Fused:
    return Level::Fused;
  case Emission::Tiles:
    return Level::Tiles;
  case Emission::Tile:
    return Level::Tile;
  case Emission::Exec:
    return Level::Exec;
  case Emission::LLVM:
  case Emission::LLVMIR:
  case Emission::Assembly:
  case Emission::PTX:
    return Level::LLVM;
  }
  llvm_unreachable("expected an emission");
}

/// A module that was printed with --emit mmx.
static bool isModule(llvm::StringRef path) { return path.ends_with(".mlir"); }

/// Assembly is a CPU's, PTX a GPU's.
static llvm::Error checkEmission() {
  bool isCPU = llvm::StringRef(target).starts_with("cpu");
  if (emit == Emission::PTX && isCPU)
    return llvm::createStringError(
        "expected a GPU for --emit ptx, but got --target " + target +
        "; add --target h200, for example, or use --emit asm");
  if (emit == Emission::Assembly && !isCPU)
    return llvm::createStringError(
        "expected a CPU for --emit asm, but got --target " + target +
        "; use --emit ptx");
  return llvm::Error::success();
}

/// MODEL as a module of the level that is wanted.
static llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
lower(mlir::MLIRContext &context, const CompileOptions &options) {
  if (isModule(model))
    return lowerFile(context, model, options, getLevel());
  llvm::Expected<ModelFiles> files = readModelFiles(model);
  if (!files)
    return files.takeError();
  return lowerModel(context, *files, options, getLevel());
}

/// Prints the module of a level, or the code of its kernels.
static llvm::Error emitLevel(const CompileOptions &options) {
  if (llvm::Error error = checkEmission())
    return error;
  auto file = openOutput(output.empty() ? "-" : output.getValue());
  if (!file)
    return file.takeError();
  mlir::DialectRegistry registry;
  registerPipelineDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = lower(context, options);
  if (!module)
    return module.takeError();
  if (emit < Emission::LLVMIR) {
    (*module)->print((*file)->os());
  } else {
    auto code = printCode(**module, options,
                          emit == Emission::LLVMIR ? CodeText::LLVMIR
                                                   : CodeText::Assembly);
    if (!code)
      return code.takeError();
    (*file)->os() << *code;
  }
  (*file)->keep();
  return llvm::Error::success();
}

static llvm::Error writePackage(const CompileOptions &options) {
  if (output.empty())
    return llvm::createStringError(
        "expected -o FILE for the package, or --emit LEVEL to print a module");
  if (isModule(model))
    return llvm::createStringError(
        model + ": expected a checkpoint directory or a config.json for a "
                "package; a module can be printed with --emit LEVEL");
  auto file = openOutput(output);
  if (!file)
    return file.takeError();
  auto bytes = compileModel(model, options);
  if (!bytes)
    return bytes.takeError();
  (*file)->os().write(reinterpret_cast<const char *>(bytes->data()),
                      bytes->size());
  (*file)->keep();
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::SetVersionPrinter(printToolVersion);
  cl::HideUnrelatedOptions({&mainOptions, &debugOptions});
  cl::ParseCommandLineOptions(argc, argv, overview);
  Progress progress(getProgressMode());
  CompileOptions options = getOptions(progress);
  llvm::Error error =
      emit.getNumOccurrences() ? emitLevel(options) : writePackage(options);
  progress.finish();
  if (!error)
    return 0;
  printLines(llvm::toString(std::move(error)), errorPrefix);
  return 1;
}
