//===- TestDevice.cpp - Where the model tests run -------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestDevice.h"

#include "runtime/device/CpuDevice.h"
#include "runtime/device/CudaDevice.h"
#include "runtime/engine/PackageCache.h"

#include <cstdlib>
#include <filesystem>

using namespace mmx::runtime;
using namespace mmx::test;
namespace fs = std::filesystem;

static std::string environment(const char *name, const char *otherwise) {
  const char *value = std::getenv(name);
  return value ? value : otherwise;
}

bool mmx::test::onGpu() {
  return environment("MMX_TEST_DEVICE", "cpu") == "cuda";
}

bool mmx::test::canCompile() { return !std::getenv("MMX_TEST_PACKAGES"); }

std::unique_ptr<Device> mmx::test::makeTestDevice(int threads) {
  if (onGpu())
    return std::make_unique<CudaDevice>(CudaDevice::Options{
        .threads = threads, .target = environment("MMX_TEST_TARGET", "")});
  return std::make_unique<CpuDevice>(threads);
}

std::string mmx::test::goldenPath(const std::string &model) {
  return (fs::path(environment("MMX_TEST_GOLDEN", MMX_GOLDEN)) / model)
      .string();
}

std::shared_ptr<const Package>
mmx::test::goldenPackage(const std::string &model, const Device &device,
                         int64_t block) {
  if (!canCompile())
    return Package::open(
        (fs::path(environment("MMX_TEST_PACKAGES", "")) / (model + ".f32.mmx"))
            .string());
  static const CompilerLibrary compiler;
  CompileSettings settings;
  settings.target = device.target();
  settings.block = block;
  return compileCached(compiler, goldenPath(model), settings).package;
}
