//===- CudaHandles.h - Owners of what the driver makes ----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each frees its object at its end and must not outlive the Api nor, but for
// PrimaryContext, the context. Constructors throw Error. Not copied nor moved.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_DEVICE_CUDAHANDLES_H
#define MMX_RUNTIME_DEVICE_CUDAHANDLES_H

#include "runtime/device/CudaApi.h"

namespace mmx::runtime::cuda {

/// Base of the owners.
class Owner {
public:
  explicit Owner(const Api &api) : api(api) {}
  Owner(const Owner &) = delete;
  Owner &operator=(const Owner &) = delete;

protected:
  const Api &api;
};

/// The context that a process shares on a device.
class PrimaryContext : Owner {
public:
  PrimaryContext(const Api &api, Device device) : Owner(api), device(device) {
    api.check(api.devicePrimaryCtxRetain(&context, device),
              "opening the context of the GPU");
    makeCurrent();
  }
  ~PrimaryContext() { api.devicePrimaryCtxRelease(device); }
  /// For the calling thread.
  void makeCurrent() const {
    api.check(api.ctxSetCurrent(context), "choosing the context");
  }

private:
  Device device;
  Context context = nullptr;
};

class OwnedStream : Owner {
public:
  explicit OwnedStream(const Api &api) : Owner(api) {
    api.check(api.streamCreate(&stream, streamNonBlocking),
              "creating a stream");
  }
  ~OwnedStream() { api.streamDestroy(stream); }
  operator Stream() const { return stream; }

private:
  Stream stream = nullptr;
};

class OwnedEvent : Owner {
public:
  OwnedEvent(const Api &api, unsigned flags) : Owner(api) {
    api.check(api.eventCreate(&event, flags), "creating an event");
  }
  ~OwnedEvent() { api.eventDestroy(event); }
  operator Event() const { return event; }

private:
  Event event = nullptr;
};

/// Host memory that the GPU reads by itself.
class PinnedMemory : Owner {
public:
  PinnedMemory(const Api &api, uint64_t bytes) : Owner(api), size(bytes) {
    api.check(api.memHostAlloc(&memory, bytes, /*flags=*/0), "pinning ", bytes,
              " bytes of host memory");
  }
  ~PinnedMemory() { api.memFreeHost(memory); }
  std::byte *data() const { return static_cast<std::byte *>(memory); }
  uint64_t bytes() const { return size; }

private:
  void *memory = nullptr;
  uint64_t size;
};

} // namespace mmx::runtime::cuda

#endif // MMX_RUNTIME_DEVICE_CUDAHANDLES_H
