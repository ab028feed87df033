//===- mmx-compile.cpp - The compiler driver ------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "mmx/Model/ImportModel.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

namespace cl = llvm::cl;

static cl::OptionCategory mainOptions("Compilation");

static cl::opt<std::string>
    modelPath(cl::Positional, cl::Required,
              cl::desc("MODEL (a checkpoint directory or a config.json)"),
              cl::cat(mainOptions));
static cl::opt<std::string> output("o", cl::desc("Where to write; - is stdout"),
                                   cl::value_desc("file"), cl::init("-"),
                                   cl::cat(mainOptions));
enum class Stage { MMX };
static cl::opt<Stage>
    emit("emit", cl::desc("Stop at a level and print it:"),
         cl::values(clEnumValN(Stage::MMX, "mmx", "the imported model")),
         cl::Required, cl::cat(mainOptions));
enum class InputType { F32, BF16 };
static cl::opt<InputType> dtype(
    "dtype", cl::desc("What matrix products read (f32 by default):"),
    cl::values(clEnumValN(InputType::F32, "f32", "unrounded values"),
               clEnumValN(InputType::BF16, "bf16", "values rounded to bf16")),
    cl::init(InputType::F32), cl::cat(mainOptions));
static cl::opt<bool>
    keepHidden("keep-hidden",
               cl::desc("Programs also write the input of every layer"),
               cl::cat(mainOptions));

/// Prints every line of an error on its own.
static int fail(llvm::Error error) {
  llvm::SmallVector<llvm::StringRef> lines;
  std::string text = llvm::toString(std::move(error));
  llvm::StringRef(text).split(lines, '\n');
  for (llvm::StringRef line : lines)
    llvm::WithColor::error(llvm::errs(), "mmx-compile") << line << '\n';
  return 1;
}

static llvm::Error compile() {
  llvm::Expected<mmx::ModelFiles> files = mmx::readModelFiles(modelPath);
  if (!files)
    return files.takeError();
  for (const std::string &warning : files->warnings)
    llvm::WithColor::warning(llvm::errs(), "mmx-compile") << warning << '\n';
  mlir::MLIRContext context;
  mmx::ImportOptions options;
  options.bf16Inputs = dtype == InputType::BF16;
  options.keepHidden = keepHidden;
  auto module = mmx::importModel(
      context, files->config, files->checkpoint ? &*files->checkpoint : nullptr,
      options);
  if (!module)
    return module.takeError();
  std::string message;
  auto file = mlir::openOutputFile(output, &message);
  if (!file)
    return llvm::createStringError(message);
  (*module)->print(file->os());
  file->keep();
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(mainOptions);
  cl::ParseCommandLineOptions(argc, argv, "mmx model compiler\n");
  if (llvm::Error error = compile())
    return fail(std::move(error));
  return 0;
}
