//===- FakeCuda.cpp - A CUDA driver on host memory ------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include "runtime/device/CudaApi.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace mmx::runtime;
using namespace mmx::runtime::cuda;
using namespace mmx::test;

namespace {

using CpuKernel = void (*)(void *const *, const int64_t *, int64_t, int64_t,
                           int64_t, void *);
using Commands = std::vector<std::function<void()>>;

struct FakeFunction {
  std::string name;
  CpuKernel code;
};

FakeCuda state;
// Weights are loaded from several threads.
std::recursive_mutex mutex;
std::map<void *, size_t> allocations;
uint64_t allocated = 0;
bool capturing = false;
Commands captured;
thread_local bool hasContext = false;

} // namespace

/// Counts a call; what it must return.
static Result enter(const char *name) {
  std::lock_guard lock(mutex);
  int call = state.calls[name]++;
  auto failure = state.failures.find(name);
  bool fails = failure != state.failures.end() && call >= failure->second.after;
  return fails ? failure->second.result : success;
}

#define ENTER(name)                                                            \
  if (Result result = enter(name); result != success)                          \
    return result;

/// Does a command of the stream now, or keeps it while the stream is captured.
static Result enqueue(std::string text, std::function<void()> command) {
  std::lock_guard lock(mutex);
  if (!hasContext)
    return 201; // CUDA_ERROR_INVALID_CONTEXT
  auto run = [text = std::move(text), command = std::move(command)] {
    state.log.push_back(text);
    command();
  };
  if (capturing)
    captured.push_back(run);
  else
    run();
  return success;
}

/// Counts an object that the runtime has to give back.
template <typename Handle> static Handle made(void *object) {
  std::lock_guard lock(mutex);
  ++state.alive;
  return static_cast<Handle>(object);
}

static Result gone() {
  std::lock_guard lock(mutex);
  --state.alive;
  return success;
}

static int dummy;

extern "C" {

FakeCuda *fakeCudaReset() {
  std::lock_guard lock(mutex);
  state = FakeCuda();
  allocated = 0;
  capturing = false;
  return &state;
}

Result cuInit(unsigned) { return enter("cuInit"); }

#ifndef FAKE_CUDA_OLD
Result cuDriverGetVersion(int *version) {
  *version = 13000;
  return success;
}
#else
Result cuDriverGetVersion(int *version) {
  *version = 11040;
  return success;
}
#endif

Result cuGetErrorName(Result result, const char **name) {
  static const std::map<Result, const char *> names = {
      {1, "CUDA_ERROR_INVALID_VALUE"},
      {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {100, "CUDA_ERROR_NO_DEVICE"},
      {201, "CUDA_ERROR_INVALID_CONTEXT"},
      {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {218, "CUDA_ERROR_INVALID_PTX"},
      {500, "CUDA_ERROR_NOT_FOUND"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}};
  auto found = names.find(result);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? 1 : success;
}

Result cuGetErrorString(Result, const char **text) {
  *text = "a made-up failure";
  return success;
}

Result cuDeviceGetCount(int *count) {
  *count = state.gpus;
  return enter("cuDeviceGetCount");
}

Result cuDeviceGet(Device *device, int ordinal) {
  *device = ordinal;
  return enter("cuDeviceGet");
}

Result cuDeviceGetName(char *name, int length, Device) {
  std::strncpy(name, state.name.c_str(), length);
  return enter("cuDeviceGetName");
}

Result cuDeviceGetAttribute(int *value, int attribute, Device) {
  *value = attribute == computeCapabilityMajor ? state.major : state.minor;
  return enter("cuDeviceGetAttribute");
}

Result cuDevicePrimaryCtxRetain(Context *context, Device) {
  ENTER("cuDevicePrimaryCtxRetain");
  *context = reinterpret_cast<Context>(made<int *>(&dummy));
  return success;
}

Result cuDevicePrimaryCtxRelease_v2(Device) { return gone(); }

Result cuCtxSetCurrent(Context) {
  hasContext = true;
  return enter("cuCtxSetCurrent");
}

Result cuMemAlloc_v2(Pointer *memory, size_t bytes) {
  ENTER("cuMemAlloc");
  std::lock_guard lock(mutex);
  if (capturing)
    return 900; // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  if (bytes == 0)
    return 1;
  if (bytes > state.memory - allocated)
    return outOfMemory;
  void *host = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(host, 0xcd, bytes);
  allocations[host] = bytes;
  allocated += bytes;
  *memory = reinterpret_cast<Pointer>(made<void *>(host));
  return success;
}

Result cuMemFree_v2(Pointer memory) {
  std::lock_guard lock(mutex);
  auto found = allocations.find(reinterpret_cast<void *>(memory));
  if (found == allocations.end())
    return 1;
  allocated -= found->second;
  std::free(found->first);
  allocations.erase(found);
  return gone();
}

Result cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = state.memory - allocated;
  *total = state.memory;
  return enter("cuMemGetInfo");
}

Result cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  ENTER("cuMemHostAlloc");
  *memory = made<void *>(std::malloc(bytes));
  return success;
}

Result cuMemFreeHost(void *memory) {
  std::free(memory);
  return gone();
}

Result cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t bytes,
                            Stream) {
  ENTER("cuMemcpyHtoDAsync");
  return enqueue("upload", [=] {
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  });
}

Result cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t bytes, Stream) {
  ENTER("cuMemcpyDtoHAsync");
  return enqueue("download", [=] {
    std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  });
}

Result cuMemsetD8Async(Pointer memory, unsigned char value, size_t bytes,
                       Stream) {
  ENTER("cuMemsetD8Async");
  return enqueue("set", [=] {
    std::memset(reinterpret_cast<void *>(memory), value, bytes);
  });
}

Result cuStreamCreate(Stream *stream, unsigned) {
  ENTER("cuStreamCreate");
  *stream = reinterpret_cast<Stream>(made<int *>(&dummy));
  return success;
}

Result cuStreamDestroy_v2(Stream) { return gone(); }

Result cuStreamSynchronize(Stream) { return enter("cuStreamSynchronize"); }

Result cuEventCreate(Event *event, unsigned) {
  ENTER("cuEventCreate");
  *event = reinterpret_cast<Event>(made<int *>(&dummy));
  return success;
}

Result cuEventDestroy_v2(Event) { return gone(); }

Result cuEventRecord(Event, Stream) { return enter("cuEventRecord"); }

Result cuEventSynchronize(Event) { return enter("cuEventSynchronize"); }

Result cuEventElapsedTime(float *milliseconds, Event, Event) {
  *milliseconds = 0.5f;
  return enter("cuEventElapsedTime");
}

Result cuModuleLoadDataEx(Module *module, const void *image, unsigned options,
                          int *names, void **values) {
  void *object = nullptr;
  auto *text = static_cast<const char *>(image);
  if (std::memcmp(text, "\177ELF", 4) == 0) {
    ENTER("cubin");
    // The length of an ELF image is not passed: take all that is mapped of
    // the test kernels' object, which ends with its section headers.
    uint64_t sections;
    uint16_t size, count;
    std::memcpy(&sections, text + 40, 8);
    std::memcpy(&size, text + 58, 2);
    std::memcpy(&count, text + 60, 2);
    int file = ::memfd_create("fake-cubin", 0);
    ssize_t bytes = sections + uint64_t(size) * count;
    if (::write(file, image, bytes) == bytes)
      object =
          ::dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW);
    ::close(file);
  } else if (std::strncmp(text, "module ", 7) == 0) {
    ENTER("ptx");
    object = ::dlopen(text + 7, RTLD_NOW);
  } else {
    for (unsigned i = 0; i < options; ++i)
      if (names[i] == jitErrorLog)
        std::strcpy(static_cast<char *>(values[i]),
                    "ptxas fatal   : Unresolved extern function 'f'");
    return options > 0 ? 218 : invalidImage;
  }
  if (!object)
    return invalidImage;
  *module = made<Module>(object);
  return success;
}

Result cuModuleUnload(Module module) {
  ::dlclose(module);
  return gone();
}

Result cuModuleGetFunction(Function *function, Module module,
                           const char *name) {
  ENTER("cuModuleGetFunction");
  static std::map<std::string, FakeFunction> functions;
  auto code = reinterpret_cast<CpuKernel>(::dlsym(module, name));
  if (!code)
    return 500;
  functions[name] = {name, code};
  *function = reinterpret_cast<Function>(&functions[name]);
  return success;
}

Result cuFuncGetAttribute(int *value, int, Function) {
  *value = state.blockThreads;
  return enter("cuFuncGetAttribute");
}

Result cuFuncSetAttribute(Function, int, int) {
  return enter("cuFuncSetAttribute");
}

Result cuLaunchKernelEx(const LaunchConfig *config, Function function,
                        void **parameters, void **) {
  ENTER("cuLaunchKernelEx");
  auto *kernel = reinterpret_cast<FakeFunction *>(function);
  FakeKernel shape = state.kernels[kernel->name];
  int next = 0;
  for (; next < shape.maps; ++next)
    if (reinterpret_cast<uintptr_t>(parameters[next]) % 64 != 0)
      return 1;
  std::vector<void *> buffers;
  for (int i = 0; i < shape.views; ++i)
    buffers.push_back(*static_cast<void **>(parameters[next++]));
  std::vector<int64_t> extents;
  for (int i = 0; i < shape.extents; ++i)
    extents.push_back(*static_cast<int64_t *>(parameters[next++]));
  auto *scratch = *static_cast<std::byte **>(parameters[next]);
  std::string text = "launch " + kernel->name;
  for (unsigned i = 0; i < config->attributeCount; ++i) {
    const LaunchAttribute &attribute = config->attributes[i];
    if (attribute.id == attributeCluster)
      text += " cluster " + std::to_string(attribute.value.cluster.x);
    if (attribute.id == attributeProgrammatic)
      text += " programmatic";
  }
  return enqueue(text, [=, grid = *config, code = kernel->code] {
    int64_t block = 0;
    for (unsigned k = 0; k < grid.gridZ; ++k)
      for (unsigned j = 0; j < grid.gridY; ++j)
        for (unsigned i = 0; i < grid.gridX; ++i, ++block)
          code(buffers.data(), extents.data(), i, j, k,
               scratch ? scratch + block * shape.scratch : nullptr);
  });
}

#ifndef FAKE_CUDA_OLD
Result cuTensorMapEncodeTiled(TensorMap *map, int type, uint32_t rank,
                              void *address, const uint64_t *dims,
                              const uint64_t *strides, const uint32_t *box,
                              const uint32_t *, int, int swizzle, int,
                              int fill) {
  ENTER("cuTensorMapEncodeTiled");
  std::memset(map, 0, sizeof(*map));
  std::lock_guard lock(mutex);
  state.tensorMaps.push_back({type,
                              swizzle,
                              fill,
                              address,
                              {dims, dims + rank},
                              {strides, strides + rank - 1},
                              {box, box + rank}});
  return success;
}
#endif

Result cuStreamBeginCapture_v2(Stream, int) {
  ENTER("cuStreamBeginCapture");
  capturing = true;
  captured.clear();
  return success;
}

Result cuStreamEndCapture(Stream, Graph *graph) {
  capturing = false;
  ENTER("cuStreamEndCapture");
  *graph = reinterpret_cast<Graph>(made<Commands *>(new Commands(captured)));
  return success;
}

Result cuGraphInstantiateWithFlags(GraphExec *executable, Graph graph,
                                   unsigned long long) {
  ENTER("cuGraphInstantiate");
  *executable = reinterpret_cast<GraphExec>(
      made<Commands *>(new Commands(*reinterpret_cast<Commands *>(graph))));
  return success;
}

Result cuGraphLaunch(GraphExec executable, Stream) {
  ENTER("cuGraphLaunch");
  Commands commands = *reinterpret_cast<Commands *>(executable);
  return enqueue("graph", [=] {
    for (const auto &command : commands)
      command();
  });
}

Result cuGraphExecDestroy(GraphExec executable) {
  delete reinterpret_cast<Commands *>(executable);
  return gone();
}

Result cuGraphDestroy(Graph graph) {
  delete reinterpret_cast<Commands *>(graph);
  return gone();
}

} // extern "C"
