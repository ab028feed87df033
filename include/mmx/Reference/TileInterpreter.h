//===- TileInterpreter.h - Runs tile kernels sequentially -------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle of the tile level: the program of a tile.kernel as it is written,
// one grid cell after another. Attached schedules are ignored.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_TILEINTERPRETER_H
#define MMX_REFERENCE_TILEINTERPRETER_H

#include "mmx/Dialect/Tile/TileOps.h"
#include "mmx/Reference/TileValues.h"

namespace mmx::tile {

/// What is passed for one parameter: an array for a view, else a scalar.
struct KernelArgument {
  HostArray *array = nullptr;
  Cell scalar = {.i = 0};
};

struct TileInterpreterOptions {
  /// Runs the cells in an order drawn from this seed; none: in order, the last
  /// grid dimension fastest. Results must not depend on it.
  std::optional<uint64_t> orderSeed;
};

/// The extents of a kernel: all dynamic extents of its views in order, then its
/// index parameters. Fails at the kernel if an argument does not fit its
/// parameter.
mlir::FailureOr<llvm::SmallVector<int64_t>>
getKernelExtents(KernelOp kernel, llvm::ArrayRef<KernelArgument> arguments);

/// The sizes of the grid for the given extents.
mlir::FailureOr<llvm::SmallVector<int64_t, 3>>
getGridSizes(KernelOp kernel, llvm::ArrayRef<int64_t> extents);

/// Runs `kernel` on the arrays in place. Fails with a diagnostic at the op on
/// what docs/tile.md calls an error: races between cells, indices of tables and
/// row ids out of range, row ids that occur twice, slices of inplace views
/// shared by iterations. The arrays are then in an intermediate state.
mlir::LogicalResult interpretKernel(KernelOp kernel,
                                    llvm::ArrayRef<KernelArgument> arguments,
                                    const TileInterpreterOptions &options = {});

} // namespace mmx::tile

#endif // MMX_REFERENCE_TILEINTERPRETER_H
