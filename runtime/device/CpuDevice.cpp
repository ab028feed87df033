//===- CpuDevice.cpp - Kernels on the cores of this machine ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuDevice.h"

#include "runtime/package/CpuFeatures.h"
#include "runtime/support/Error.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mmx;
using namespace mmx::runtime;

namespace {

using KernelFunction = void (*)(void *const *buffers, const int64_t *extents,
                                int64_t i, int64_t j, int64_t k, void *scratch);

/// A file in memory. Its path names it for as long as it is open.
class MemoryFile {
public:
  explicit MemoryFile(std::span<const uint8_t> image)
      : file(::memfd_create("mmx-kernels", MFD_CLOEXEC)) {
    if (file < 0)
      fail("cannot create a file in memory: ", std::strerror(errno));
    while (!image.empty()) {
      ssize_t written = ::write(file, image.data(), image.size());
      if (written <= 0) {
        int error = errno;
        ::close(file);
        fail("cannot write the object to memory: ", std::strerror(error));
      }
      image = image.subspan(written);
    }
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  ~MemoryFile() { ::close(file); }

  std::string path() const { return concat("/proc/self/fd/", file); }

private:
  int file;
};

/// A shared object opened from memory. The file stays open as long: dlopen
/// knows an object again by its path, which the next file would share.
class SharedObject {
public:
  explicit SharedObject(std::span<const uint8_t> image) : file(image) {
    handle = ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      fail("cannot load the object: ", ::dlerror());
  }
  SharedObject(const SharedObject &) = delete;
  SharedObject &operator=(const SharedObject &) = delete;
  ~SharedObject() { ::dlclose(handle); }

  void *symbol(const std::string &name) const {
    void *address = ::dlsym(handle, name.c_str());
    if (!address)
      fail("has no symbol \"", name, "\"");
    return address;
  }

private:
  MemoryFile file;
  void *handle = nullptr;
};

class CpuKernels final : public KernelSet {
public:
  std::vector<std::unique_ptr<SharedObject>> objects;
  std::vector<KernelFunction> functions;
  uint64_t scratch = 0;
};

} // namespace

CpuDevice::CpuDevice(int threads) : pool(threads) { reserveScratch(4096); }

std::byte *CpuDevice::allocate(uint64_t bytes) {
  if (bytes == 0)
    bytes = 1;
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    fail("cannot allocate ", bytes, " bytes of memory: ", std::strerror(errno));
  // Weights are read in long runs: fewer, larger pages.
  if (bytes >= uint64_t(64) << 20)
    ::madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<std::byte *>(memory);
}

void CpuDevice::release(std::byte *memory, uint64_t bytes) {
  ::munmap(memory, bytes == 0 ? 1 : bytes);
}

void CpuDevice::upload(std::byte *to, std::span<const std::byte> from) {
  if (!from.empty())
    std::memcpy(to, from.data(), from.size());
}

void CpuDevice::download(std::span<std::byte> to, const std::byte *from) {
  if (!to.empty())
    std::memcpy(to.data(), from, to.size());
}

void CpuDevice::set(std::byte *memory, uint64_t bytes, uint8_t value) {
  std::memset(memory, value, bytes);
}

std::span<const std::byte> CpuDevice::view(const std::byte *from,
                                           uint64_t bytes,
                                           std::vector<std::byte> &staging) {
  return {from, bytes};
}

void CpuDevice::reserveScratch(uint64_t bytes) {
  if (!scratch.empty() && scratch.front().bytes() >= bytes)
    return;
  std::vector<DeviceMemory> larger;
  for (int worker = 0; worker < pool.threads(); ++worker)
    larger.emplace_back(*this, bytes);
  scratch = std::move(larger);
}

/// Throws unless this machine has what `package` is compiled for.
static void checkMachine(const Package &package) {
  if (package->target()->string_view() != "cpu")
    fail(package.name(), ": is compiled for \"", package->target()->str(),
         "\", but the device is \"cpu\"; run it with --device cuda, or "
         "compile the model with --target cpu");
  if (!package->features())
    return;
  auto have = cpuFeatures();
  std::string missing;
  for (const flatbuffers::String *feature : *package->features())
    if (!have.contains(feature->string_view()))
      missing += " " + feature->str();
  if (!missing.empty())
    fail(package.name(),
         ": needs CPU features that this machine lacks:", missing,
         "; compile the model on this machine");
}

std::unique_ptr<KernelSet> CpuDevice::load(const Package &package) {
  checkMachine(package);
  auto kernels = std::make_unique<CpuKernels>();
  try {
    for (const package::Object *object : *package->objects())
      kernels->objects.push_back(std::make_unique<SharedObject>(
          std::span(object->data()->data(), object->data()->size())));
    for (const package::Kernel *kernel : *package->kernels()) {
      void *address =
          kernels->objects[kernel->object()]->symbol(kernel->symbol()->str());
      kernels->functions.push_back(reinterpret_cast<KernelFunction>(address));
      kernels->scratch = std::max(kernels->scratch, kernel->scratch());
    }
  } catch (const Error &error) {
    fail(package.name(), ": ", error.what());
  }
  reserveScratch(kernels->scratch);
  return kernels;
}

void CpuDevice::launch(const KernelSet &kernels, const KernelLaunch &launch) {
  KernelFunction function =
      static_cast<const CpuKernels &>(kernels).functions[launch.kernel];
  auto *buffers = reinterpret_cast<void *const *>(launch.buffers.data());
  const int64_t *extents = launch.extents.data();
  auto [width, height, depth] = launch.grid;
  pool.forEach(width * height * depth, [&](int64_t cell, int worker) {
    function(buffers, extents, cell % width, cell / width % height,
             cell / (width * height), scratch[worker].data());
  });
}

void CpuDevice::fill(const Pieces &pieces) {
  pool.forEach(pieces.count, [&](int64_t piece, int worker) {
    pieces.fill(piece, pieces.place(piece));
  });
}
