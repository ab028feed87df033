//===- CudaApi.cpp - The CUDA driver, opened at run time ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CudaApi.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace mmx::runtime;
using namespace mmx::runtime::cuda;

namespace {

/// Looks functions up in the library.
class Resolver {
public:
  Resolver(void *library, std::string name)
      : library(library), name(std::move(name)) {}

  template <typename FunctionPointer>
  void operator()(FunctionPointer &function, const char *symbol) const {
    function = reinterpret_cast<FunctionPointer>(::dlsym(library, symbol));
    if (!function)
      fail(name, " lacks ", symbol, driverText(),
           "; a driver for CUDA 12.0 or later is needed");
  }

private:
  /// What the driver says of itself.
  std::string driverText() const {
    int version = 0;
    auto *get = reinterpret_cast<decltype(Api::driverGetVersion)>(
        ::dlsym(library, "cuDriverGetVersion"));
    if (!get || get(&version) != success)
      return "";
    return concat(": the driver is for CUDA ", version / 1000, ".",
                  version % 1000 / 10);
  }

  void *library;
  std::string name;
};

} // namespace

static std::string libraryPath() {
  const char *path = std::getenv("MMX_LIBCUDA");
  return path && *path ? path : "libcuda.so.1";
}

Api::Api() {
  std::string path = libraryPath();
  handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *error = ::dlerror();
    fail("cannot open the CUDA driver: ", error ? error : path,
         "; install the NVIDIA driver of a machine with a GPU, or use --device "
         "cpu");
  }
  try {
    resolveAll();
  } catch (...) {
    ::dlclose(handle);
    throw;
  }
}

// The driver starts threads of its own: it stays loaded until the program ends.
Api::~Api() = default;

void Api::resolveAll() {
  Resolver resolve(handle, libraryPath());
  resolve(init, "cuInit");
  resolve(driverGetVersion, "cuDriverGetVersion");
  resolve(getErrorName, "cuGetErrorName");
  resolve(getErrorString, "cuGetErrorString");
  resolve(deviceGetCount, "cuDeviceGetCount");
  resolve(deviceGet, "cuDeviceGet");
  resolve(deviceGetName, "cuDeviceGetName");
  resolve(deviceGetAttribute, "cuDeviceGetAttribute");
  resolve(devicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  resolve(devicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  resolve(ctxSetCurrent, "cuCtxSetCurrent");
  resolve(memAlloc, "cuMemAlloc_v2");
  resolve(memFree, "cuMemFree_v2");
  resolve(memGetInfo, "cuMemGetInfo_v2");
  resolve(memHostAlloc, "cuMemHostAlloc");
  resolve(memFreeHost, "cuMemFreeHost");
  resolve(memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  resolve(memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  resolve(memsetD8Async, "cuMemsetD8Async");
  resolve(streamCreate, "cuStreamCreate");
  resolve(streamDestroy, "cuStreamDestroy_v2");
  resolve(streamSynchronize, "cuStreamSynchronize");
  resolve(eventCreate, "cuEventCreate");
  resolve(eventDestroy, "cuEventDestroy_v2");
  resolve(eventRecord, "cuEventRecord");
  resolve(eventSynchronize, "cuEventSynchronize");
  resolve(eventElapsedTime, "cuEventElapsedTime");
  resolve(moduleLoadDataEx, "cuModuleLoadDataEx");
  resolve(moduleUnload, "cuModuleUnload");
  resolve(moduleGetFunction, "cuModuleGetFunction");
  resolve(funcGetAttribute, "cuFuncGetAttribute");
  resolve(funcSetAttribute, "cuFuncSetAttribute");
  resolve(launchKernelEx, "cuLaunchKernelEx");
  resolve(tensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  resolve(streamBeginCapture, "cuStreamBeginCapture_v2");
  resolve(streamEndCapture, "cuStreamEndCapture");
  resolve(graphInstantiate, "cuGraphInstantiateWithFlags");
  resolve(graphLaunch, "cuGraphLaunch");
  resolve(graphExecDestroy, "cuGraphExecDestroy");
  resolve(graphDestroy, "cuGraphDestroy");
}

std::string Api::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  if (!name)
    return concat("error ", result);
  return text ? concat(name, " (", text, ")") : name;
}
