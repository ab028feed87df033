//===- TileEvaluator.cpp - What tile ops compute --------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/TileEvaluator.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mmx::tile;

//===----------------------------------------------------------------------===//
// Map
//===----------------------------------------------------------------------===//

/// Row `row` of `operand` as a map over `columns` columns sees it: fragments of
/// rank 1 are broadcast along the other dimension.
static void readMapRow(const TileValue &operand, int64_t row, int64_t columns,
                       Cell *out) {
  if (operand.shape.size() == 2)
    std::copy_n(operand.cells.data() + row * columns, columns, out);
  else if (operand.along == 1)
    std::copy_n(operand.cells.data(), columns, out);
  else
    std::fill_n(out, columns, operand.cells[row]);
}

FailureOr<SmallVector<TileValue, 1>>
TileEvaluator::evaluateMap(MapOp op, ArrayRef<const TileValue *> operands,
                           function_ref<Cell(Value)> scalar, bool when) {
  if (!when)
    return SmallVector<TileValue, 1>{*operands[0]};
  auto found = programs.find(op);
  if (found == programs.end()) {
    FailureOr<ScalarProgram> program =
        ScalarProgram::compile(op.getBody().front());
    if (failed(program))
      return failure();
    found = programs.try_emplace(op, std::move(*program)).first;
  }
  ScalarProgram &program = found->second;
  SmallVector<Cell> captures;
  for (Value value : program.getCaptures())
    captures.push_back(scalar(value));

  SmallVector<TileValue, 1> results;
  for (Type type : op.getResultTypes())
    results.emplace_back(type);
  // Without lanes to share a row, a column is computed as one row of lanes.
  int64_t rows = results[0].getRows(), columns = results[0].getColumns();
  bool isColumn = results[0].shape.size() == 1 && results[0].along == 0;
  int64_t steps = isColumn ? 1 : rows, lanes = isColumn ? rows : columns;
  SmallVector<std::vector<Cell>> arguments(operands.size() + 2,
                                           std::vector<Cell>(lanes));
  SmallVector<const Cell *> argumentRows;
  for (std::vector<Cell> &argument : arguments)
    argumentRows.push_back(argument.data());
  SmallVector<Cell *> resultRows(results.size());
  for (int64_t step = 0; step < steps; ++step) {
    for (auto [operand, out] : llvm::zip(operands, arguments))
      if (isColumn)
        llvm::copy(operand->cells, out.begin());
      else
        readMapRow(*operand, step, columns, out.data());
    for (int64_t lane = 0; lane < lanes; ++lane) {
      arguments[operands.size()][lane].i = isColumn ? lane : step;
      arguments[operands.size() + 1][lane].i = isColumn ? 0 : lane;
    }
    for (auto [row, result] : llvm::zip_equal(resultRows, results))
      row = result.cells.data() + step * lanes;
    if (failed(program.run(lanes, argumentRows, captures, resultRows)))
      return failure();
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Products, reductions and scans
//===----------------------------------------------------------------------===//

/// The elements of `tile` as f32, transposed where asked for.
static std::vector<float> toFloats(const TileValue &tile, bool transpose) {
  int64_t rows = tile.shape[0], columns = tile.shape[1];
  std::vector<float> out(tile.cells.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      out[transpose ? j * rows + i : i * columns + j] =
          tile.cells[i * columns + j].f;
  return out;
}

/// c[j] = fma(a, b[j], c[j]).
#if defined(__x86_64__) && defined(__linux__)
__attribute__((target_clones("default", "fma")))
#endif
static void multiplyAddRow(float a, const float *b, float *c, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    c[j] = __builtin_fmaf(a, b[j], c[j]);
}

TileValue TileEvaluator::evaluateMma(MmaOp op, const TileValue &a,
                                     const TileValue &b,
                                     const TileValue *accumulator) {
  TileValue result(op.getResult().getType());
  int64_t rows = result.shape[0], columns = result.shape[1];
  int64_t depth = a.shape[op.getTransposeA() ? 0 : 1];
  std::vector<float> lhs = toFloats(a, op.getTransposeA());
  std::vector<float> rhs = toFloats(b, op.getTransposeB());
  std::vector<float> row(columns);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j)
      row[j] = accumulator ? accumulator->cells[i * columns + j].f : 0.0f;
    for (int64_t k = 0; k < depth; ++k)
      multiplyAddRow(lhs[i * depth + k], rhs.data() + k * columns, row.data(),
                     columns);
    for (int64_t j = 0; j < columns; ++j)
      result.cells[i * columns + j].f = row[j];
  }
  return result;
}

namespace {
/// An element of a reduction with the position it came from.
struct Candidate {
  Cell value;
  int64_t position;
};
} // namespace

/// Folds `upper` onto `lower`.
static void combine(ReduceKind reduction, ElementKind kind, Candidate &lower,
                    const Candidate &upper) {
  bool isFloat = isFloatKind(kind);
  if (reduction == ReduceKind::Add) {
    if (isFloat)
      lower.value.f += upper.value.f;
    else
      lower.value.i = wrapInteger(lower.value.i + upper.value.i, kind);
    return;
  }
  bool isLarger =
      isFloat ? upper.value.f > lower.value.f : upper.value.i > lower.value.i;
  bool isEqual =
      isFloat ? upper.value.f == lower.value.f : upper.value.i == lower.value.i;
  bool isNaN =
      isFloat && std::isnan(upper.value.f) && !std::isnan(lower.value.f);
  if (isLarger || isNaN || (isEqual && upper.position < lower.position))
    lower = upper;
}

SmallVector<TileValue, 2> TileEvaluator::evaluateReduce(ReduceOp op,
                                                        const TileValue &tile) {
  SmallVector<TileValue, 2> results;
  for (Type type : op->getResultTypes())
    results.emplace_back(type);
  bool alongRow = op.getDim() == 1;
  int64_t columns = tile.shape[1];
  int64_t extent = tile.shape[op.getDim()];
  std::vector<Candidate> line(extent);
  for (int64_t i = 0, e = results[0].shape[0]; i < e; ++i) {
    for (int64_t k = 0; k < extent; ++k)
      line[k] = {tile.cells[alongRow ? i * columns + k : k * columns + i], k};
    // Padding to a power of two with the neutral element: an element without
    // a partner stays as it is.
    for (int64_t half = llvm::PowerOf2Ceil(extent) / 2; half >= 1; half /= 2)
      for (int64_t k = 0; k < half && k + half < extent; ++k)
        combine(op.getKind(), tile.kind, line[k], line[k + half]);
    results[0].cells[i] = line[0].value;
    if (results.size() == 2)
      results[1].cells[i].i = line[0].position;
  }
  return results;
}

TileValue TileEvaluator::evaluateScan(ScanOp op, const TileValue &tile) {
  TileValue result = tile;
  bool isVector = tile.shape.size() == 1;
  int64_t columns = isVector ? 1 : tile.shape[1];
  bool alongRow = !isVector && op.getDim() == 1;
  int64_t extent = alongRow ? columns : tile.shape[0];
  int64_t lines = tile.getNumElements() / extent;
  for (int64_t line = 0; line < lines; ++line) {
    int64_t sum = 0;
    for (int64_t k = 0; k < extent; ++k) {
      Cell &cell =
          result.cells[alongRow ? line * columns + k : k * columns + line];
      int64_t next = wrapInteger(sum + cell.i, tile.kind);
      cell.i = op.getExclusive() ? sum : next;
      sum = next;
    }
  }
  return result;
}

TileValue TileEvaluator::evaluateCopy(const TileValue &tile, Type type) {
  TileValue result(type);
  result.cells = tile.cells;
  return result;
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// The row of dimension dims[0] for each row of the tile that is accessed.
static FailureOr<SmallVector<int64_t>> computeRows(Operation *op,
                                                   const HostArray &array,
                                                   int64_t dim, int64_t count,
                                                   const TileAddress &address) {
  int64_t accessed =
      std::clamp<int64_t>(address.rows.value_or(count), 0, count);
  SmallVector<int64_t> rows;
  llvm::DenseSet<int64_t> seen;
  for (int64_t i = 0; i < accessed; ++i) {
    if (!address.ids) {
      rows.push_back(address.indices[dim] + i);
      continue;
    }
    int64_t offset = address.ids->getOffset({address.start + i});
    if (offset < 0)
      return op->emitError("row ids: index ")
             << address.start + i << " out of range of "
             << address.ids->getShape()[0];
    int64_t row = address.ids->load(offset).i + address.indices[dim];
    if (row < 0 || row >= array.getShape()[dim])
      return op->emitError("row id ")
             << row << " out of range of " << array.getShape()[dim];
    if (isa<StoreOp>(op) && !seen.insert(row).second)
      return op->emitError("row id ") << row << " occurs twice";
    rows.push_back(row);
  }
  return rows;
}

FailureOr<Footprint> TileEvaluator::computeFootprint(
    Operation *op, const HostArray &array, ArrayRef<int64_t> dims,
    ArrayRef<int64_t> tileShape, const TileAddress &address) {
  FailureOr<SmallVector<int64_t>> rows =
      computeRows(op, array, dims[0], tileShape[0], address);
  if (failed(rows))
    return failure();
  int64_t columns = tileShape.size() == 2 ? tileShape[1] : 1;
  Footprint footprint(tileShape[0] * columns, -1);
  SmallVector<int64_t, 4> indices(address.indices);
  for (auto [i, row] : llvm::enumerate(*rows)) {
    indices[dims[0]] = row;
    for (int64_t j = 0; j < columns; ++j) {
      if (dims.size() == 2)
        indices[dims[1]] = address.indices[dims[1]] + j;
      footprint[i * columns + j] = array.getOffset(indices);
    }
  }
  return footprint;
}

TileValue TileEvaluator::load(const HostArray &array,
                              const Footprint &footprint, Type type,
                              double fill) {
  TileValue result(type);
  Cell filling = {.i = 0};
  if (isFloatKind(result.kind))
    filling.f = result.kind == ElementKind::BF16 ? roundToBF16(float(fill))
                                                 : float(fill);
  else
    filling.i = wrapInteger(int64_t(fill), result.kind);
  for (auto [cell, offset] : llvm::zip_equal(result.cells, footprint))
    cell = offset < 0 ? filling : array.load(offset);
  return result;
}

void TileEvaluator::store(HostArray &array, const Footprint &footprint,
                          const TileValue &tile) {
  for (auto [cell, offset] : llvm::zip_equal(tile.cells, footprint))
    if (offset >= 0)
      array.store(offset, cell, tile.kind);
}
