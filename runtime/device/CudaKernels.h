//===- CudaKernels.h - The kernels of a package on a GPU --------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads the objects of a package, the cubin or, where there is none that this
// GPU takes, the PTX, and launches kernels (ABI: schema/package.fbs). Views the
// package and the Api; the context must be current. One thread at a time.
//
// Errors: loading names the object or kernel and gives the log of the driver's
// compiler; launching names the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_DEVICE_CUDAKERNELS_H
#define MMX_RUNTIME_DEVICE_CUDAKERNELS_H

#include "runtime/device/CudaTensorMaps.h"

namespace mmx::runtime {

class CudaKernels final : public KernelSet {
public:
  CudaKernels(const cuda::Api &api, const Package &package);
  ~CudaKernels() override;
  CudaKernels(const CudaKernels &) = delete;
  CudaKernels &operator=(const CudaKernels &) = delete;

  /// Bytes of global scratch that a launch needs.
  uint64_t scratchBytes(const KernelLaunch &launch) const;

  /// Puts a launch on `stream`.
  void launch(const KernelLaunch &launch, cuda::Stream stream,
              std::byte *scratch) const;

private:
  struct Kernel {
    const package::Kernel *table;
    cuda::Function function;
    std::unique_ptr<CudaTensorMaps> maps;
  };
  cuda::Module loadObject(const package::Object &object);
  cuda::Module loadPtx(const char *ptx, const std::string &before);
  void prepare(Kernel &kernel);
  void checkGrid(const package::Kernel &kernel,
                 const std::array<int64_t, 3> &grid) const;

  const cuda::Api &api;
  std::vector<cuda::Module> modules;
  std::vector<Kernel> kernels;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_DEVICE_CUDAKERNELS_H
