//===- TileAccessChecker.cpp - Races between cells ------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/TileAccessChecker.h"

using namespace mlir;
using namespace mmx::tile;

/// Marks an element that several cells have read.
static constexpr int32_t manyCells = -2;

/// An error about one element: `op` `verb` element [1, 2] ...
static InFlightDiagnostic reportElement(Operation *op, const HostArray &array,
                                        int64_t offset, bool isStore) {
  InFlightDiagnostic error = op->emitError(isStore ? "writes" : "reads");
  error << " element [";
  llvm::interleaveComma(array.getIndices(offset), error);
  error << "]";
  return error;
}

LogicalResult TileAccessChecker::checkCells(Operation *op,
                                            const HostArray &array,
                                            int64_t offset, bool isStore,
                                            int64_t cell, Shadow &shadow) {
  if (shadow.writer >= 0 && shadow.writer != cell)
    return reportElement(op, array, offset, isStore)
           << " in cell " << cell << ", but cell " << shadow.writer
           << " writes it";
  if (!isStore) {
    if (shadow.reader == -1)
      shadow.reader = cell;
    else if (shadow.reader != cell)
      shadow.reader = manyCells;
    return success();
  }
  if (shadow.reader != -1 && shadow.reader != cell)
    return reportElement(op, array, offset, isStore)
           << " in cell " << cell << ", but another cell reads it";
  shadow.writer = cell;
  return success();
}

/// Whether two accesses of one cell are in the same iteration of every loop
/// around both.
static bool sameIterations(const TileAccessChecker::Context &lhs,
                           const TileAccessChecker::Context &rhs) {
  for (auto [left, right] : llvm::zip(lhs.loops, rhs.loops)) {
    if (left.first != right.first)
      return true;
    if (left.second != right.second)
      return false;
  }
  return true;
}

LogicalResult TileAccessChecker::checkIterations(Operation *op,
                                                 const HostArray &array,
                                                 int64_t offset, bool isStore,
                                                 Shadow &shadow) {
  int32_t current = contexts.size() - 1;
  auto conflicts = [&](int32_t earlier) {
    return earlier >= 0 && !sameIterations(contexts[earlier], contexts.back());
  };
  // Iterations run in order, so the first and the last load tell all.
  if (conflicts(shadow.lastStore) ||
      (isStore && (conflicts(shadow.firstLoad) || conflicts(shadow.lastLoad))))
    return reportElement(op, array, offset, isStore)
           << " of an inplace view in two iterations";
  if (isStore) {
    shadow.lastStore = current;
  } else {
    shadow.lastLoad = current;
    if (shadow.firstLoad < 0)
      shadow.firstLoad = current;
  }
  return success();
}

LogicalResult TileAccessChecker::access(Operation *op, const HostArray &array,
                                        const Footprint &footprint,
                                        bool isStore, bool inplace,
                                        const Context &context) {
  std::vector<Shadow> &elements = shadows[array.getData()];
  if (int64_t(elements.size()) < array.getNumStored())
    elements.resize(array.getNumStored());
  if (inplace)
    contexts.push_back(context);
  for (int64_t offset : footprint) {
    if (offset < 0)
      continue;
    Shadow &shadow = elements[offset];
    if (failed(checkCells(op, array, offset, isStore, context.cell, shadow)) ||
        (inplace &&
         failed(checkIterations(op, array, offset, isStore, shadow))))
      return failure();
  }
  return success();
}
