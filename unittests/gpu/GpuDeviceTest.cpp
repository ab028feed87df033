//===- GpuDeviceTest.cpp - Tests of the CUDA device on a GPU --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small kernels (TestKernels.ptx) that need each feature of the device: memory,
// machine code and PTX, tensor maps, clusters, scratch,
// programmatic launches, graphs, times, faults. Needs a GPU; the files stand in
// the folder MMX_GPU_TEST_KERNELS.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CudaDevice.h"
#include "runtime/support/MappedFile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <numeric>

using namespace mmx;
using namespace mmx::runtime;
using flatbuffers::Offset;

namespace {

/// A kernel of TestKernels.ptx in a package.
struct KernelSpec {
  std::string symbol;
  uint32_t extents = 0;
  uint64_t scratch = 0;
  uint32_t shared = 0;
  std::vector<uint32_t> cluster = {};
  bool programmatic = false;
  /// Bytes of swizzle of the tensor map of view 0; nothing: no map.
  std::optional<uint32_t> swizzle = {};
};

/// Which code of a kernel the package holds.
enum class Code { Machine, Ptx, BrokenPtx };

class PackageBuilder {
public:
  std::shared_ptr<const Package> build(const std::vector<KernelSpec> &specs,
                                       Code code, const std::string &target);

private:
  using Expressions = std::vector<Offset<package::Expression>>;
  Expressions expressions(const std::vector<std::vector<int64_t>> &codes) {
    Expressions result;
    for (const std::vector<int64_t> &code : codes)
      result.push_back(package::CreateExpressionDirect(builder, &code));
    return result;
  }
  Offset<package::Kernel> kernel(const KernelSpec &spec);

  flatbuffers::FlatBufferBuilder builder;
};

} // namespace

static std::string readTestFile(const char *name) {
  const char *folder = std::getenv("MMX_GPU_TEST_KERNELS");
  MappedFile file(
      (std::filesystem::path(folder ? folder : ".") / name).string());
  return {reinterpret_cast<const char *>(file.bytes().data()),
          file.bytes().size()};
}

Offset<package::Kernel> PackageBuilder::kernel(const KernelSpec &spec) {
  std::vector<Offset<package::TensorMap>> maps;
  if (spec.swizzle) {
    // Rows of 32 words; the number of rows is the extent.
    auto dims = expressions({{0, 32}, {1, 0}}),
         strides = expressions({{0, 128}});
    std::vector<uint32_t> box = {32, 8};
    maps.push_back(
        package::CreateTensorMapDirect(builder, 0, package::Element::F32, &dims,
                                       &strides, &box, *spec.swizzle));
  }
  auto gpu = package::CreateGpuKernelDirect(
      builder, /*threads=*/32, spec.shared,
      spec.cluster.empty() ? nullptr : &spec.cluster, 0, 0, &maps,
      spec.programmatic);
  auto grid = expressions({{0, 1}});
  return package::CreateKernelDirect(builder, spec.symbol.c_str(),
                                     spec.symbol.c_str(), 0, spec.extents,
                                     &grid, spec.scratch, gpu);
}

std::shared_ptr<const Package>
PackageBuilder::build(const std::vector<KernelSpec> &specs, Code code,
                      const std::string &target) {
  std::vector<uint8_t> cubin;
  if (code == Code::Machine) {
    std::string bytes = readTestFile("TestKernels.cubin");
    cubin.assign(bytes.begin(), bytes.end());
  }
  std::string ptx = readTestFile("TestKernels.ptx");
  if (code == Code::BrokenPtx)
    ptx += ".visible .entry broken() { nonsense.u32 %r0; }\n";
  std::vector<Offset<package::Object>> objects = {
      package::CreateObjectDirect(builder, &cubin, ptx.c_str())};
  std::vector<Offset<package::Kernel>> kernels;
  for (const KernelSpec &spec : specs)
    kernels.push_back(kernel(spec));
  std::vector<int32_t> layers = {0};
  auto model = package::CreateModelDirect(builder, "test", 1, 1, 1, 1, 1, 1, 0,
                                          0, 1, 1, &layers);
  std::vector<Offset<package::Weight>> weights;
  std::vector<Offset<package::Program>> programs;
  package::FinishPackageBuffer(
      builder, package::CreatePackageDirect(builder, 1, "test", target.c_str(),
                                            nullptr, "f32", model, &objects,
                                            &kernels, &weights, &programs));
  std::span<const uint8_t> body(builder.GetBufferPointer(), builder.GetSize());
  std::vector<uint8_t> bytes = packageHeader(body);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return Package::parse(std::move(bytes), "test.mmx");
}

namespace {

class GpuDevice : public testing::Test {
protected:
  GpuDevice() : device(CudaDevice::Options{}) {}

  /// Loads kernels; they keep their package.
  KernelSet &load(const std::vector<KernelSpec> &specs,
                  Code code = Code::Machine) {
    package = PackageBuilder().build(specs, code, device.target());
    kernels = device.load(*package);
    return *kernels;
  }
  void launch(int64_t kernel, std::vector<std::byte *> buffers,
              std::vector<int64_t> extents, std::array<int64_t, 3> grid) {
    device.launch(*kernels, {kernel, buffers, extents, grid});
  }
  /// Memory filled with 0xff bytes.
  DeviceMemory poisoned(int64_t words) {
    DeviceMemory memory(device, words * 4);
    device.set(memory.data(), words * 4, 0xff);
    return memory;
  }
  std::vector<uint32_t> words(const DeviceMemory &memory) {
    std::vector<uint32_t> result(memory.bytes() / 4);
    device.download(std::as_writable_bytes(std::span(result)), memory.data());
    return result;
  }

  CudaDevice device;
  std::shared_ptr<const Package> package;
  std::unique_ptr<KernelSet> kernels;
};

} // namespace

static std::vector<uint32_t> iota(int64_t count) {
  std::vector<uint32_t> result(count);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

TEST_F(GpuDevice, MemoryIsClearedFilledAndCopied) {
  for (int64_t count : {1, 7, 1000, 3'000'001}) {
    DeviceMemory memory(device, count * 4);
    EXPECT_EQ(words(memory), std::vector<uint32_t>(count));
    std::vector<uint32_t> values = iota(count);
    device.upload(memory.data(), std::as_bytes(std::span(values)));
    EXPECT_EQ(words(memory), values);
    device.set(memory.data(), 4, 0x11);
    values[0] = 0x11111111;
    EXPECT_EQ(words(memory), values);
  }
}

TEST_F(GpuDevice, FillGoesThroughPinnedMemory) {
  constexpr int64_t pieces = 300, bytes = 400'000;
  DeviceMemory memory(device, pieces * bytes);
  device.fill({pieces, [&](int64_t i) { return memory.data() + i * bytes; },
               [](int64_t) { return bytes; },
               [](int64_t i, std::byte *out) {
                 std::vector<uint32_t> values(bytes / 4, uint32_t(i));
                 std::memcpy(out, values.data(), bytes);
               }});
  std::vector<uint32_t> got = words(memory);
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], i / (bytes / 4)) << i;
}

TEST_F(GpuDevice, MachineCodeAndPtxGiveTheSame) {
  for (Code code : {Code::Machine, Code::Ptx}) {
    load({{.symbol = "test_iota", .extents = 1}}, code);
    DeviceMemory out = poisoned(101);
    launch(0, {out.data()}, {100}, {4, 1, 1});
    std::vector<uint32_t> expected = iota(100);
    expected.push_back(0xffffffff);
    EXPECT_EQ(words(out), expected);
  }
}

TEST_F(GpuDevice, BrokenPtxShowsTheLog) {
  try {
    load({{.symbol = "test_iota", .extents = 1}}, Code::BrokenPtx);
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("nonsense"), std::string::npos)
        << error.what();
  }
}

TEST_F(GpuDevice, TensorMapsWithAndWithoutSwizzle) {
  constexpr int64_t rows = 21; // the last box hangs over
  std::vector<uint32_t> values(rows * 32);
  std::iota(values.begin(), values.end(), 1);
  DeviceMemory in(device, values.size() * 4);
  device.upload(in.data(), std::as_bytes(std::span(values)));
  for (uint32_t swizzle : {0, 128}) {
    SCOPED_TRACE(swizzle);
    load({{.symbol = "test_box",
           .extents = 1,
           .shared = 1024,
           .swizzle = swizzle}});
    DeviceMemory out = poisoned(3 * 256);
    launch(0, {in.data(), out.data()}, {rows}, {3, 1, 1});
    std::vector<uint32_t> got = words(out);
    for (int64_t row = 0; row < 24; ++row) {
      for (int64_t c = 0; c < 32; ++c) {
        int64_t chunk = c / 4;
        if (swizzle == 128)
          chunk ^= row % 8;
        uint32_t expected = row < rows ? values[row * 32 + c] : 0;
        ASSERT_EQ(got[row * 32 + chunk * 4 + c % 4], expected)
            << row << ", " << c;
      }
    }
  }
}

TEST_F(GpuDevice, BlocksOfAClusterReadEachOther) {
  load({{.symbol = "test_cluster", .cluster = {4, 1, 1}}});
  DeviceMemory out = poisoned(400);
  launch(0, {out.data()}, {}, {400, 1, 1});
  std::vector<uint32_t> got = words(out);
  for (uint32_t i = 0; i < 400; ++i)
    ASSERT_EQ(got[i], i / 4 * 4 + (i + 1) % 4);
}

TEST_F(GpuDevice, EveryBlockHasItsOwnScratch) {
  load({{.symbol = "test_scratch", .scratch = 128}});
  for (int64_t height : {1, 3, 20}) {
    DeviceMemory out = poisoned(100 * height);
    launch(0, {out.data()}, {}, {100, height, 1});
    std::vector<uint32_t> got = words(out);
    for (uint32_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], 32 * i);
  }
}

/// What `steps` runs of test_step make of 0, 1, ...
static std::vector<uint32_t> afterSteps(int64_t count, int64_t steps) {
  std::vector<uint32_t> values = iota(count);
  for (uint32_t &value : values)
    for (int64_t i = 0; i < steps; ++i)
      value = value * 3 + 1;
  return values;
}

TEST_F(GpuDevice, ProgrammaticLaunchesKeepTheirOrder) {
  load({{.symbol = "test_iota", .extents = 1},
        {.symbol = "test_step", .extents = 1, .programmatic = true}});
  constexpr int64_t count = 100'000;
  DeviceMemory memory = poisoned(count);
  std::array<int64_t, 3> grid = {(count + 31) / 32, 1, 1};
  launch(0, {memory.data()}, {count}, grid);
  for (int64_t i = 0; i < 50; ++i)
    launch(1, {memory.data()}, {count}, grid);
  EXPECT_EQ(words(memory), afterSteps(count, 50));
}

TEST_F(GpuDevice, GraphsRunAgain) {
  for (bool programmatic : {false, true}) {
    SCOPED_TRACE(programmatic);
    load({{.symbol = "test_iota", .extents = 1},
          {.symbol = "test_step", .extents = 1, .programmatic = programmatic},
          {.symbol = "test_scratch", .scratch = 128}});
    constexpr int64_t count = 1000;
    DeviceMemory memory = poisoned(count), sums = poisoned(64);
    std::vector<std::byte *> buffers = {memory.data()},
                             sumBuffers = {sums.data()};
    std::vector<int64_t> extents = {count};
    std::array<int64_t, 3> grid = {32, 1, 1};
    std::vector<KernelLaunch> launches = {{0, buffers, extents, grid},
                                          {2, sumBuffers, {}, {64, 1, 1}}};
    launches.resize(22, {1, buffers, extents, grid});
    std::unique_ptr<LaunchGraph> graph = device.record(*kernels, launches);
    ASSERT_NE(graph, nullptr);
    // Nothing has run yet; a larger scratch area must not disturb the graph.
    EXPECT_EQ(words(memory), std::vector<uint32_t>(count, 0xffffffff));
    DeviceMemory others = poisoned(5000);
    launch(2, {others.data()}, {}, {5000, 1, 1});
    for (int64_t run = 0; run < 3; ++run) {
      device.replay(*graph);
      EXPECT_EQ(words(memory), afterSteps(count, 20));
      EXPECT_EQ(words(sums)[63], 63u * 32);
    }
  }
}

TEST_F(GpuDevice, TimesAreOfTheKernel) {
  load({{.symbol = "test_iota", .extents = 1}});
  constexpr int64_t count = int64_t(1) << 28;
  DeviceMemory memory(device, count * 4);
  std::vector<std::byte *> buffers = {memory.data()};
  std::vector<int64_t> extents = {count};
  double seconds =
      device.timed(*kernels, {0, buffers, extents, {count / 32, 1, 1}});
  // A GiB takes a fraction of a millisecond to some milliseconds.
  EXPECT_GT(seconds, 5e-5);
  EXPECT_LT(seconds, 1e-1);
}

TEST_F(GpuDevice, RefusesWhatDoesNotFit) {
  EXPECT_THROW(device.allocate(uint64_t(1) << 50), Error);
  load({{.symbol = "test_iota", .extents = 1}});
  DeviceMemory out = poisoned(32);
  EXPECT_THROW(launch(0, {out.data()}, {32}, {1, 65536, 1}), Error);
  // The device goes on after such errors.
  launch(0, {out.data()}, {32}, {1, 1, 1});
  EXPECT_EQ(words(out), iota(32));
  EXPECT_THROW(load({{.symbol = "test_missing"}}), Error);
}

/// Runs the kernel that writes where nobody may, in a process of its own:
/// the context is lost after it.
static void fault(bool timed) {
  try {
    CudaDevice device({});
    auto package = PackageBuilder().build({{.symbol = "test_fault"}},
                                          Code::Machine, device.target());
    auto kernels = device.load(*package);
    std::vector<std::byte *> buffers = {nullptr};
    KernelLaunch launch = {0, buffers, {}, {1, 1, 1}};
    if (timed)
      device.timed(*kernels, launch);
    else
      device.launch(*kernels, launch);
    device.wait();
  } catch (const Error &error) {
    std::cerr << error.what() << std::endl;
    std::_Exit(3);
  }
  std::_Exit(0);
}

TEST(GpuFault, IsSeenAndNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fault(false), testing::ExitedWithCode(3),
              "running kernels .--profile.*CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EXIT(fault(true), testing::ExitedWithCode(3),
              "running the kernel: CUDA_ERROR_ILLEGAL_ADDRESS");
}
