//===- Device.cpp - Where kernels run -------------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/Device.h"

#include <chrono>

using namespace mmx::runtime;

double Device::timed(const KernelSet &kernels, const KernelLaunch &launch) {
  wait();
  auto begin = std::chrono::steady_clock::now();
  this->launch(kernels, launch);
  wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}
