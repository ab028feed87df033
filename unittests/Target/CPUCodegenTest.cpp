//===- CPUCodegenTest.cpp - Kernels compiled, linked, loaded and run ------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/CPUCodegen.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace mmx;

namespace {

/// y[j] += 3 x[j] for the 8 elements of cell i.
constexpr const char *axpy = R"(
func.func @axpy(%buffers: !llvm.ptr, %extents: !llvm.ptr, %i: i64, %j: i64,
                %k: i64, %scratch: !llvm.ptr)
    attributes {mmx.kernel, mmx.scratch = 128 : i64} {
  %c8 = arith.constant 8 : i64
  %three = arith.constant dense<3.0> : vector<8xf32>
  %offset = arith.muli %i, %c8 : i64
  %px = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
  %second = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %py = llvm.load %second : !llvm.ptr -> !llvm.ptr
  %x = llvm.getelementptr %px[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %y = llvm.getelementptr %py[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %a = llvm.load %x {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  %b = llvm.load %y {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  %c = math.fma %a, %three, %b : vector<8xf32>
  llvm.store %c, %y {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
  return
})";

using Kernel = void (*)(void *const *, const int64_t *, int64_t, int64_t,
                        int64_t, void *);

class CPUCodegen : public testing::Test {
protected:
  CPUCodegen() {
    DialectRegistry registry;
    registerCodegenDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  llvm::Expected<CPUObject> compile(llvm::StringRef text,
                                    const CPUCodegenOptions &options = {}) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return compileKernelsForCPU(*module, cantFail(CPUTarget::get("cpu")),
                                options);
  }

  MLIRContext context;
};

Kernel load(const CPUObject &object, const char *symbol) {
  int fd = memfd_create("kernels", 0);
  EXPECT_EQ(write(fd, object.elf.data(), object.elf.size()),
            static_cast<ssize_t>(object.elf.size()));
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_TRUE(handle) << dlerror();
  return reinterpret_cast<Kernel>(dlsym(handle, symbol));
}

TEST_F(CPUCodegen, RunsAKernel) {
  CPUObject object = cantFail(compile(axpy));
  ASSERT_EQ(object.kernels.size(), 1u);
  EXPECT_EQ(object.kernels[0].symbol, "axpy");
  EXPECT_EQ(object.kernels[0].scratchBytes, 128u);
  EXPECT_GT(object.kernels[0].codeBytes, 0u);
  Kernel kernel = load(object, "axpy");
  ASSERT_TRUE(kernel);
  std::vector<float> x(16, 2), y(16, 1);
  void *buffers[] = {x.data(), y.data()};
  for (int64_t cell : {0, 1})
    kernel(buffers, nullptr, cell, 0, 0, nullptr);
  EXPECT_EQ(y, std::vector<float>(16, 7));
}

TEST_F(CPUCodegen, CacheGivesTheSameBytesAndSurvivesDamage) {
  llvm::SmallString<128> directory;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("mmx-cache", directory));
  CPUCodegenOptions options;
  options.cacheDirectory = directory.str().str();
  CPUObject cold = cantFail(compile(axpy, options));
  CPUObject warm = cantFail(compile(axpy, options));
  EXPECT_FALSE(cold.kernels[0].cached);
  EXPECT_TRUE(warm.kernels[0].cached);
  EXPECT_EQ(cold.elf, warm.elf);

  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(directory, error), end;
       file != end; file.increment(error))
    ASSERT_EQ(truncate(file->path().c_str(), 40), 0);
  CPUObject again = cantFail(compile(axpy, options));
  EXPECT_FALSE(again.kernels[0].cached);
  EXPECT_EQ(cold.elf, again.elf);
  llvm::sys::fs::remove_directories(directory);
}

TEST_F(CPUCodegen, NamesTheKernelThatCannotBeLowered) {
  context.allowUnregisteredDialects();
  auto object = compile(R"(
    func.func @bad(%b: !llvm.ptr, %e: !llvm.ptr, %i: i64, %j: i64, %k: i64,
                   %s: !llvm.ptr) attributes {mmx.kernel} {
      %v = "elsewhere.op"() : () -> vector<4xi32>
      llvm.store %v, %s : vector<4xi32>, !llvm.ptr
      return
    })");
  std::string message = toString(object.takeError());
  EXPECT_NE(message.find("kernel @bad: cannot"), std::string::npos) << message;
}

TEST(CPUTarget, RefusesUnknownNames) {
  auto target = CPUTarget::get("z80");
  EXPECT_EQ(toString(target.takeError()),
            "expected target cpu, cpu-v3 or cpu-v4, but got 'z80'");
}

} // namespace
