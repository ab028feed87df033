//===- CompilerLibrary.h - The compiler, opened at run time -----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libmmx-compiler.so (schema/compiler_api.h) stays open as long as the object.
// Threads: calls from several threads may run at the same time. Errors: the
// library's own messages, thrown as Error.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_ENGINE_COMPILERLIBRARY_H
#define MMX_RUNTIME_ENGINE_COMPILERLIBRARY_H

#include "compiler_api.h"

#include <functional>
#include <string>
#include <vector>

namespace mmx::runtime {

/// What a package depends on besides the model.
struct CompileSettings {
  std::string target = "cpu";
  std::string dtype = "f32";
  int64_t block = 0; ///< 0: chosen by the compiler
  bool keepHidden = false;
  bool routing = false; ///< see Engine.h, StepInputs::routing
  std::function<void(const char *stage, int done, int total)> progress;
};

class CompilerLibrary {
public:
  /// Opens the library at MMX_COMPILER_LIBRARY if that is set, else the one in
  /// ../lib of this program's folder, else the one on the library path.
  CompilerLibrary();
  CompilerLibrary(const CompilerLibrary &) = delete;
  CompilerLibrary &operator=(const CompilerLibrary &) = delete;
  ~CompilerLibrary();

  /// The file that was opened.
  const std::string &path() const { return libraryPath; }

  /// The programs that code for `target` passes through besides.
  std::string describeTools(const std::string &target) const;

  /// The bytes of a package file for the model at `model` (see
  /// mmxCompile).
  std::vector<uint8_t> compile(const std::string &model,
                               const CompileSettings &settings) const;

  decltype(&mmxReferenceOpen) referenceOpen = nullptr;
  decltype(&mmxReferenceRun) referenceRun = nullptr;
  decltype(&mmxReferenceModel) referenceModel = nullptr;
  decltype(&mmxReferenceClose) referenceClose = nullptr;

  /// Throws if `status` is not 0, with the library's message.
  void check(int status, char *error) const;
  /// Copies and frees.
  std::vector<uint8_t> take(MmxBytes bytes) const;

private:
  template <typename Function>
  void resolve(Function &function, const char *name);

  void *handle = nullptr;
  std::string libraryPath;
  decltype(&mmxDescribeTools) toolsFunction = nullptr;
  decltype(&mmxCompile) compileFunction = nullptr;
  decltype(&mmxFree) freeFunction = nullptr;
};

/// The settings in the form of the C interface; views `settings`.
MmxCompileOptions toOptions(const CompileSettings &settings);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_ENGINE_COMPILERLIBRARY_H
