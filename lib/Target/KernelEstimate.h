//===- KernelEstimate.h - The predicted time of a kernel --------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_TARGET_KERNELESTIMATE_H
#define MMX_LIB_TARGET_KERNELESTIMATE_H

#include "mmx/Transforms/TileTimeline.h"
#include <string>

namespace mmx {

struct Target;

/// What a kernel needs on a multiprocessor, as its lowering says.
struct KernelNeeds {
  int64_t threads = 0, shared = 0;
  bool scheduled = false;
};

/// Lowers a copy of `kernel` for a GPU. Errors are those of the lowering.
mlir::FailureOr<KernelNeeds> findKernelNeeds(tile::KernelOp kernel);

/// One launch of a kernel on given extents. Times are seconds.
struct KernelEstimate {
  tile::KernelWork work;
  tile::CellTime cell; ///< cycles
  KernelNeeds needs;
  int64_t perCore = 1; ///< cells that a multiprocessor holds
  int64_t waves = 0;   ///< times that all multiprocessors are filled
  double memory = 0;   ///< distinct bytes at the rate of a copy
  double cache = 0;    ///< all bytes at the rate of the cache that all share
  double tensor = 0;   ///< products at the rate of the tensor cores
  double chain = 0;    ///< cells one after the other
  double total = 0;    ///< what is predicted

  /// One line.
  std::string describe(tile::KernelOp kernel, const Target &target) const;
};

mlir::FailureOr<KernelEstimate> estimateKernel(tile::KernelOp kernel,
                                               llvm::ArrayRef<int64_t> extents,
                                               const KernelNeeds &needs,
                                               const Target &target);

} // namespace mmx

#endif // MMX_LIB_TARGET_KERNELESTIMATE_H
