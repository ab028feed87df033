//===- Device.h - Where kernels run -----------------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Device allocates memory, loads the kernels of a package and runs them. The
// engines know this interface only. One thread at a time uses a device; memory
// and kernel sets must not outlive it. Commands (upload, download, set,
// launch) take effect in the order given; launch may return before the kernel
// is done, wait() returns after all of them.
//
// Errors: allocation and loading throw, naming the size or the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_DEVICE_DEVICE_H
#define MMX_RUNTIME_DEVICE_DEVICE_H

#include "runtime/package/Package.h"

#include <array>
#include <cstddef>
#include <functional>

namespace mmx::runtime {

/// The kernels of one package, ready to run.
class KernelSet {
public:
  virtual ~KernelSet() = default;
};

/// Launches that a device has taken in as one; see Device::record.
class LaunchGraph {
public:
  virtual ~LaunchGraph() = default;
};

/// One run of kernel number `kernel`; the arrays belong to the caller and
/// need to last until launch returns.
struct KernelLaunch {
  int64_t kernel;
  std::span<std::byte *const> buffers;
  std::span<const int64_t> extents;
  std::array<int64_t, 3> grid;
};

class Device {
public:
  virtual ~Device() = default;

  /// "cpu", "h200", as in Package.target.
  virtual std::string target() const = 0;

  /// `bytes` of zeros, aligned to 64 bytes. On the CPU in pages that cost
  /// nothing until they are touched. Use DeviceMemory.
  virtual std::byte *allocate(uint64_t bytes) = 0;
  virtual void release(std::byte *memory, uint64_t bytes) = 0;

  virtual void upload(std::byte *to, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, const std::byte *from) = 0;
  /// Sets every byte to `value`.
  virtual void set(std::byte *memory, uint64_t bytes, uint8_t value) = 0;
  /// The bytes as the host sees them: in place if it can, else a copy in
  /// `staging`. Valid until the next command.
  virtual std::span<const std::byte> view(const std::byte *from, uint64_t bytes,
                                          std::vector<std::byte> &staging) = 0;

  /// Throws if this machine lacks what the package needs. The package must
  /// outlive the kernels.
  virtual std::unique_ptr<KernelSet> load(const Package &package) = 0;
  virtual void launch(const KernelSet &kernels, const KernelLaunch &launch) = 0;
  virtual void wait() = 0;

  /// Runs one launch by itself and returns the seconds it took.
  virtual double timed(const KernelSet &kernels, const KernelLaunch &launch);

  /// Takes in `launches` so that replay runs them again, with the same memory
  /// and the same sizes. Null if the device gains nothing by it. The kernels
  /// must outlive the graph.
  virtual std::unique_ptr<LaunchGraph>
  record(const KernelSet &kernels, std::span<const KernelLaunch> launches) {
    return nullptr;
  }
  /// A command, like launch.
  virtual void replay(const LaunchGraph &graph) {}

  /// Runs fill(piece, memory) for every piece below `count`, several at once;
  /// `place(piece)` is where it goes and `bytes(piece)` how much `fill` writes
  /// to `memory`, which is the place itself or a staging buffer.
  struct Pieces {
    int64_t count;
    std::function<std::byte *(int64_t)> place;
    std::function<uint64_t(int64_t)> bytes;
    std::function<void(int64_t, std::byte *)> fill;
  };
  virtual void fill(const Pieces &pieces) = 0;
};

/// Owns memory of a device.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(Device &device, uint64_t bytes)
      : device(&device), memory(device.allocate(bytes)), size(bytes) {}
  DeviceMemory(DeviceMemory &&other) noexcept { *this = std::move(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    std::swap(device, other.device);
    std::swap(memory, other.memory);
    std::swap(size, other.size);
    return *this;
  }
  ~DeviceMemory() {
    if (memory)
      device->release(memory, size);
  }

  std::byte *data() const { return memory; }
  uint64_t bytes() const { return size; }

private:
  Device *device = nullptr;
  std::byte *memory = nullptr;
  uint64_t size = 0;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_DEVICE_DEVICE_H
