//===- GPUCodegenTest.cpp - The cache of code for GPUs --------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shell scripts stand for the assembler and the disassembler.
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/GPUCodegen.h"

#include "mlir/Parser/Parser.h"
#include "mmx/Target/CPUCodegen.h"
#include "llvm/Support/FileSystem.h"
#include <fstream>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mmx;

namespace {

/// A kernel whose PTX has a product of warp groups, at least in a comment.
constexpr const char *product = R"(
llvm.func @product(%a: !llvm.ptr, %n: i64, %scratch: !llvm.ptr)
    attributes {mmx.kernel} {
  llvm.inline_asm has_side_effects "// wgmma.mma_async", "" : () -> ()
  llvm.return
})";

class GPUCache : public testing::Test {
protected:
  GPUCache() {
    DialectRegistry registry;
    registerCodegenDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("mmx-gpu", directory));
    options.cacheDirectory = getPath("cache");
    options.ptxas = writeAssembler("ptxas", "1.0");
    options.disassembler.clear();
  }
  ~GPUCache() override { llvm::sys::fs::remove_directories(directory); }

  std::string getPath(llvm::StringRef name) {
    return (directory + "/" + name).str();
  }

  std::string writeScript(llvm::StringRef name, const std::string &text) {
    std::string path = getPath(name);
    std::ofstream(path) << "#!/bin/sh\n" << text;
    EXPECT_FALSE(llvm::sys::fs::setPermissions(
        path, llvm::sys::fs::owner_all | llvm::sys::fs::all_read));
    return path;
  }

  /// Its object is its version and the PTX.
  std::string writeAssembler(llvm::StringRef name, std::string version) {
    return writeScript(name, "if [ $1 = --version ]; then\n"
                             "  echo " +
                                 version +
                                 "; exit\n"
                                 "fi\n"
                                 "echo 'ptxas info : Used 10 registers'\n"
                                 "(echo " +
                                 version + "; cat $5) > $4\n");
  }

  /// Writes a line to the file "calls" each time it runs.
  std::string writeDisassembler(llvm::StringRef name, std::string product) {
    return writeScript(
        name, "echo >> " + getPath("calls") +
                  "\necho '.text.product:'\n"
                  "echo '        /*0000*/   HGMMA.64x64x16.F32.BF16 R24, R88, "
                  "gdesc[UR4], R24, gsb0 ;'\n"
                  "echo '        /*0010*/   " +
                  product +
                  "'\n"
                  "echo '        /*0020*/   WARPGROUP.DEPBAR.LE gsb0, 0x0 ;'\n"
                  "echo '        /*0030*/   EXIT ;'\n");
  }

  int countCalls() {
    std::ifstream stream(getPath("calls"));
    int lines = 0;
    for (std::string line; std::getline(stream, line);)
      ++lines;
    return lines;
  }

  llvm::Expected<GPUKernel> compile() {
    auto module = parseSourceString<ModuleOp>(product, &context);
    EXPECT_TRUE(module);
    auto kernels = compileKernelsForGPU(*module, options);
    if (!kernels)
      return kernels.takeError();
    return std::move(kernels->front());
  }

  /// The first line of the object.
  static std::string getVersion(const GPUKernel &kernel) {
    return std::string(kernel.cubin.begin(), llvm::find(kernel.cubin, '\n'));
  }

  MLIRContext context;
  llvm::SmallString<128> directory;
  GPUCodegenOptions options;
};

TEST_F(GPUCache, GivesTheSameObject) {
  GPUKernel cold = cantFail(compile()), warm = cantFail(compile());
  EXPECT_FALSE(cold.cached);
  EXPECT_TRUE(warm.cached);
  EXPECT_EQ(cold.cubin, warm.cubin);
  EXPECT_EQ(warm.report.registers, 10);
}

TEST_F(GPUCache, AnotherAssemblerMakesCodeAnew) {
  GPUKernel first = cantFail(compile());
  options.ptxas = writeAssembler("ptxas", "2.0"); // the same file, updated
  GPUKernel updated = cantFail(compile());
  EXPECT_FALSE(updated.cached);
  EXPECT_EQ(getVersion(first), "1.0");
  EXPECT_EQ(getVersion(updated), "2.0");
  options.ptxas = writeAssembler("elsewhere", "2.0"); // another path
  EXPECT_FALSE(cantFail(compile()).cached);
  options.ptxas = writeAssembler("ptxas", "1.0");
  EXPECT_TRUE(cantFail(compile()).cached);
}

TEST_F(GPUCache, ChecksCodeFoundWhenADisassemblerAppears) {
  cantFail(compile().takeError());
  options.disassembler = writeDisassembler("bad", "MOV R88, R1 ;");
  for (int i = 0; i < 2; ++i) {
    std::string message = toString(compile().takeError());
    EXPECT_NE(message.find("writes R88"), std::string::npos) << message;
  }
}

TEST_F(GPUCache, ChecksCodeOnce) {
  options.disassembler = writeDisassembler("good", "MOV R2, R1 ;");
  EXPECT_FALSE(cantFail(compile()).cached);
  EXPECT_TRUE(cantFail(compile()).cached);
  EXPECT_EQ(countCalls(), 1);
  // Other code under the same name is checked again.
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(options.cacheDirectory, error),
       end;
       file != end; file.increment(error))
    if (llvm::StringRef(file->path()).ends_with(".cubin"))
      std::ofstream(file->path()) << "other code";
  cantFail(compile().takeError());
  EXPECT_EQ(countCalls(), 2);
}

TEST_F(GPUCache, DoesNotKeepCodeThatIsRefused) {
  options.disassembler = writeDisassembler("bad", "MOV R88, R1 ;");
  llvm::consumeError(compile().takeError());
  options.disassembler.clear();
  EXPECT_FALSE(cantFail(compile()).cached);
}

} // namespace
