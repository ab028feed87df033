//===- TestCompiler.cpp - A compiler library for tests --------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mmxCompile hands back the bytes of MODEL/answer.mmx and adds a letter to
// MODEL/compiles; the reference refuses. The tools of targets other than the
// CPU are those of MMX_TEST_TOOLS.
//
//===----------------------------------------------------------------------===//

#include "compiler_api.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

static int refuse(char **error) {
  *error = ::strdup("the test compiler has no reference");
  return 1;
}

extern "C" {

int mmxCompilerVersion(void) { return mmxCompilerApiVersion; }

char *mmxDescribeTools(const char *target) {
  const char *version = std::getenv("MMX_TEST_TOOLS");
  return ::strdup(version && std::strcmp(target, "cpu") ? version : "");
}

int mmxCompile(const char *model, const MmxCompileOptions *options,
               MmxBytes *package, char **error) {
  std::string folder = model;
  std::ofstream(folder + "/compiles", std::ios::app) << options->dtype[0];
  std::ifstream file(folder + "/answer.mmx", std::ios::binary);
  if (!file) {
    *error = ::strdup("the model has no answer");
    return 1;
  }
  if (options->progress)
    options->progress(options->context, "compile", 1, 1);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  package->size = bytes.size();
  package->data = static_cast<uint8_t *>(std::malloc(bytes.size()));
  std::memcpy(package->data, bytes.data(), bytes.size());
  return 0;
}

int mmxReferenceOpen(const char *, const MmxCompileOptions *,
                     int (*)(void *, const char *, MmxTensor *), void *,
                     MmxReference **, char **error) {
  return refuse(error);
}

int mmxReferenceRun(MmxReference *, const char *, const MmxRoleBuffer *,
                    int64_t, char **error) {
  return refuse(error);
}

int mmxReferenceModel(MmxReference *, MmxBytes *, char **error) {
  return refuse(error);
}

void mmxReferenceClose(MmxReference *) {}

void mmxFree(void *pointer) { std::free(pointer); }

} // extern "C"
