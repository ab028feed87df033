//===- CudaDevice.cpp - Kernels on a GPU of NVIDIA ------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CudaDevice.h"

#include "runtime/device/CudaKernels.h"
#include "runtime/device/ThreadPool.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>

using namespace mmx;
using namespace mmx::runtime;

static constexpr uint64_t ringBytes = uint64_t(1) << 20;
static constexpr int mostFillThreads = 16;

static cuda::Pointer address(const std::byte *memory) {
  return std::bit_cast<cuda::Pointer>(memory);
}

static const CudaKernels &cudaKernels(const KernelSet &kernels) {
  return static_cast<const CudaKernels &>(kernels);
}

std::string mmx::runtime::cudaTarget(std::string_view name, int major,
                                     int minor) {
  if (major != 9 || minor != 0)
    fail(name, " has compute capability ", major, ".", minor,
         ", but kernels are made for 9.0 (Hopper); use another GPU or --device "
         "cpu");
  for (std::string_view target : {"H20", "H100", "H200", "H800"}) {
    size_t begin = name.find(target), end = begin + target.size();
    // "H20" is not in "H200".
    if (begin == std::string_view::npos ||
        (end < name.size() && std::isdigit((unsigned char)name[end])))
      continue;
    return "h" + std::string(target.substr(1));
  }
  return "h200";
}

CudaDevice::Gpu CudaDevice::find(const cuda::Api &api, int ordinal) {
  cuda::Result result = api.init(0);
  int count = 0;
  if (result == cuda::success)
    result = api.deviceGetCount(&count);
  if (result == cuda::noDevice || (result == cuda::success && count == 0))
    fail("the CUDA driver sees no GPU; look at nvidia-smi and "
         "CUDA_VISIBLE_DEVICES, or use --device cpu");
  api.check(result, "starting up");
  if (ordinal < 0 || ordinal >= count)
    fail("expected a GPU below ", count, ", but got ", ordinal);
  Gpu gpu;
  api.check(api.deviceGet(&gpu.device, ordinal), "opening GPU ", ordinal);
  char name[256] = {};
  api.check(api.deviceGetName(name, sizeof(name) - 1, gpu.device),
            "asking for the name of GPU ", ordinal);
  gpu.name = name;
  auto attribute = [&](int number, int &value) {
    api.check(api.deviceGetAttribute(&value, number, gpu.device),
              "asking for the compute capability of ", gpu.name);
  };
  attribute(cuda::computeCapabilityMajor, gpu.major);
  attribute(cuda::computeCapabilityMinor, gpu.minor);
  return gpu;
}

CudaDevice::CudaDevice(const Options &options)
    : options(options), gpu(find(api, options.ordinal)),
      theTarget(cudaTarget(gpu.name, gpu.major, gpu.minor)),
      context(api, gpu.device), stream(api), begin(api, cuda::eventDefault),
      end(api, cuda::eventDefault), ring(api, ringBytes) {
  if (!options.target.empty())
    theTarget = options.target;
}

CudaDevice::~CudaDevice() {
  scratch.reset();
  api.streamSynchronize(stream);
}

/// "1.50 GiB", "12 bytes".
static std::string sizeText(uint64_t bytes) {
  static constexpr const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  double value = double(bytes);
  while (value >= 1024 && unit < 4)
    value /= 1024, ++unit;
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.2f %s", value,
                units[unit]);
  return text;
}

std::string CudaDevice::memoryText(uint64_t wanted) const {
  size_t free = 0, total = 0;
  std::string text = concat("wanted ", sizeText(wanted));
  if (api.memGetInfo(&free, &total) == cuda::success)
    text +=
        concat(", but ", sizeText(free), " of ", sizeText(total), " are free");
  return text;
}

std::byte *CudaDevice::allocate(uint64_t bytes) {
  context.makeCurrent();
  uint64_t size = std::max<uint64_t>(bytes, 1);
  cuda::Pointer memory = 0;
  cuda::Result result = api.memAlloc(&memory, size);
  if (result == cuda::outOfMemory)
    fail(gpu.name, " is out of memory: ", memoryText(bytes),
         "; use a smaller --ctx or --chunk, or fewer prompts");
  api.check(result, "allocating ", sizeText(bytes));
  result = api.memsetD8Async(memory, 0, size, stream);
  if (result != cuda::success) {
    api.memFree(memory);
    api.check(result, "clearing ", sizeText(bytes));
  }
  return std::bit_cast<std::byte *>(memory);
}

void CudaDevice::release(std::byte *memory, uint64_t bytes) {
  // Waits for the kernels that use the memory.
  api.memFree(address(memory));
}

void CudaDevice::upload(std::byte *to, std::span<const std::byte> from) {
  context.makeCurrent();
  while (!from.empty()) {
    if (ringUsed == ring.bytes())
      wait();
    uint64_t count = std::min<uint64_t>(from.size(), ring.bytes() - ringUsed);
    std::byte *staged = ring.data() + ringUsed;
    std::memcpy(staged, from.data(), count);
    api.check(api.memcpyHtoDAsync(address(to), staged, count, stream),
              "copying ", count, " bytes to the GPU");
    ringUsed += count;
    to += count;
    from = from.subspan(count);
  }
}

void CudaDevice::download(std::span<std::byte> to, const std::byte *from) {
  context.makeCurrent();
  if (!to.empty())
    api.check(api.memcpyDtoHAsync(to.data(), address(from), to.size(), stream),
              "copying ", to.size(), " bytes from the GPU");
  wait();
}

void CudaDevice::set(std::byte *memory, uint64_t bytes, uint8_t value) {
  context.makeCurrent();
  if (bytes > 0)
    api.check(api.memsetD8Async(address(memory), value, bytes, stream),
              "filling ", bytes, " bytes");
}

std::span<const std::byte> CudaDevice::view(const std::byte *from,
                                            uint64_t bytes,
                                            std::vector<std::byte> &staging) {
  staging.resize(bytes);
  download(staging, from);
  return staging;
}

std::unique_ptr<KernelSet> CudaDevice::load(const Package &package) {
  context.makeCurrent();
  std::string wanted = package->target()->str();
  if (wanted != theTarget)
    fail(package.name(), ": is compiled for \"", wanted, "\", but ", gpu.name,
         " is \"", theTarget, "\"; compile the model with --target ",
         theTarget);
  return std::make_unique<CudaKernels>(api, package);
}

void CudaDevice::reserveScratch(uint64_t bytes) {
  if (bytes == 0 || (scratch && scratch->bytes() >= bytes))
    return;
  // The old area first, unless a graph holds it: the two need not exist at
  // once.
  scratch.reset();
  scratch = std::make_shared<DeviceMemory>(*this, bytes);
}

void CudaDevice::launch(const KernelSet &kernels, const KernelLaunch &launch) {
  context.makeCurrent();
  uint64_t bytes = cudaKernels(kernels).scratchBytes(launch);
  reserveScratch(bytes);
  cudaKernels(kernels).launch(launch, stream,
                              bytes > 0 ? scratch->data() : nullptr);
}

void CudaDevice::wait() {
  context.makeCurrent();
  api.check(api.streamSynchronize(stream),
            "running kernels (--profile runs them one by one and names the "
            "one that fails)");
  ringUsed = 0;
}

double CudaDevice::timed(const KernelSet &kernels, const KernelLaunch &launch) {
  context.makeCurrent();
  api.check(api.eventRecord(begin, stream), "recording an event");
  this->launch(kernels, launch);
  api.check(api.eventRecord(end, stream), "recording an event");
  api.check(api.eventSynchronize(end), "running the kernel");
  float milliseconds = 0;
  api.check(api.eventElapsedTime(&milliseconds, begin, end),
            "reading the time of a kernel");
  return milliseconds * 1e-3;
}

namespace {

class CudaGraph final : public LaunchGraph {
public:
  CudaGraph(const cuda::Api &api, cuda::GraphExec graph,
            std::shared_ptr<DeviceMemory> scratch)
      : api(api), graph(graph), scratch(std::move(scratch)) {}
  ~CudaGraph() override { api.graphExecDestroy(graph); }
  cuda::GraphExec get() const { return graph; }

private:
  const cuda::Api &api;
  cuda::GraphExec graph;
  std::shared_ptr<DeviceMemory> scratch;
};

} // namespace

std::unique_ptr<LaunchGraph>
CudaDevice::record(const KernelSet &kernels,
                   std::span<const KernelLaunch> launches) {
  context.makeCurrent();
  const CudaKernels &set = cudaKernels(kernels);
  // Nothing may be allocated while a stream is captured.
  for (const KernelLaunch &launch : launches)
    reserveScratch(set.scratchBytes(launch));
  api.check(api.streamBeginCapture(stream, cuda::captureThreadLocal),
            "beginning to record a graph");
  cuda::Graph graph = nullptr;
  try {
    for (const KernelLaunch &launch : launches)
      set.launch(launch, stream,
                 set.scratchBytes(launch) > 0 ? scratch->data() : nullptr);
  } catch (...) {
    api.streamEndCapture(stream, &graph);
    if (graph)
      api.graphDestroy(graph);
    throw;
  }
  api.check(api.streamEndCapture(stream, &graph), "recording a graph of ",
            launches.size(), " launches");
  cuda::GraphExec executable = nullptr;
  cuda::Result result = api.graphInstantiate(&executable, graph, /*flags=*/0);
  api.graphDestroy(graph);
  if (result == cuda::outOfMemory)
    fail(gpu.name, " is out of memory for a graph of ", launches.size(),
         " launches: ", memoryText(0), "; use --no-graph");
  api.check(result, "making a graph of ", launches.size(), " launches");
  return std::make_unique<CudaGraph>(api, executable, scratch);
}

void CudaDevice::replay(const LaunchGraph &graph) {
  context.makeCurrent();
  api.check(
      api.graphLaunch(static_cast<const CudaGraph &>(graph).get(), stream),
      "launching a graph");
}

namespace {

/// One thread's pinned buffers: one is filled while the other is copied.
class FillBuffers {
public:
  FillBuffers(const cuda::Api &api, uint64_t bytes)
      : api(api), memory{{api, bytes}, {api, bytes}},
        copied{{api, cuda::eventDisableTiming},
               {api, cuda::eventDisableTiming}} {}

  /// A buffer that no copy reads any more.
  std::byte *next() {
    current ^= 1;
    if (used[current])
      api.check(api.eventSynchronize(copied[current]), "loading weights");
    return memory[current].data();
  }
  void copy(std::byte *to, uint64_t bytes, cuda::Stream stream) {
    api.check(
        api.memcpyHtoDAsync(address(to), memory[current].data(), bytes, stream),
        "copying ", bytes, " bytes of weights to the GPU");
    api.check(api.eventRecord(copied[current], stream), "recording an event");
    used[current] = true;
  }

private:
  const cuda::Api &api;
  cuda::PinnedMemory memory[2];
  cuda::OwnedEvent copied[2];
  bool used[2] = {};
  int current = 0;
};

} // namespace

void CudaDevice::fill(const Pieces &pieces) {
  context.makeCurrent();
  uint64_t largest = 1;
  for (int64_t i = 0; i < pieces.count; ++i)
    largest = std::max(largest, pieces.bytes(i));
  int threads = options.threads;
  if (threads < 1)
    threads = std::clamp(int(std::thread::hardware_concurrency()), 1,
                         mostFillThreads);
  threads = int(std::min<int64_t>(threads, std::max<int64_t>(pieces.count, 1)));
  ThreadPool pool(threads);
  std::vector<std::unique_ptr<FillBuffers>> buffers(pool.threads());
  auto fillOne = [&](int64_t piece, int worker) {
    context.makeCurrent();
    std::unique_ptr<FillBuffers> &own = buffers[worker];
    if (!own)
      own = std::make_unique<FillBuffers>(api, largest);
    pieces.fill(piece, own->next());
    own->copy(pieces.place(piece), pieces.bytes(piece), stream);
  };
  try {
    pool.forEach(pieces.count, fillOne);
  } catch (...) {
    // Copies read the buffers until they are done.
    api.streamSynchronize(stream);
    throw;
  }
  wait();
}
