//===- PackageCacheTest.cpp - Tests of compiling and the cache ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "runtime/engine/PackageCache.h"
#include "runtime/engine/ReferenceEngine.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace mmx;
using namespace mmx::runtime;
using namespace mmx::test;
namespace fs = std::filesystem;

class PackageCacheTest : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("MMX_COMPILER_LIBRARY", MMX_TEST_COMPILER, 1);
    ::setenv("MMX_CACHE_DIR", cache.path().c_str(), 1);
    std::vector<uint8_t> bytes = makeTestPackage();
    model.write("answer.mmx",
                {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
    model.write("config.json", "{}");
  }
  CompiledPackage compile() {
    return compileCached(CompilerLibrary(), model.path().string(), settings);
  }
  /// Runs of the compiler so far.
  size_t compiles() {
    std::ifstream file(model.path() / "compiles");
    return std::string(std::istreambuf_iterator<char>(file), {}).size();
  }

  TemporaryDirectory cache, model;
  CompileSettings settings;
};

TEST_F(PackageCacheTest, CompilesOnce) {
  EXPECT_FALSE(compile().fromCache);
  EXPECT_TRUE(compile().fromCache);
  EXPECT_EQ(compiles(), 1u);
}

TEST_F(PackageCacheTest, WhatThePackageDependsOnCompilesAgain) {
  compile();
  settings.dtype = "bf16";
  compile();
  settings.block = 32;
  compile();
  settings.keepHidden = true;
  compile();
  model.write("config.json", "{ }");
  compile();
  model.write("generation_config.json", "{}");
  compile();
  model.write("model.safetensors", safetensorsBytes("{}", ""));
  compile();
  EXPECT_EQ(compiles(), 7u);
  // The recorded answers are not part of the model.
  model.write("golden.safetensors", safetensorsBytes("{}", ""));
  EXPECT_TRUE(compile().fromCache);
}

TEST_F(PackageCacheTest, OtherToolsOfTheTargetCompileAgain) {
  compile();
  settings.target = "h200";
  for (const char *version : {"1.0", "2.0"}) {
    ::setenv("MMX_TEST_TOOLS", version, 1);
    EXPECT_FALSE(compile().fromCache);
    EXPECT_TRUE(compile().fromCache);
  }
  settings.target = "cpu";
  EXPECT_TRUE(compile().fromCache);
  ::unsetenv("MMX_TEST_TOOLS");
}

TEST_F(PackageCacheTest, DamagedEntriesAreCompiledAgain) {
  compile();
  for (const fs::directory_entry &entry : fs::directory_iterator(cache.path()))
    std::ofstream(entry.path()) << "damaged";
  EXPECT_FALSE(compile().fromCache);
  EXPECT_TRUE(compile().fromCache);
}

TEST_F(PackageCacheTest, ACacheThatCannotBeWrittenIsNoError) {
  ::setenv("MMX_CACHE_DIR", "/proc/nowhere", 1);
  EXPECT_FALSE(compile().fromCache);
  EXPECT_FALSE(compile().fromCache);
}

TEST_F(PackageCacheTest, ErrorsOfTheCompilerArePassedOn) {
  fs::remove(model.path() / "answer.mmx");
  EXPECT_EQ(errorOf([&] { compile(); }), "the model has no answer");
  MemoryTensors weights = testWeights();
  CompilerLibrary compiler;
  EXPECT_EQ(errorOf([&] {
              ReferenceEngine(compiler, "model", settings, weights,
                              [](const ModelInfo &) { return EngineLimits(); });
            }),
            "the test compiler has no reference");
}

TEST_F(PackageCacheTest, NamesALibraryThatIsMissing) {
  ::setenv("MMX_COMPILER_LIBRARY", "/nowhere/libmmx-compiler.so", 1);
  EXPECT_NE(errorOf([] { CompilerLibrary(); }).find("cannot open the compiler"),
            std::string::npos);
  ::setenv("MMX_COMPILER_LIBRARY", MMX_TEST_KERNELS, 1);
  EXPECT_NE(errorOf([] { CompilerLibrary(); }).find("has no function mmx"),
            std::string::npos);
}

TEST_F(PackageCacheTest, ListsVerifiesAndClears) {
  compile();
  // Before all hexadecimal names, as the list is sorted.
  cache.write("!damaged.mmx", "damaged");
  cache.write("note.txt", "not ours");
  std::vector<CacheEntry> entries = listPackageCache();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_NE(entries[0].problem, "");
  EXPECT_EQ(entries[0].bytes, 7u);
  EXPECT_EQ(entries[1].problem, "");
  EXPECT_NE(entries[1].summary.find("cpu, "), std::string::npos);
  EXPECT_LT(entries[1].ageSeconds, 600);
  removeFromPackageCache(std::span(entries).first(1));
  EXPECT_EQ(listPackageCache().size(), 1u);
  EXPECT_TRUE(compile().fromCache);
  EXPECT_TRUE(fs::exists(cache.path() / "note.txt"));
}
