//===- CpuDevice.h - Kernels on the cores of this machine -------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are functions of an ELF shared object, called once for every cell of
// the grid on a ThreadPool (ABI: schema/package.fbs). launch returns when the
// kernel is done. Ownership, threads and errors as in Device.h.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_DEVICE_CPUDEVICE_H
#define MMX_RUNTIME_DEVICE_CPUDEVICE_H

#include "runtime/device/Device.h"
#include "runtime/device/ThreadPool.h"

namespace mmx::runtime {

class CpuDevice final : public Device {
public:
  /// `threads` < 1: as many as this process may run on.
  explicit CpuDevice(int threads = 0);

  std::string target() const override { return "cpu"; }
  std::byte *allocate(uint64_t bytes) override;
  void release(std::byte *memory, uint64_t bytes) override;
  void upload(std::byte *to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const std::byte *from) override;
  void set(std::byte *memory, uint64_t bytes, uint8_t value) override;
  std::span<const std::byte> view(const std::byte *from, uint64_t bytes,
                                  std::vector<std::byte> &staging) override;
  std::unique_ptr<KernelSet> load(const Package &package) override;
  void launch(const KernelSet &kernels, const KernelLaunch &launch) override;
  void wait() override {}
  void fill(const Pieces &pieces) override;

private:
  void reserveScratch(uint64_t bytes);

  ThreadPool pool;
  std::vector<DeviceMemory> scratch; ///< one per worker
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_DEVICE_CPUDEVICE_H
