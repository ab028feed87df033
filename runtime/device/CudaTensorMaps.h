//===- CudaTensorMaps.h - Tensor maps of one kernel -------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the tensor maps of a launch from the recipes of its kernel
// (schema/package.fbs) and keeps them by the addresses and extents that they
// were made for. Views the package. One thread at a time. Errors: a map that
// CUDA refuses throws with its dimensions, strides and box.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_DEVICE_CUDATENSORMAPS_H
#define MMX_RUNTIME_DEVICE_CUDATENSORMAPS_H

#include "runtime/device/CudaApi.h"
#include "runtime/device/Device.h"

#include <map>

namespace mmx::runtime {

class CudaTensorMaps {
public:
  CudaTensorMaps(const cuda::Api &api, const package::GpuKernel &kernel)
      : api(api), kernel(kernel) {}

  /// In the order of the recipes; valid until the next call.
  std::span<const cuda::TensorMap> of(const KernelLaunch &launch);

private:
  cuda::TensorMap make(const package::TensorMap &recipe, std::byte *address,
                       std::span<const int64_t> extents) const;

  const cuda::Api &api;
  const package::GpuKernel &kernel;
  /// By the addresses of the views with maps, then the extents.
  std::map<std::vector<int64_t>, std::vector<cuda::TensorMap>> made;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_DEVICE_CUDATENSORMAPS_H
