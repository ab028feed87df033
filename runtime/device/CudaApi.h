//===- CudaApi.h - The CUDA driver, opened at run time ----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the driver API that the runtime uses, declared here so that it
// builds without CUDA and runs without a GPU. Names, values and layouts are
// those of cuda.h (CUDA 12.0 and later); functions are called as the library
// exports them.
//
// Threads: const after construction; calls follow the rules of the driver.
// Errors: a library that cannot be opened or lacks a function, and every
// result but success that goes through check, throw.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_DEVICE_CUDAAPI_H
#define MMX_RUNTIME_DEVICE_CUDAAPI_H

#include "runtime/support/Error.h"

#include <cstddef>
#include <cstdint>

namespace mmx::runtime::cuda {

using Result = int;
inline constexpr Result success = 0, outOfMemory = 2, noDevice = 100,
                        invalidImage = 200, noBinaryForGpu = 209;

using Device = int;
using Pointer = unsigned long long;
using Context = struct ContextTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Graph = struct GraphTag *;
using GraphExec = struct GraphExecTag *;

/// CUdevice_attribute.
inline constexpr int computeCapabilityMajor = 75, computeCapabilityMinor = 76;
/// CUfunction_attribute.
inline constexpr int maxThreadsPerBlock = 0, maxDynamicShared = 8,
                     nonPortableCluster = 14;
/// CUjit_option.
inline constexpr int jitErrorLog = 5, jitErrorLogSize = 6;
/// CUstream_flags, CUstreamCaptureMode, CUevent_flags.
inline constexpr unsigned streamNonBlocking = 1;
inline constexpr int captureThreadLocal = 1;
inline constexpr unsigned eventDefault = 0, eventDisableTiming = 2;
/// CUlaunchAttributeID.
inline constexpr int attributeCluster = 4, attributeProgrammatic = 6;

/// CUlaunchAttribute.
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int programmatic;
  } value;
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

/// CUtensorMap.
struct alignas(64) TensorMap {
  uint64_t opaque[16];
};
/// CUtensorMapDataType, CUtensorMapL2promotion.
inline constexpr int mapUInt8 = 0, mapInt32 = 3, mapFloat32 = 7, mapFloat64 = 8,
                     mapBFloat16 = 9;
inline constexpr int promote128Bytes = 2;

/// The functions of the driver. Each is named after its own: init is cuInit.
class Api {
public:
  /// Opens the library at MMX_LIBCUDA if that is set, else libcuda.so.1.
  Api();
  Api(const Api &) = delete;
  Api &operator=(const Api &) = delete;
  ~Api();

  /// Throws unless `result` is success: what was done, and what CUDA says.
  template <typename... Args>
  void check(Result result, const Args &...doing) const {
    if (result != success)
      fail("CUDA failed ", concat(doing...), ": ", describe(result));
  }
  /// "CUDA_ERROR_INVALID_VALUE (invalid argument)".
  std::string describe(Result result) const;

  Result (*init)(unsigned flags) = nullptr;
  Result (*driverGetVersion)(int *version) = nullptr;
  Result (*getErrorName)(Result, const char **) = nullptr;
  Result (*getErrorString)(Result, const char **) = nullptr;
  Result (*deviceGetCount)(int *) = nullptr;
  Result (*deviceGet)(Device *, int ordinal) = nullptr;
  Result (*deviceGetName)(char *, int length, Device) = nullptr;
  Result (*deviceGetAttribute)(int *, int attribute, Device) = nullptr;
  Result (*devicePrimaryCtxRetain)(Context *, Device) = nullptr;
  Result (*devicePrimaryCtxRelease)(Device) = nullptr;
  Result (*ctxSetCurrent)(Context) = nullptr;

  Result (*memAlloc)(Pointer *, size_t) = nullptr;
  Result (*memFree)(Pointer) = nullptr;
  Result (*memGetInfo)(size_t *free, size_t *total) = nullptr;
  Result (*memHostAlloc)(void **, size_t, unsigned flags) = nullptr;
  Result (*memFreeHost)(void *) = nullptr;
  Result (*memcpyHtoDAsync)(Pointer, const void *, size_t, Stream) = nullptr;
  Result (*memcpyDtoHAsync)(void *, Pointer, size_t, Stream) = nullptr;
  Result (*memsetD8Async)(Pointer, unsigned char, size_t, Stream) = nullptr;

  Result (*streamCreate)(Stream *, unsigned flags) = nullptr;
  Result (*streamDestroy)(Stream) = nullptr;
  Result (*streamSynchronize)(Stream) = nullptr;
  Result (*eventCreate)(Event *, unsigned flags) = nullptr;
  Result (*eventDestroy)(Event) = nullptr;
  Result (*eventRecord)(Event, Stream) = nullptr;
  Result (*eventSynchronize)(Event) = nullptr;
  Result (*eventElapsedTime)(float *milliseconds, Event, Event) = nullptr;

  Result (*moduleLoadDataEx)(Module *, const void *image, unsigned options,
                             int *optionNames, void **optionValues) = nullptr;
  Result (*moduleUnload)(Module) = nullptr;
  Result (*moduleGetFunction)(Function *, Module, const char *) = nullptr;
  Result (*funcGetAttribute)(int *, int attribute, Function) = nullptr;
  Result (*funcSetAttribute)(Function, int attribute, int value) = nullptr;
  Result (*launchKernelEx)(const LaunchConfig *, Function, void **parameters,
                           void **extra) = nullptr;
  Result (*tensorMapEncodeTiled)(TensorMap *, int dataType, uint32_t rank,
                                 void *address, const uint64_t *dims,
                                 const uint64_t *strides, const uint32_t *box,
                                 const uint32_t *elementStrides, int interleave,
                                 int swizzle, int promotion,
                                 int fill) = nullptr;

  Result (*streamBeginCapture)(Stream, int mode) = nullptr;
  Result (*streamEndCapture)(Stream, Graph *) = nullptr;
  Result (*graphInstantiate)(GraphExec *, Graph,
                             unsigned long long flags) = nullptr;
  Result (*graphLaunch)(GraphExec, Stream) = nullptr;
  Result (*graphExecDestroy)(GraphExec) = nullptr;
  Result (*graphDestroy)(Graph) = nullptr;

private:
  void resolveAll();

  void *handle = nullptr;
};

} // namespace mmx::runtime::cuda

#endif // MMX_RUNTIME_DEVICE_CUDAAPI_H
