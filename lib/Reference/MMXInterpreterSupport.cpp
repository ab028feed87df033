//===- MMXInterpreterSupport.cpp - Errors, threads, products, tables ------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MMXInterpreterOps.h"

#include "llvm/ADT/BitVector.h"
#include <algorithm>
#include <cmath>
#include <thread>

using namespace mlir;
using namespace mmx::reference;

llvm::Error mmx::reference::makeError(Operation *op, const Twine &message) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << op->getLoc() << ": '" << op->getName() << "' " << message;
  return llvm::createStringError(text);
}

void mmx::reference::parallelFor(
    int64_t count, int64_t cost,
    llvm::function_ref<void(int64_t, int64_t)> body) {
  // Starting a thread costs some tens of microseconds.
  constexpr int64_t worthAThread = 1 << 18;
  int64_t parts = std::min<int64_t>(
      {static_cast<int64_t>(std::thread::hardware_concurrency()), count,
       count * cost / worthAThread});
  if (parts < 2)
    return body(0, count);
  std::vector<std::thread> threads;
  for (int64_t part = 1; part < parts; ++part)
    threads.emplace_back(body, count * part / parts,
                         count * (part + 1) / parts);
  body(0, count / parts);
  for (std::thread &thread : threads)
    thread.join();
}

/// Columns of the result that are computed together: their rows of `rhs` are
/// interleaved so that the innermost loop runs over neighbours.
static constexpr int64_t panel = 4;

/// `rows` rows of one panel: panel columns of the result.
template <int64_t rows>
static void multiplyPanel(const double *lhs, const double *packed, int64_t k,
                          double *result, int64_t stride, int64_t columns) {
  double sums[rows][panel] = {};
  for (int64_t i = 0; i < k; ++i)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < panel; ++column)
        sums[row][column] += lhs[row * k + i] * packed[i * panel + column];
  for (int64_t row = 0; row < rows; ++row)
    std::copy_n(sums[row], columns, result + row * stride);
}

static void multiplyColumns(const double *lhs, int64_t m, const double *rhs,
                            int64_t n, int64_t k, double *result, int64_t begin,
                            int64_t end) {
  std::vector<double> packed(panel * k);
  for (int64_t column = begin; column < end; column += panel) {
    int64_t columns = std::min(panel, end - column);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < k; ++i)
        packed[i * panel + j] = rhs[(column + j) * k + i];
    int64_t row = 0;
    for (; row + 4 <= m; row += 4)
      multiplyPanel<4>(lhs + row * k, packed.data(), k,
                       result + row * n + column, n, columns);
    for (; row < m; ++row)
      multiplyPanel<1>(lhs + row * k, packed.data(), k,
                       result + row * n + column, n, columns);
  }
}

/// Columns of a single row: packing would cost as much as the product.
static void multiplyRow(const double *lhs, const double *rhs, int64_t k,
                        double *result, int64_t begin, int64_t end) {
  for (int64_t column = begin; column < end; ++column) {
    const double *weights = rhs + column * k;
    double sums[4] = {};
    int64_t i = 0;
    for (; i + 4 <= k; i += 4)
      for (int64_t j = 0; j < 4; ++j)
        sums[j] += lhs[i + j] * weights[i + j];
    for (; i < k; ++i)
      sums[0] += lhs[i] * weights[i];
    result[column] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

void mmx::reference::multiplyTransposed(const double *lhs, int64_t m,
                                        const double *rhs, int64_t n, int64_t k,
                                        double *result) {
  int64_t panels = (n + panel - 1) / panel;
  parallelFor(panels, m * k * panel, [&](int64_t begin, int64_t end) {
    int64_t last = std::min(end * panel, n);
    if (m == 1)
      multiplyRow(lhs, rhs, k, result, begin * panel, last);
    else
      multiplyColumns(lhs, m, rhs, n, k, result, begin * panel, last);
  });
}

double mmx::reference::sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

llvm::Error mmx::reference::checkRange(Operation *op, StringRef name,
                                       ArrayRef<int32_t> entries,
                                       int64_t count) {
  for (auto [index, entry] : llvm::enumerate(entries))
    if (entry < 0 || entry >= count)
      return makeError(op, "expected " + name + "[" + Twine(index) +
                               "] in [0, " + Twine(count) + "), but got " +
                               Twine(entry));
  return llvm::Error::success();
}

llvm::Error mmx::reference::checkDistinct(Operation *op, StringRef name,
                                          ArrayRef<int32_t> entries,
                                          int64_t count) {
  if (llvm::Error error = checkRange(op, name, entries, count))
    return error;
  llvm::BitVector seen(count);
  for (int32_t entry : entries) {
    if (seen.test(entry))
      return makeError(op, "expected distinct " + name + ", but got " +
                               Twine(entry) + " twice");
    seen.set(entry);
  }
  return llvm::Error::success();
}

llvm::Error mmx::reference::checkStarts(Operation *op, ArrayRef<int32_t> starts,
                                        int64_t tokens) {
  if (starts.empty() || starts.front() != 0 || starts.back() != tokens ||
      !llvm::is_sorted(starts))
    return makeError(op, "expected starts to rise from 0 to " + Twine(tokens) +
                             ", the number of tokens");
  return llvm::Error::success();
}
