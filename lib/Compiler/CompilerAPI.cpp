//===- CompilerAPI.cpp - C interface of libmmx-compiler -------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler_api.h"

#include "ReferenceModel.h"
#include "mmx/Compiler/CompileModel.h"
#include "mmx/Target/PackageParts.h"
#include "llvm/Support/MemAlloc.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <cstdlib>
#include <cstring>

using namespace llvm;
using namespace mmx;

#define MMX_EXPORT __attribute__((visibility("default")))

/// Hands `error` to the caller as text; 0 if there is none.
static int finish(Error error, char **message) {
  if (!error)
    return 0;
  std::string text = toString(std::move(error));
  if (message)
    *message = strdup(text.c_str());
  return 1;
}

/// Copies `bytes` for the caller, who frees them with mmxFree.
static MmxBytes copyBytes(ArrayRef<uint8_t> bytes) {
  MmxBytes result = {static_cast<uint8_t *>(safe_malloc(bytes.size())),
                     bytes.size()};
  copy(bytes, result.data);
  return result;
}

static CompileOptions convertOptions(const MmxCompileOptions *options) {
  CompileOptions result;
  // A crash of a pass is then an error of the call and leaves its input.
  SmallString<128> reproducer;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, reproducer);
  sys::path::append(reproducer, "mmx-reproducer-" +
                                    Twine(sys::Process::getProcessId()) +
                                    ".mlir");
  result.reproducer = reproducer.str();
  if (!options)
    return result;
  if (options->target)
    result.target = options->target;
  if (options->dtype)
    result.dtype = options->dtype;
  result.block = options->block;
  result.keepHidden = options->keepHidden != 0;
  result.routing = options->routing != 0;
  if (options->progress)
    result.progress = [options](StringRef stage, int done, int total) {
      options->progress(options->context, stage.str().c_str(), done, total);
    };
  return result;
}

extern "C" {

MMX_EXPORT int mmxCompilerVersion(void) { return mmxCompilerApiVersion; }

MMX_EXPORT char *mmxDescribeTools(const char *target) {
  return strdup(describeTools(target ? target : "").c_str());
}

MMX_EXPORT int mmxCompile(const char *model, const MmxCompileOptions *options,
                          MmxBytes *package, char **error) {
  auto bytes = compileModel(model, convertOptions(options));
  if (!bytes)
    return finish(bytes.takeError(), error);
  *package = copyBytes(*bytes);
  return 0;
}

MMX_EXPORT int mmxReferenceOpen(const char *model,
                                const MmxCompileOptions *options,
                                MmxReference::Fetch tensor, void *context,
                                MmxReference **reference, char **error) {
  ImportOptions import;
  import.keepHidden = options && options->keepHidden;
  import.routing = options && options->routing;
  auto result = MmxReference::open(model, import, tensor, context);
  if (!result)
    return finish(result.takeError(), error);
  *reference = result->release();
  return 0;
}

MMX_EXPORT int mmxReferenceRun(MmxReference *reference, const char *name,
                               const MmxRoleBuffer *buffers, int64_t count,
                               char **error) {
  return finish(reference->run(name, ArrayRef(buffers, count)), error);
}

MMX_EXPORT int mmxReferenceModel(MmxReference *reference, MmxBytes *package,
                                 char **error) {
  auto bytes = writeModelDescription(reference->getModule());
  if (!bytes)
    return finish(bytes.takeError(), error);
  *package = copyBytes(*bytes);
  return 0;
}

MMX_EXPORT void mmxReferenceClose(MmxReference *reference) { delete reference; }

MMX_EXPORT void mmxFree(void *pointer) { std::free(pointer); }

} // extern "C"
