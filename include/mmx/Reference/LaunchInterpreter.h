//===- LaunchInterpreter.h - Runs functions of launches ---------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_LAUNCHINTERPRETER_H
#define MMX_REFERENCE_LAUNCHINTERPRETER_H

#include "mmx/Reference/MMXInterpreter.h"
#include "mmx/Reference/TileInterpreter.h"

namespace mmx::reference {

/// Runs a function whose body consists of `mmx.launch`, `mmx.weight` and
/// constants, every kernel with the tile interpreter. Arguments, weights and
/// results are what the mmx interpreter takes and gives, so that the two can
/// be compared. Results that a kernel does not write are NaN, or the integer
/// -1: memory is poisoned before a kernel runs.
///
/// Extents of results follow from `shapes` of the launches and the symbols of
/// the step, which follow from the arguments and their `mmx.shape`.
llvm::Expected<llvm::SmallVector<Tensor>>
interpretLaunches(mlir::func::FuncOp function,
                  llvm::SmallVector<Tensor> arguments,
                  const WeightProvider &weights,
                  const tile::TileInterpreterOptions &options = {});

} // namespace mmx::reference

#endif // MMX_REFERENCE_LAUNCHINTERPRETER_H
