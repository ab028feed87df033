//===- TileInputs.h - Arrays to run a kernel on -----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_TILEINPUTS_H
#define MMX_REFERENCE_TILEINPUTS_H

#include "mmx/Reference/TileInterpreter.h"
#include <deque>

namespace mmx::tile {

/// The arrays and scalars for the parameters of a kernel.
struct KernelInputs {
  std::deque<HostArray> arrays;
  llvm::SmallVector<KernelArgument> arguments;

  /// The same contents in arrays of their own.
  KernelInputs clone() const;
};

/// The kernel with this symbol, or the first one if `name` is empty. If there
/// is none, that is an error with the names that there are.
mlir::FailureOr<KernelOp> findKernel(mlir::ModuleOp module,
                                     llvm::StringRef name);

/// Makes what `tile.inputs` of `kernel` says (see the pass tile-interpret),
/// drawing from `seed`. `extents` are those that are not fixed otherwise.
mlir::FailureOr<KernelInputs> makeKernelInputs(KernelOp kernel,
                                               llvm::ArrayRef<int64_t> extents,
                                               uint64_t seed);

} // namespace mmx::tile

#endif // MMX_REFERENCE_TILEINPUTS_H
