//===- CudaKernels.cpp - The kernels of a package on a GPU ----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CudaKernels.h"

#include <memory>

using namespace mmx;
using namespace mmx::runtime;

/// Blocks of a cluster that every GPU of an architecture takes.
static constexpr uint32_t portableCluster = 8;
static constexpr int64_t mostBlocksInX = 2147483647, mostBlocksInYZ = 65535;

CudaKernels::CudaKernels(const cuda::Api &api, const Package &package)
    : api(api) {
  // The destructor does not run if this throws.
  try {
    int64_t number = 0;
    for (const package::Object *object : *package->objects()) {
      try {
        modules.push_back(loadObject(*object));
      } catch (const Error &error) {
        fail("object ", number, ": ", error.what());
      }
      ++number;
    }
    for (const package::Kernel *table : *package->kernels()) {
      kernels.push_back({table, nullptr, nullptr});
      try {
        prepare(kernels.back());
      } catch (const Error &error) {
        fail("kernel \"", table->name()->str(), "\": ", error.what());
      }
    }
  } catch (const Error &error) {
    for (cuda::Module module : modules)
      api.moduleUnload(module);
    fail(package.name(), ": ", error.what());
  }
}

CudaKernels::~CudaKernels() {
  for (cuda::Module module : modules)
    api.moduleUnload(module);
}

cuda::Module CudaKernels::loadObject(const package::Object &object) {
  std::string refusal;
  if (object.data()->size() > 0) {
    cuda::Module module = nullptr;
    cuda::Result result = api.moduleLoadDataEx(&module, object.data()->data(),
                                               0, nullptr, nullptr);
    if (result == cuda::success)
      return module;
    bool refused =
        result == cuda::noBinaryForGpu || result == cuda::invalidImage;
    if (!refused || !object.ptx())
      api.check(result, "loading the machine code");
    refusal = "the machine code: " + api.describe(result) + "\n";
  }
  if (!object.ptx())
    fail("holds neither machine code nor PTX");
  return loadPtx(object.ptx()->c_str(), refusal);
}

cuda::Module CudaKernels::loadPtx(const char *ptx, const std::string &before) {
  std::vector<char> log(16384, '\0');
  int names[] = {cuda::jitErrorLog, cuda::jitErrorLogSize};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size() - 1)};
  cuda::Module module = nullptr;
  cuda::Result result = api.moduleLoadDataEx(&module, ptx, 2, names, values);
  if (result != cuda::success)
    fail(before, "compiling the PTX: ", api.describe(result), "\n", log.data());
  return module;
}

void CudaKernels::prepare(Kernel &kernel) {
  const package::GpuKernel &gpu = *kernel.table->gpu();
  api.check(api.moduleGetFunction(&kernel.function,
                                  modules[kernel.table->object()],
                                  kernel.table->symbol()->c_str()),
            "looking for the symbol \"", kernel.table->symbol()->str(), "\"");
  int threads = 0;
  api.check(
      api.funcGetAttribute(&threads, cuda::maxThreadsPerBlock, kernel.function),
      "asking how many threads a block may have");
  if (threads < int(gpu.threads()))
    fail("needs blocks of ", gpu.threads(),
         " threads, but its registers allow ", threads);
  if (gpu.shared() > 0)
    api.check(api.funcSetAttribute(kernel.function, cuda::maxDynamicShared,
                                   int(gpu.shared())),
              "asking for ", gpu.shared(), " bytes of shared memory");
  uint32_t blocks = 1;
  if (gpu.cluster())
    for (uint32_t extent : *gpu.cluster())
      blocks *= extent;
  if (blocks > portableCluster)
    api.check(
        api.funcSetAttribute(kernel.function, cuda::nonPortableCluster, 1),
        "asking for clusters of ", blocks, " blocks");
  kernel.maps = std::make_unique<CudaTensorMaps>(api, gpu);
}

uint64_t CudaKernels::scratchBytes(const KernelLaunch &launch) const {
  uint64_t bytes = kernels[launch.kernel].table->scratch();
  for (int64_t extent : launch.grid)
    if (__builtin_mul_overflow(bytes, uint64_t(extent), &bytes))
      fail("needs more than 2^64 bytes of scratch");
  return bytes;
}

void CudaKernels::checkGrid(const package::Kernel &kernel,
                            const std::array<int64_t, 3> &grid) const {
  if (grid[0] > mostBlocksInX || grid[1] > mostBlocksInYZ ||
      grid[2] > mostBlocksInYZ)
    fail("expected a grid of at most [", mostBlocksInX, ", ", mostBlocksInYZ,
         ", ", mostBlocksInYZ, "] blocks, but got ", listText(grid),
         "; use a smaller --chunk");
  const auto *cluster = kernel.gpu()->cluster();
  for (uint32_t i = 0; cluster && i < cluster->size(); ++i)
    if (grid[i] % cluster->Get(i) != 0)
      fail("expected a grid of whole clusters of ", listText(*cluster),
           ", but got ", listText(grid));
}

void CudaKernels::launch(const KernelLaunch &launch, cuda::Stream stream,
                         std::byte *scratch) const {
  const Kernel &kernel = kernels[launch.kernel];
  const package::GpuKernel &gpu = *kernel.table->gpu();
  try {
    checkGrid(*kernel.table, launch.grid);
    // CUDA reads each parameter through its address.
    std::vector<void *> parameters;
    auto add = [&](const auto &parameter) {
      parameters.push_back(const_cast<void *>(
          static_cast<const void *>(std::addressof(parameter))));
    };
    for (const cuda::TensorMap &map : kernel.maps->of(launch))
      add(map);
    for (std::byte *const &buffer : launch.buffers)
      add(buffer);
    for (const int64_t &extent : launch.extents)
      add(extent);
    add(scratch);

    cuda::LaunchAttribute attributes[2] = {};
    cuda::LaunchConfig config = {unsigned(launch.grid[0]),
                                 unsigned(launch.grid[1]),
                                 unsigned(launch.grid[2]),
                                 gpu.threads(),
                                 1,
                                 1,
                                 gpu.shared(),
                                 stream,
                                 attributes,
                                 0};
    if (const auto *cluster = gpu.cluster()) {
      cuda::LaunchAttribute &attribute = attributes[config.attributeCount++];
      attribute.id = cuda::attributeCluster;
      attribute.value.cluster = {cluster->Get(0), cluster->Get(1),
                                 cluster->Get(2)};
    }
    if (gpu.programmatic()) {
      cuda::LaunchAttribute &attribute = attributes[config.attributeCount++];
      attribute.id = cuda::attributeProgrammatic;
      attribute.value.programmatic = 1;
    }
    api.check(api.launchKernelEx(&config, kernel.function, parameters.data(),
                                 nullptr),
              "launching blocks ", listText(launch.grid), " of ", gpu.threads(),
              " threads with ", gpu.shared(), " bytes of shared memory");
  } catch (const Error &error) {
    fail("kernel \"", kernel.table->name()->str(), "\": ", error.what());
  }
}
