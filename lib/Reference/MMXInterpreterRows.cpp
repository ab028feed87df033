//===- MMXInterpreterRows.cpp - Linear layers, norms, elementwise ---------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MMXInterpreterOps.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mmx;
using namespace mmx::reference;

/// The rows of `input` with the given numbers.
static Tensor takeRows(const Tensor &input, ArrayRef<int32_t> rows) {
  SmallVector<int64_t> shape(input.getShape());
  shape[0] = rows.size();
  Tensor result = Tensor::floats(shape);
  int64_t size = input.getRowSize();
  const double *from = input.getFloats().data();
  double *to = result.getMutableFloats().data();
  for (auto [index, row] : llvm::enumerate(rows))
    std::copy_n(from + row * size, size, to + index * size);
  return result;
}

/// result[i] = function(lhs[i], rhs[i]) for tensors of one shape.
static Result zipWith(Values &operands,
                      llvm::function_ref<double(double, double)> function) {
  ArrayRef<double> lhs = operands[0].getFloats();
  ArrayRef<double> rhs = operands[1].getFloats();
  Tensor result = Tensor::floats(operands[0].getShape());
  MutableArrayRef<double> out = result.getMutableFloats();
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = function(lhs[i], rhs[i]);
  return Values{result};
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Result mmx::reference::evaluate(EmbeddingOp op, Values &operands) {
  ArrayRef<int32_t> ids = operands[0].getInts();
  if (llvm::Error error = checkRange(op, "ids", ids, operands[1].getDim(0)))
    return error;
  return Values{takeRows(operands[1], ids)};
}

Result mmx::reference::evaluate(TakeRowsOp op, Values &operands) {
  ArrayRef<int32_t> rows = operands[1].getInts();
  if (llvm::Error error = checkRange(op, "rows", rows, operands[0].getDim(0)))
    return error;
  return Values{takeRows(operands[0], rows)};
}

Result mmx::reference::evaluate(LinearOp op, Values &operands) {
  const Tensor &input = operands[0], &weight = operands[1];
  Tensor result = Tensor::floats({input.getDim(0), weight.getDim(0)});
  multiplyTransposed(input.getFloats().data(), input.getDim(0),
                     weight.getFloats().data(), weight.getDim(0),
                     weight.getDim(1), result.getMutableFloats().data());
  return Values{result};
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static Tensor sumSquares(const Tensor &input) {
  int64_t rows = input.getDim(0), width = input.getDim(1);
  Tensor result = Tensor::floats({rows});
  MutableArrayRef<double> out = result.getMutableFloats();
  for (int64_t row = 0; row < rows; ++row)
    for (double x : input.getFloats().slice(row * width, width))
      out[row] += x * x;
  return result;
}

/// weight * input[t] / sqrt(squares[t] / width + eps)
static Tensor normalize(const Tensor &input, const Tensor &squares,
                        const Tensor &weight, double width, double eps) {
  int64_t rows = input.getDim(0), columns = input.getDim(1);
  Tensor result = Tensor::floats(input.getShape());
  const double *in = input.getFloats().data();
  double *out = result.getMutableFloats().data();
  for (int64_t row = 0; row < rows; ++row) {
    double scale = 1 / std::sqrt(squares.getFloats()[row] / width + eps);
    for (int64_t i = 0; i < columns; ++i)
      out[row * columns + i] =
          weight.getFloats()[i] * (in[row * columns + i] * scale);
  }
  return result;
}

Result mmx::reference::evaluate(RMSNormOp op, Values &operands) {
  return Values{normalize(operands[0], sumSquares(operands[0]), operands[1],
                          operands[0].getDim(1),
                          op.getEps().convertToDouble())};
}

Result mmx::reference::evaluate(SumSquaresOp op, Values &operands) {
  return Values{sumSquares(operands[0])};
}

Result mmx::reference::evaluate(NormalizeOp op, Values &operands) {
  return Values{normalize(operands[0], operands[1], operands[2], op.getWidth(),
                          op.getEps().convertToDouble())};
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Result mmx::reference::evaluate(SiluOp op, Values &operands) {
  Tensor result = operands[0];
  for (double &x : result.getMutableFloats())
    x *= sigmoid(x);
  return Values{result};
}

Result mmx::reference::evaluate(GateOp op, Values &operands) {
  return zipWith(operands, [](double x, double g) { return x * sigmoid(g); });
}

Result mmx::reference::evaluate(SwigluOp op, Values &operands) {
  return zipWith(operands,
                 [](double g, double up) { return g * sigmoid(g) * up; });
}

Result mmx::reference::evaluate(AddOp op, Values &operands) {
  return zipWith(operands, [](double a, double b) { return a + b; });
}

Result mmx::reference::evaluate(ResidualOp op, Values &operands) {
  double alpha = op.getAlpha().convertToDouble();
  double beta = op.getBeta().convertToDouble();
  // A term whose factor is 0 is absent (E4).
  auto term = [](double factor, double x) { return factor ? factor * x : 0; };
  return zipWith(operands, [&](double x, double branch) {
    return term(alpha, x) + term(beta, branch);
  });
}

Result mmx::reference::evaluate(MixOp op, Values &operands) {
  const Tensor &routed = operands[0], &shared = operands[1];
  int64_t width = routed.getDim(1);
  Tensor result = Tensor::floats(routed.getShape());
  MutableArrayRef<double> out = result.getMutableFloats();
  for (size_t i = 0; i < out.size(); ++i) {
    double c = sigmoid(operands[2].getFloats()[i / width]);
    out[i] = (1 - c) * routed.getFloats()[i] + c * shared.getFloats()[i];
  }
  return Values{result};
}

Result mmx::reference::evaluate(ConvertOp op, Values &operands) {
  return Values{operands[0]};
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

Result mmx::reference::evaluate(SplitHeadsOp op, Values &operands) {
  auto type = cast<RankedTensorType>(op.getOutputs().front().getType());
  int64_t heads = type.getDimSize(1), dim = type.getDimSize(2);
  int64_t tokens = operands[0].getDim(0), parts = op.getNumResults();
  const double *in = operands[0].getFloats().data();
  Values results;
  for (int64_t part = 0; part < parts; ++part) {
    Tensor result = Tensor::floats({tokens, heads, dim});
    double *out = result.getMutableFloats().data();
    for (int64_t row = 0; row < tokens * heads; ++row)
      std::copy_n(in + (row * parts + part) * dim, dim, out + row * dim);
    results.push_back(std::move(result));
  }
  return results;
}

Result mmx::reference::evaluate(MergeHeadsOp op, Values &operands) {
  const Tensor &input = operands[0];
  return Values{input.reshape({input.getDim(0), input.getRowSize()})};
}
