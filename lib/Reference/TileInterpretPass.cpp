//===- TileInterpretPass.cpp - Runs a tile kernel -------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mmx/Reference/TileInputs.h"
#include "mmx/Reference/TilePasses.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace mmx::tile {
#define GEN_PASS_DEF_TILEINTERPRET
#include "mmx/Reference/TilePasses.h.inc"
} // namespace mmx::tile

using namespace mlir;
using namespace mmx::tile;

/// The elements in row-major order, without the padding of panels.
static std::vector<Cell> getElements(const HostArray &array) {
  std::vector<Cell> cells;
  SmallVector<int64_t> indices(array.getShape().size(), 0);
  for (int64_t n = 0, e = array.getNumElements(); n < e; ++n) {
    cells.push_back(array.load(array.getOffset(indices)));
    for (int64_t d = indices.size() - 1; d >= 0; --d) {
      if (++indices[d] < array.getShape()[d])
        break;
      indices[d] = 0;
    }
  }
  return cells;
}

static double toNumber(Cell cell, ElementKind kind) {
  return isFloatKind(kind) ? double(cell.f) : double(cell.i);
}

/// FNV-1a over the bits of the elements.
static uint64_t hashElements(ArrayRef<Cell> cells, ElementKind kind) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (Cell cell : cells) {
    uint64_t bits =
        isFloatKind(kind) ? llvm::bit_cast<uint32_t>(cell.f) : uint64_t(cell.i);
    for (unsigned byte = 0; byte < 8; ++byte)
      hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

/// C libraries differ in the sign of NaN.
static void printNumber(llvm::raw_ostream &out, double value) {
  if (std::isnan(value))
    out << "nan";
  else
    out << llvm::format("%g", value);
}

static void printView(llvm::raw_ostream &out, size_t index, ViewType view,
                      const HostArray &array, bool printValues) {
  std::vector<Cell> cells = getElements(array);
  double sum = 0;
  for (Cell cell : cells)
    sum += toNumber(cell, array.getKind());
  out << "view " << index << " ";
  for (int64_t extent : array.getShape())
    out << extent << "x";
  out << view.getElementType() << ": sum ";
  printNumber(out, sum);
  out << ", hash "
      << llvm::format_hex_no_prefix(hashElements(cells, array.getKind()), 16)
      << "\n";
  if (!printValues || cells.empty())
    return;
  int64_t columns = array.getShape().back();
  for (int64_t n = 0, e = cells.size(); n < e; ++n) {
    if (n % columns == 0)
      out << (n ? "\n " : " ");
    out << " ";
    printNumber(out, toNumber(cells[n], array.getKind()));
  }
  out << "\n";
}

/// Whether all arrays have the same bits.
static bool equalArrays(const KernelInputs &lhs, const KernelInputs &rhs) {
  for (auto [left, right] : llvm::zip_equal(lhs.arrays, rhs.arrays)) {
    std::vector<Cell> a = getElements(left), b = getElements(right);
    for (size_t i = 0; i < a.size(); ++i)
      if (!equalBits(a[i], b[i], left.getKind()))
        return false;
  }
  return true;
}

/// The largest difference relative to the largest finite element of `expected`.
/// Elements with the same bits (NaNs of poison) do not differ.
static double getDifference(const HostArray &actual,
                            const HostArray &expected) {
  std::vector<Cell> a = getElements(actual), b = getElements(expected);
  double largest = 0, difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (equalBits(a[i], b[i], actual.getKind()))
      continue;
    double x = toNumber(a[i], actual.getKind());
    double y = toNumber(b[i], actual.getKind());
    if (!std::isfinite(x - y))
      return INFINITY;
    difference = std::max(difference, std::fabs(x - y));
  }
  for (Cell cell : b)
    if (double x = std::fabs(toNumber(cell, actual.getKind()));
        std::isfinite(x))
      largest = std::max(largest, x);
  return difference == 0 ? 0 : difference / largest;
}

namespace {
struct TileInterpret : mmx::tile::impl::TileInterpretBase<TileInterpret> {
  using TileInterpretBase::TileInterpretBase;

  void runOnOperation() override {
    if (failed(interpret()))
      signalPassFailure();
    else
      markAllAnalysesPreserved();
  }

private:
  LogicalResult interpret() {
    FailureOr<KernelOp> op = findKernel(getOperation(), kernel);
    if (failed(op))
      return failure();
    FailureOr<KernelInputs> inputs = makeKernelInputs(*op, extents, seed);
    if (failed(inputs))
      return failure();
    KernelInputs result = inputs->clone();
    if (failed(interpretKernel(*op, result.arguments)) ||
        failed(checkOrders(*op, *inputs, result)) || failed(print(*op, result)))
      return failure();
    return compare.empty() ? success() : compareWith(*op, *inputs, result);
  }

  LogicalResult checkOrders(KernelOp op, const KernelInputs &inputs,
                            const KernelInputs &expected) {
    for (unsigned i = 0; i < orders; ++i) {
      KernelInputs again = inputs.clone();
      TileInterpreterOptions options;
      options.orderSeed = seed + i;
      if (failed(interpretKernel(op, again.arguments, options)))
        return failure();
      if (!equalArrays(again, expected))
        return op.emitError("result depends on the order of cells");
    }
    return success();
  }

  LogicalResult print(KernelOp op, const KernelInputs &result) {
    FailureOr<SmallVector<int64_t>> symbols =
        getKernelExtents(op, result.arguments);
    FailureOr<SmallVector<int64_t, 3>> sizes = getGridSizes(op, *symbols);
    llvm::outs() << "@" << op.getSymName() << " grid ";
    llvm::interleave(*sizes, llvm::outs(), "x");
    llvm::outs() << "\n";
    for (auto [index, parameter] : llvm::enumerate(op.getParams())) {
      auto view = dyn_cast<ViewType>(parameter.getType());
      if (view && view.getMode() != AccessMode::Read)
        printView(llvm::outs(), index, view, *result.arguments[index].array,
                  printValues);
    }
    return success();
  }

  LogicalResult compareWith(KernelOp op, const KernelInputs &inputs,
                            const KernelInputs &result) {
    FailureOr<KernelOp> other = findKernel(getOperation(), compare);
    if (failed(other))
      return failure();
    KernelInputs expected = inputs.clone();
    if (failed(interpretKernel(*other, expected.arguments)))
      return failure();
    for (auto [index, argument] : llvm::enumerate(result.arguments)) {
      auto view = dyn_cast<ViewType>(op.getParams()[index].getType());
      if (!view || view.getMode() == AccessMode::Read)
        continue;
      double difference =
          getDifference(*argument.array, *expected.arguments[index].array);
      if (!(difference <= tolerance))
        return op.emitError("view ")
               << index << " differs from that of @" << compare << " by "
               << difference << ", expected at most " << double(tolerance);
      llvm::outs() << "view " << index << " agrees with @" << compare << "\n";
    }
    return success();
  }
};
} // namespace
