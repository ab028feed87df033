//===- targets.h - Machines that models are compiled for --------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one table of machines: the compiler chooses tiles by it, the runtime
// plans memory and time by it. Depends on the standard library only. GPU
// figures are the vendor's (dense rates, no sparsity); those of "cpu" stand for
// one desktop core with AVX2 and its share of the memory.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_SCHEMA_TARGETS_H
#define MMX_SCHEMA_TARGETS_H

#include <cstdint>
#include <string_view>

namespace mmx {

/// What a roofline model knows of a machine.
struct Target {
  std::string_view name;
  int64_t cores;         ///< SMs, or cores
  int64_t sramBytes;     ///< shared memory of an SM, or L2 of a core
  int64_t registerBytes; ///< register file of an SM, or of a core
  double matrixRate;     ///< FLOP/s of bf16 products (CPU: f32)
  double bandwidth;      ///< bytes/s of memory
  int64_t memoryBytes;
  double linkBandwidth; ///< bytes/s to a peer, one direction
  double clock;         ///< cycles/s of a core that is not held back

  constexpr bool isCPU() const { return name == "cpu"; }
};

inline constexpr int64_t kibibyte = 1024;
inline constexpr int64_t gibibyte = kibibyte * kibibyte * kibibyte;

// clang-format off
inline constexpr Target targetTable[] = {
    {"cpu", 1, 1024 * kibibyte, 512, 64.0e9, 12.0e9, 16 * gibibyte, 0.0, 4.0e9},
    {"h20", 78, 227 * kibibyte, 256 * kibibyte, 148.0e12, 4.0e12, 96 * gibibyte, 450.0e9, 1.98e9},
    {"h800", 132, 227 * kibibyte, 256 * kibibyte, 989.0e12, 3.35e12, 80 * gibibyte, 200.0e9, 1.98e9},
    {"h100", 132, 227 * kibibyte, 256 * kibibyte, 989.0e12, 3.35e12, 80 * gibibyte, 450.0e9, 1.98e9},
    {"h200", 132, 227 * kibibyte, 256 * kibibyte, 989.0e12, 4.8e12, 141 * gibibyte, 450.0e9, 1.98e9},
};
// clang-format on

/// What a copy reaches of the bandwidth of a GPU, read plus written: 4298 GB/s
/// on an H200. The others are taken to be alike.
inline constexpr double copyShare = 0.895;

/// The target with this name, or null.
constexpr const Target *findTarget(std::string_view name) {
  for (const Target &target : targetTable)
    if (target.name == name)
      return &target;
  return nullptr;
}

} // namespace mmx

#endif // MMX_SCHEMA_TARGETS_H
