//===- CompilerLibrary.cpp - The compiler, opened at run time -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/CompilerLibrary.h"

#include "runtime/support/Error.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

using namespace mmx::runtime;
namespace fs = std::filesystem;

static constexpr const char *libraryName = "libmmx-compiler.so";

static std::string candidate() {
  if (const char *path = std::getenv("MMX_COMPILER_LIBRARY"))
    return path;
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::path beside = program.parent_path().parent_path() / "lib" / libraryName;
  return !error && fs::exists(beside) ? beside.string() : libraryName;
}

template <typename Function>
void CompilerLibrary::resolve(Function &function, const char *name) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (!function)
    fail(libraryPath, ": has no function ", name);
}

CompilerLibrary::CompilerLibrary() : libraryPath(candidate()) {
  handle = ::dlopen(libraryPath.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    fail("cannot open the compiler: ", ::dlerror(),
         "\na package (FILE.mmx) runs without it");
  decltype(&mmxCompilerVersion) version = nullptr;
  try {
    resolve(version, "mmxCompilerVersion");
    if (version() != mmxCompilerApiVersion)
      fail(libraryPath, ": expected interface version ",
           int(mmxCompilerApiVersion), ", but got ", version());
    resolve(toolsFunction, "mmxDescribeTools");
    resolve(compileFunction, "mmxCompile");
    resolve(freeFunction, "mmxFree");
    resolve(referenceOpen, "mmxReferenceOpen");
    resolve(referenceRun, "mmxReferenceRun");
    resolve(referenceModel, "mmxReferenceModel");
    resolve(referenceClose, "mmxReferenceClose");
  } catch (...) {
    ::dlclose(handle);
    throw;
  }
}

// LLVM's global state does not survive being unloaded and loaded again, so the
// library stays mapped.
CompilerLibrary::~CompilerLibrary() = default;

void CompilerLibrary::check(int status, char *error) const {
  if (status == 0)
    return;
  std::string message = error ? error : "the compiler failed without a message";
  freeFunction(error);
  fail(message);
}

std::vector<uint8_t> CompilerLibrary::take(MmxBytes bytes) const {
  std::vector<uint8_t> result(bytes.data, bytes.data + bytes.size);
  freeFunction(bytes.data);
  return result;
}

MmxCompileOptions mmx::runtime::toOptions(const CompileSettings &settings) {
  MmxCompileOptions options = {};
  options.target = settings.target.c_str();
  options.dtype = settings.dtype.c_str();
  options.block = settings.block;
  options.keepHidden = settings.keepHidden;
  options.routing = settings.routing;
  if (settings.progress) {
    options.progress = [](void *context, const char *stage, int done,
                          int total) {
      static_cast<const CompileSettings *>(context)->progress(stage, done,
                                                              total);
    };
    options.context = const_cast<CompileSettings *>(&settings);
  }
  return options;
}

std::string CompilerLibrary::describeTools(const std::string &target) const {
  char *text = toolsFunction(target.c_str());
  std::string result = text;
  freeFunction(text);
  return result;
}

std::vector<uint8_t>
CompilerLibrary::compile(const std::string &model,
                         const CompileSettings &settings) const {
  MmxCompileOptions options = toOptions(settings);
  MmxBytes bytes = {};
  char *error = nullptr;
  int status = compileFunction(model.c_str(), &options, &bytes, &error);
  check(status, error);
  return take(bytes);
}
