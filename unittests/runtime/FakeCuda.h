//===- FakeCuda.h - A CUDA driver on host memory ----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tests see of the fake driver (FakeCuda.cpp), a shared library that
// exports the functions of libcuda.so.1. Device memory is host memory, a
// stream runs its commands at once unless it is captured, machine code is an
// ELF object with kernels of the CPU's ABI (TestKernels.c), PTX is the text
// "module PATH" that names such an object.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_UNITTESTS_RUNTIME_FAKECUDA_H
#define MMX_UNITTESTS_RUNTIME_FAKECUDA_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mmx::test {

/// How many parameters of each kind a kernel has.
struct FakeKernel {
  int maps = 0, views = 0, extents = 0;
  uint64_t scratch = 64; ///< bytes of a block
};

struct FakeTensorMap {
  int type, swizzle, fill;
  const void *address;
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box;
};

struct FakeCuda {
  int gpus = 1;
  std::string name = "NVIDIA H200";
  int major = 9, minor = 0;
  uint64_t memory = uint64_t(1) << 30; ///< bytes that may be allocated
  int blockThreads = 1024;             ///< that any function allows
  std::map<std::string, FakeKernel> kernels;
  /// What a function returns from its call number `after` on, counted from 0.
  struct Failure {
    int result;
    int after = 0;
  };
  std::map<std::string, Failure> failures;

  /// Calls so far, by name, and what the stream did, in order.
  std::map<std::string, int> calls;
  std::vector<std::string> log;
  std::vector<FakeTensorMap> tensorMaps;
  int64_t alive =
      0; ///< allocations, streams, events, modules, graphs, contexts
};

/// Makes the state that the library works on the defaults; exported by it.
using FakeCudaReset = FakeCuda *();
inline constexpr const char *fakeCudaResetName = "fakeCudaReset";

} // namespace mmx::test

#endif // MMX_UNITTESTS_RUNTIME_FAKECUDA_H
