//===- CudaDeviceTest.cpp - Tests of the CUDA device on a fake driver -----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "TestModel.h"

#include "runtime/device/CpuDevice.h"
#include "runtime/device/CudaDevice.h"
#include "runtime/engine/PackageEngine.h"
#include "runtime/session/Session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace mmx;
using namespace mmx::runtime;
using namespace mmx::test;

namespace {

class CudaDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("MMX_LIBCUDA", MMX_TEST_FAKE_CUDA, 1);
    void *library = ::dlopen(MMX_TEST_FAKE_CUDA, RTLD_NOW);
    ASSERT_NE(library, nullptr) << ::dlerror();
    auto *reset =
        reinterpret_cast<FakeCudaReset *>(::dlsym(library, fakeCudaResetName));
    ASSERT_NE(reset, nullptr);
    fake = reset();
    fake->kernels = {{"test_embed", {0, 3, 1}},
                     {"test_recur", {0, 5, 1}},
                     {"test_attend", {0, 7, 2}},
                     {"test_head", {0, 4, 2}}};
    options.target = "h200";
  }
  void TearDown() override {
    ::unsetenv("MMX_LIBCUDA");
    EXPECT_EQ(fake->alive, 0);
  }

  std::unique_ptr<PackageEngine>
  makeEngine(CudaDevice &device, bool graphs = true, bool profile = false) {
    return std::make_unique<PackageEngine>(
        Package::parse(makeTestPackage(options), "test.mmx"), device,
        testWeights(),
        PackageEngine::Options{
            .limits = {2, 16}, .profile = profile, .graphs = graphs});
  }

  /// The error of making a device, an engine and running two ids.
  std::string error() {
    return errorOf([&] {
      CudaDevice device({});
      auto engine = makeEngine(device);
      Session session(*engine, {8, 512, {}});
      session.generate({{{1, 2}}}, 1, {});
    });
  }
  void expectError(const std::string &part) {
    std::string text = error();
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  int64_t logged(const std::string &text) const {
    return std::ranges::count(fake->log, text);
  }

  FakeCuda *fake = nullptr;
  TestModelOptions options;
};

} // namespace

static std::vector<std::vector<int32_t>> generate(Engine &engine) {
  Session session(engine, {8, 512, {}});
  std::vector<std::vector<int32_t>> prompts = {{1, 2, 3}, {4}};
  return session.generate(prompts, 4, {});
}

TEST_F(CudaDeviceTest, LogitsAreThoseOfTheKernels) {
  CudaDevice device({});
  EXPECT_EQ(device.target(), "h200");
  auto engine = makeEngine(device);
  Session session(*engine, {8, 512, {}});
  std::vector<int32_t> ids = {1, 2, 3, 4, 5};
  std::vector<float> logits;
  Feed feed = {session.open(), ids, Want::All};
  session.feed({&feed, 1}, [&](int64_t, int64_t, std::span<const float> row) {
    logits.insert(logits.end(), row.begin(), row.end());
  });
  EXPECT_EQ(logits, expectedLogits(ids));
}

TEST_F(CudaDeviceTest, RepeatedDecodeStepsAreOneGraph) {
  CudaDevice device({});
  auto withGraphs = generate(*makeEngine(device));
  EXPECT_GT(fake->calls["cuGraphLaunch"], 0);
  // One for the steps with one page, one for those with two.
  EXPECT_LE(fake->calls["cuGraphInstantiate"], 2);
  int launches = fake->calls["cuGraphLaunch"];
  auto without = generate(*makeEngine(device, /*graphs=*/false));
  EXPECT_EQ(fake->calls["cuGraphLaunch"], launches);
  EXPECT_EQ(withGraphs, without);
}

TEST_F(CudaDeviceTest, CommandsKeepTheirOrder) {
  CudaDevice device({});
  auto engine = makeEngine(device);
  Session session(*engine, {8, 512, {}});
  fake->log.clear();
  session.generate({{{1, 2}}}, 1, {});
  // The slot and new buffers are cleared.
  EXPECT_GT(std::erase(fake->log, "set"), 0u);
  // Ids, starts, slots, past, cache rows, pages, logit rows.
  std::vector<std::string> expected(7, "upload");
  for (const char *kernel : {"embed", "recur", "attend", "head"})
    expected.push_back(std::string("launch test_") + kernel);
  expected.push_back("download");
  EXPECT_EQ(fake->log, expected);
}

TEST_F(CudaDeviceTest, MemoryStartsAsZerosAndUploadsOfAnySizeArrive) {
  CudaDevice device({});
  DeviceMemory memory(device, 5'000'001);
  std::vector<std::byte> bytes(5'000'001), got;
  EXPECT_TRUE(
      std::ranges::equal(device.view(memory.data(), bytes.size(), got), bytes));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = std::byte(i * 7 % 251);
  device.upload(memory.data(), bytes);
  device.set(memory.data() + 3, 2, 9);
  bytes[3] = bytes[4] = std::byte(9);
  EXPECT_TRUE(
      std::ranges::equal(device.view(memory.data(), bytes.size(), got), bytes));
}

TEST_F(CudaDeviceTest, FillsFromSeveralThreads) {
  CudaDevice device({.threads = 3});
  DeviceMemory memory(device, 4000);
  device.fill({100, [&](int64_t i) { return memory.data() + i * 40; },
               [](int64_t) { return 40; },
               [](int64_t i, std::byte *out) { std::memset(out, i, 40); }});
  std::vector<std::byte> got;
  device.view(memory.data(), 4000, got);
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], std::byte(i / 40));
  EXPECT_THROW(device.fill({4, [&](int64_t) { return memory.data(); },
                            [](int64_t) { return 8; },
                            [](int64_t i, std::byte *) { fail("piece ", i); }}),
               Error);
}

TEST_F(CudaDeviceTest, TensorMapsFollowTheRecipe) {
  options.mapView = 2;
  options.mapBox = {4, 8};
  fake->kernels["test_embed"].maps = 1;
  CudaDevice device({});
  auto engine = makeEngine(device);
  Session session(*engine, {16, 512, {}});
  session.generate({{{1, 2, 3}}}, 1, {});
  ASSERT_EQ(fake->tensorMaps.size(), 1u);
  const FakeTensorMap map = fake->tensorMaps.front();
  EXPECT_EQ(map.type, cuda::mapFloat32);
  EXPECT_EQ(map.dims, (std::vector<uint64_t>{4, 3}));
  EXPECT_EQ(map.strides, std::vector<uint64_t>{16});
  EXPECT_EQ(map.box, (std::vector<uint32_t>{4, 8}));
  EXPECT_EQ(map.swizzle, 0);
  // The same sizes and places: the map is kept. Other sizes: another map.
  session.generate({{{3, 2, 1}}}, 1, {});
  EXPECT_EQ(fake->tensorMaps.size(), 1u);
  session.generate({{{3, 2}}}, 1, {});
  ASSERT_EQ(fake->tensorMaps.size(), 2u);
  EXPECT_EQ(fake->tensorMaps.back().dims, (std::vector<uint64_t>{4, 2}));
}

TEST_F(CudaDeviceTest, SwizzledMaps) {
  options.mapView = 2;
  options.mapBox = {16, 1};
  options.mapSwizzle = 128;
  fake->kernels["test_embed"].maps = 1;
  EXPECT_EQ(error(), "");
  EXPECT_EQ(fake->tensorMaps.front().swizzle, 3);
}

TEST_F(CudaDeviceTest, ClustersAndProgrammaticLaunches) {
  options.cluster = {1, 1, 1};
  options.programmatic = true;
  EXPECT_EQ(error(), "");
  EXPECT_EQ(logged("launch test_embed cluster 1 programmatic"), 1);
  options.cluster = {2, 1, 1};
  expectError("kernel \"recur\": expected a grid of whole clusters of [2, 1, "
              "1], but got [1, 1, 1]");
}

// Several blocks at once, each with scratch of its own, and growing grids.
TEST_F(CudaDeviceTest, TokensAreThoseOfTheCpu) {
  CudaDevice device({});
  auto tokens = generate(*makeEngine(device));
  CpuDevice cpu(1);
  PackageEngine engine(Package::parse(makeTestPackage(), "cpu.mmx"), cpu,
                       testWeights(), {.limits = {2, 16}});
  EXPECT_EQ(tokens, generate(engine));
}

TEST_F(CudaDeviceTest, ProfilesWithEvents) {
  CudaDevice device({});
  auto engine = makeEngine(device, true, /*profile=*/true);
  Session session(*engine, {8, 512, {}});
  session.generate({{{1, 2}}}, 3, {});
  for (const PackageEngine::KernelTime &time : engine->profile()) {
    EXPECT_EQ(time.launches, 3);
    EXPECT_NEAR(time.seconds, 1.5e-3, 1e-9);
  }
  fake->failures["cuEventSynchronize"] = {700};
  std::string text = errorOf([&] { session.generate({{{1, 2}}}, 1, {}); });
  EXPECT_NE(text.find("kernel \"embed\", extents [2], grid [2, 1, 1]: CUDA "
                      "failed running the kernel: CUDA_ERROR_ILLEGAL_ADDRESS"),
            std::string::npos)
      << text;
}

TEST_F(CudaDeviceTest, FallsBackToPtx) {
  options.ptx = "module " MMX_TEST_KERNELS;
  EXPECT_EQ(error(), "");
  EXPECT_EQ(fake->calls["ptx"], 0);
  fake->failures["cubin"] = {cuda::noBinaryForGpu};
  EXPECT_EQ(error(), "");
  EXPECT_EQ(fake->calls["ptx"], 1);
  options.ptx = "junk";
  expectError("test.mmx: object 0: the machine code: "
              "CUDA_ERROR_NO_BINARY_FOR_GPU (a made-up failure)\ncompiling "
              "the PTX: CUDA_ERROR_INVALID_PTX (a made-up failure)\nptxas "
              "fatal   : Unresolved extern function 'f'");
}

TEST_F(CudaDeviceTest, NamesWhatIsMissing) {
  ::setenv("MMX_LIBCUDA", "/nowhere/libcuda.so.1", 1);
  expectError("cannot open the CUDA driver: /nowhere/libcuda.so.1");
  expectError("or use --device cpu");
  ::setenv("MMX_LIBCUDA", MMX_TEST_OLD_CUDA, 1);
  expectError("lacks cuTensorMapEncodeTiled: the driver is for CUDA 11.4; a "
              "driver for CUDA 12.0 or later is needed");
  ::setenv("MMX_LIBCUDA", MMX_TEST_FAKE_CUDA, 1);
  fake->gpus = 0;
  expectError("the CUDA driver sees no GPU");
  fake->gpus = 2;
  EXPECT_EQ(errorOf([] { CudaDevice device({.ordinal = 2}); }),
            "expected a GPU below 2, but got 2");
  fake->failures["cuInit"] = {999};
  expectError("CUDA failed starting up: error 999");
}

TEST_F(CudaDeviceTest, RefusesOtherTargets) {
  fake->name = "NVIDIA H20";
  expectError("test.mmx: is compiled for \"h200\", but NVIDIA H20 is \"h20\"; "
              "compile the model with --target h20");
  EXPECT_EQ(errorOf([&] {
              CudaDevice device({.target = "h200"});
              makeEngine(device);
            }),
            "");
  fake->name = "NVIDIA A100";
  fake->major = 8;
  expectError("NVIDIA A100 has compute capability 8.0, but kernels are made "
              "for 9.0 (Hopper)");
}

TEST_F(CudaDeviceTest, NamesWhatFailed) {
  fake->memory = 600;
  expectError(
      "NVIDIA H200 is out of memory: wanted 256 bytes, but 208 bytes of "
      "600 bytes are free; use a smaller --ctx");
  fake->memory = uint64_t(1) << 30;
  fake->failures = {{"cuLaunchKernelEx", {701, 1}}};
  expectError("kernel \"recur\": CUDA failed launching blocks [1, 1, 1] of 32 "
              "threads with 1024 bytes of shared memory: "
              "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  fake->failures = {{"cuModuleGetFunction", {500, 2}}};
  fake->calls.clear();
  expectError("kernel \"attend\": CUDA failed looking for the symbol "
              "\"test_attend\": CUDA_ERROR_NOT_FOUND");
  fake->failures = {{"cuMemHostAlloc", {2}}};
  expectError("CUDA failed pinning 1048576 bytes of host memory");
  fake->failures.clear();
  fake->blockThreads = 16;
  expectError("kernel \"embed\": needs blocks of 32 threads, but its registers "
              "allow 16");
}

TEST_F(CudaDeviceTest, AFailedRecordingIsGivenBack) {
  CudaDevice device({});
  auto engine = makeEngine(device);
  fake->failures = {{"cuLaunchKernelEx", {701, 9}}};
  std::string text = errorOf([&] { generate(*engine); });
  EXPECT_NE(text.find("CUDA failed launching"), std::string::npos) << text;
  fake->failures = {{"cuStreamSynchronize", {700}}};
  text = errorOf([&] { device.wait(); });
  EXPECT_NE(text.find("CUDA failed running kernels (--profile runs them one "
                      "by one"),
            std::string::npos)
      << text;
}

TEST(CudaTarget, FollowsTheName) {
  EXPECT_EQ(cudaTarget("NVIDIA H20", 9, 0), "h20");
  EXPECT_EQ(cudaTarget("NVIDIA H20-3e", 9, 0), "h20");
  EXPECT_EQ(cudaTarget("NVIDIA H200", 9, 0), "h200");
  EXPECT_EQ(cudaTarget("NVIDIA H100 80GB HBM3", 9, 0), "h100");
  EXPECT_EQ(cudaTarget("NVIDIA H800", 9, 0), "h800");
  EXPECT_EQ(cudaTarget("NVIDIA GH200 480GB", 9, 0), "h200");
  EXPECT_EQ(cudaTarget("Graphics Device", 9, 0), "h200");
  EXPECT_THROW(cudaTarget("NVIDIA B200", 10, 0), Error);
}
