//===- Version.cpp - What --version says ----------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "runtime/device/CudaApi.h"
#include "runtime/engine/CompilerLibrary.h"
#include "runtime/support/Error.h"

#include "mmx/version.h"

using namespace mmx::runtime;

/// The driver and the GPUs, or why there are none.
static std::string gpuText() {
  try {
    cuda::Api api;
    int version = 0, count = 0;
    if (api.driverGetVersion(&version) != cuda::success)
      return "CUDA driver without a version\n";
    std::string text =
        concat("CUDA driver ", version / 1000, ".", version % 1000 / 10, "\n");
    api.check(api.init(0), "to start");
    api.check(api.deviceGetCount(&count), "to count the GPUs");
    for (int i = 0; i < count; ++i) {
      cuda::Device device;
      char name[256] = {};
      api.check(api.deviceGet(&device, i), "to open GPU ", i);
      api.check(api.deviceGetName(name, sizeof(name), device), "to name GPU ",
                i);
      text += concat("GPU ", i, ": ", name, "\n");
    }
    return text;
  } catch (const Error &error) {
    return concat("no GPU: ", error.what(), "\n");
  }
}

static std::string compilerText() {
  try {
    return concat("compiler: ", CompilerLibrary().path(), "\n");
  } catch (const Error &) {
    return "compiler: libmmx-compiler is not there, only packages run\n";
  }
}

std::string mmx::tool::versionText() {
  return concat("mmx ", MMX_VERSION, " (", MMX_REVISION, ")\n", compilerText(),
                gpuText());
}
