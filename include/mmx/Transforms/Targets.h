//===- Targets.h - Machines that kernels are chosen for ---------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TRANSFORMS_TARGETS_H
#define MMX_TRANSFORMS_TARGETS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace mmx {

/// What the roofline model knows of a machine. GPU figures are the vendor's
/// (dense rates, no sparsity); those of "cpu" stand for one desktop core with
/// AVX2 and its share of the memory.
struct Target {
  llvm::StringLiteral name;
  int64_t cores;         ///< SMs, or cores
  int64_t sramBytes;     ///< shared memory of an SM, or L2 of a core
  int64_t registerBytes; ///< register file of an SM, or of a core
  double matrixRate;     ///< FLOP/s of bf16 products (CPU: f32)
  double bandwidth;      ///< bytes/s of memory
  int64_t memoryBytes;
  double linkBandwidth; ///< bytes/s to a peer, one direction

  bool isCPU() const { return name == "cpu"; }
};

/// The target with this name, or null.
const Target *findTarget(llvm::StringRef name);

} // namespace mmx

#endif // MMX_TRANSFORMS_TARGETS_H
