//===- CudaDevice.h - Kernels on a GPU of NVIDIA ----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All commands go to one stream, so they take effect in the order given.
// Uploads pass through a ring of pinned memory and return before the copy is
// done; weights are converted on several threads into pinned buffers and
// copied from there. A recorded program is a CUDA graph.
//
// Addresses are those of the GPU: the host must not read them. A launch whose
// kernel needs global scratch gets the one scratch area, which grows.
//
// Ownership, threads and errors as in Device.h. A kernel that fails is seen by
// a later command; timed() names it.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_DEVICE_CUDADEVICE_H
#define MMX_RUNTIME_DEVICE_CUDADEVICE_H

#include "runtime/device/CudaHandles.h"
#include "runtime/device/Device.h"

namespace mmx::runtime {

/// The target that the GPU called `name` runs packages of: "h20", "h100",
/// "h200" or "h800"; other GPUs of compute capability 9.0 are "h200". Throws
/// for other architectures.
std::string cudaTarget(std::string_view name, int major, int minor);

class CudaDevice final : public Device {
public:
  struct Options {
    int ordinal = 0;
    /// Threads that load weights; < 1: up to 16.
    int threads = 0;
    /// Takes packages of this target; empty: of the GPU's own.
    std::string target = {};
  };
  explicit CudaDevice(const Options &options);
  ~CudaDevice() override;

  /// "NVIDIA H200".
  const std::string &name() const { return gpu.name; }

  std::string target() const override { return theTarget; }
  std::byte *allocate(uint64_t bytes) override;
  void release(std::byte *memory, uint64_t bytes) override;
  void upload(std::byte *to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const std::byte *from) override;
  void set(std::byte *memory, uint64_t bytes, uint8_t value) override;
  std::span<const std::byte> view(const std::byte *from, uint64_t bytes,
                                  std::vector<std::byte> &staging) override;
  std::unique_ptr<KernelSet> load(const Package &package) override;
  void launch(const KernelSet &kernels, const KernelLaunch &launch) override;
  void wait() override;
  double timed(const KernelSet &kernels, const KernelLaunch &launch) override;
  std::unique_ptr<LaunchGraph>
  record(const KernelSet &kernels,
         std::span<const KernelLaunch> launches) override;
  void replay(const LaunchGraph &graph) override;
  void fill(const Pieces &pieces) override;

private:
  struct Gpu {
    cuda::Device device = 0;
    std::string name;
    int major = 0, minor = 0;
  };
  static Gpu find(const cuda::Api &api, int ordinal);
  void reserveScratch(uint64_t bytes);
  std::string memoryText(uint64_t wanted) const;

  Options options;
  cuda::Api api;
  Gpu gpu;
  std::string theTarget;
  cuda::PrimaryContext context;
  cuda::OwnedStream stream;
  cuda::OwnedEvent begin, end; ///< of timed()
  cuda::PinnedMemory ring;     ///< for uploads
  uint64_t ringUsed = 0;
  /// Shared with the graphs that were recorded with it.
  std::shared_ptr<DeviceMemory> scratch;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_DEVICE_CUDADEVICE_H
