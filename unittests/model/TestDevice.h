//===- TestDevice.h - Where the model tests run -----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tests run on the CPU with models that the compiler library compiles, or
// where the environment says so: MMX_TEST_DEVICE=cuda runs on the GPU,
// MMX_TEST_PACKAGES=DIR takes DIR/MODEL.f32.mmx instead of the compiler, and
// MMX_TEST_GOLDEN=DIR has the checkpoints.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_UNITTESTS_MODEL_TESTDEVICE_H
#define MMX_UNITTESTS_MODEL_TESTDEVICE_H

#include "runtime/device/Device.h"

#include <string>

namespace mmx::test {

/// Whether the tests run on a GPU.
bool onGpu();
/// Whether models are compiled, so that their block length can be chosen.
bool canCompile();

std::unique_ptr<runtime::Device> makeTestDevice(int threads);

/// The folder of a golden checkpoint.
std::string goldenPath(const std::string &model);

/// The package of a golden checkpoint for the device; block 0: chosen.
std::shared_ptr<const runtime::Package>
goldenPackage(const std::string &model, const runtime::Device &device,
              int64_t block);

} // namespace mmx::test

#endif // MMX_UNITTESTS_MODEL_TESTDEVICE_H
