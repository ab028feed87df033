//===- MMXInterpreterExperts.cpp - Routing and mixture of experts ---------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MMXInterpreterOps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mmx;
using namespace mmx::reference;

//===----------------------------------------------------------------------===//
// Routing (E10)
//===----------------------------------------------------------------------===//

Result mmx::reference::evaluate(RouteOp op, Values &operands) {
  int64_t tokens = operands[0].getDim(0), count = operands[0].getDim(1);
  int64_t topK = op.getTopK();
  if (llvm::any_of(operands[0].getFloats(),
                   [](double x) { return std::isnan(x); }))
    return makeError(op, "expected numbers as logits, but got NaN");
  Tensor weights = Tensor::floats({tokens, topK});
  Tensor experts = Tensor::ints({tokens, topK});
  double *weight = weights.getMutableFloats().data();
  int32_t *expert = experts.getMutableInts().data();
  ArrayRef<int32_t> given;
  if (op.getGiven())
    given = operands[1].getInts();
  for (int32_t number : given)
    if (number >= count)
      return makeError(op, "expected given experts below " + Twine(count) +
                               ", but got " + Twine(number));
  std::vector<int32_t> order(count);
  for (int64_t t = 0; t < tokens; ++t, weight += topK, expert += topK) {
    ArrayRef<double> logits = operands[0].getFloats().slice(t * count, count);
    std::iota(order.begin(), order.end(), 0);
    // Ties go to the smaller number.
    llvm::sort(order, [&](int32_t a, int32_t b) {
      return std::pair(-logits[a], a) < std::pair(-logits[b], b);
    });
    double largest = logits[order[0]];
    // The denominator of the softmax cancels in the division by the sum.
    double total = 0;
    for (int64_t j = 0; j < topK; ++j) {
      bool isGiven = !given.empty() && given[t * topK + j] >= 0;
      expert[j] = isGiven ? given[t * topK + j] : order.front();
      weight[j] = std::exp(logits[expert[j]] - largest);
      total += weight[j];
      llvm::erase(order, expert[j]);
    }
    order.resize(count);
    for (int64_t j = 0; j < topK; ++j)
      weight[j] /= total;
  }
  return Values{weights, experts};
}

//===----------------------------------------------------------------------===//
// Experts (E11)
//===----------------------------------------------------------------------===//

/// Rows `rows` of `input`, one below the other.
static std::vector<double> gather(const Tensor &input, ArrayRef<int64_t> rows) {
  int64_t width = input.getDim(1);
  std::vector<double> result(rows.size() * width);
  for (auto [index, row] : llvm::enumerate(rows))
    std::copy_n(input.getFloats().data() + row * width, width,
                result.data() + index * width);
  return result;
}

/// `rows` rows times the transposed matrix of expert `expert` of `weight`.
static std::vector<double> multiplyExpert(ArrayRef<double> input, int64_t rows,
                                          const Tensor &weight,
                                          int64_t expert) {
  int64_t n = weight.getDim(1), k = weight.getDim(2);
  std::vector<double> result(rows * n);
  multiplyTransposed(input.data(), rows,
                     weight.getFloats().data() + expert * n * k, n, k,
                     result.data());
  return result;
}

/// silu(w1_e y) * (w3_e y) for `rows` rows y.
static std::vector<double> expertUp(ArrayRef<double> input, int64_t rows,
                                    const Tensor &w1, const Tensor &w3,
                                    int64_t expert) {
  std::vector<double> gate = multiplyExpert(input, rows, w1, expert);
  std::vector<double> up = multiplyExpert(input, rows, w3, expert);
  for (size_t i = 0; i < gate.size(); ++i)
    gate[i] = gate[i] * sigmoid(gate[i]) * up[i];
  return gate;
}

Result mmx::reference::evaluate(ExpertsOp op, Values &operands) {
  const Tensor &input = operands[0], &w2 = operands[5];
  ArrayRef<double> weights = operands[1].getFloats();
  ArrayRef<int32_t> experts = operands[2].getInts();
  int64_t topK = operands[2].getDim(1), count = w2.getDim(0);
  if (llvm::Error error = checkRange(op, "experts", experts, count))
    return error;
  // Every expert multiplies its rows at once; the sum over the choices of a
  // token is taken afterwards, in their order.
  int64_t width = w2.getDim(1);
  std::vector<double> outputs(experts.size() * width);
  for (int64_t expert = 0; expert < count; ++expert) {
    SmallVector<int64_t> choices, rows;
    for (auto [choice, chosen] : llvm::enumerate(experts)) {
      if (chosen != expert)
        continue;
      choices.push_back(choice);
      rows.push_back(choice / topK);
    }
    std::vector<double> hidden = expertUp(gather(input, rows), rows.size(),
                                          operands[3], operands[4], expert);
    std::vector<double> result =
        multiplyExpert(hidden, rows.size(), w2, expert);
    for (auto [index, choice] : llvm::enumerate(choices))
      std::copy_n(result.data() + index * width, width,
                  outputs.data() + choice * width);
  }
  Tensor result = Tensor::floats({input.getDim(0), width});
  double *out = result.getMutableFloats().data();
  for (size_t choice = 0; choice < experts.size(); ++choice)
    for (int64_t i = 0; i < width; ++i)
      out[choice / topK * width + i] +=
          weights[choice] * outputs[choice * width + i];
  return Values{result};
}

//===----------------------------------------------------------------------===//
// Experts on grouped rows
//===----------------------------------------------------------------------===//

Result mmx::reference::evaluate(GroupTokensOp op, Values &operands) {
  ArrayRef<int32_t> experts = operands[0].getInts();
  int64_t topK = operands[0].getDim(1);
  int64_t count =
      cast<RankedTensorType>(op.getOffsets().getType()).getDimSize(0) - 1;
  if (llvm::Error error = checkRange(op, "experts", experts, count))
    return error;
  int64_t total = experts.size();
  Tensor tokens = Tensor::ints({total}), choices = Tensor::ints({total});
  Tensor offsets = Tensor::ints({count + 1});
  MutableArrayRef<int32_t> order = choices.getMutableInts();
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int32_t a, int32_t b) {
    return std::pair(experts[a], a) < std::pair(experts[b], b);
  });
  for (auto [token, choice] : llvm::zip(tokens.getMutableInts(), order))
    token = choice / topK;
  MutableArrayRef<int32_t> ends = offsets.getMutableInts();
  for (int32_t expert : experts)
    ++ends[expert + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  return Values{tokens, choices, offsets};
}

Result mmx::reference::evaluate(ExpertsUpOp op, Values &operands) {
  const Tensor &input = operands[0], &w1 = operands[3];
  ArrayRef<int32_t> tokens = operands[1].getInts();
  ArrayRef<int32_t> offsets = operands[2].getInts();
  if (llvm::Error error = checkRange(op, "tokens", tokens, input.getDim(0)))
    return error;
  if (llvm::Error error = checkStarts(op, offsets, tokens.size()))
    return error;
  int64_t width = w1.getDim(1);
  Tensor result = Tensor::floats({static_cast<int64_t>(tokens.size()), width});
  double *out = result.getMutableFloats().data();
  for (int64_t expert = 0; expert < w1.getDim(0); ++expert) {
    int64_t begin = offsets[expert], rows = offsets[expert + 1] - begin;
    SmallVector<int64_t> group(tokens.slice(begin, rows));
    std::vector<double> hidden =
        expertUp(gather(input, group), rows, w1, operands[4], expert);
    llvm::copy(hidden, out + begin * width);
  }
  return Values{result};
}

Result mmx::reference::evaluate(ExpertsDownOp op, Values &operands) {
  const Tensor &input = operands[0], &w2 = operands[3];
  ArrayRef<int32_t> choices = operands[1].getInts();
  ArrayRef<int32_t> offsets = operands[2].getInts();
  ArrayRef<double> weights = operands[4].getFloats();
  if (llvm::Error error = checkDistinct(op, "choices", choices, weights.size()))
    return error;
  if (static_cast<int64_t>(choices.size()) != input.getDim(0) ||
      choices.size() != weights.size())
    return makeError(op, "expected one row of the input for each choice");
  if (llvm::Error error = checkStarts(op, offsets, choices.size()))
    return error;
  int64_t depth = input.getDim(1), width = w2.getDim(1);
  Tensor result = Tensor::floats({input.getDim(0), width});
  double *out = result.getMutableFloats().data();
  for (int64_t expert = 0; expert < w2.getDim(0); ++expert) {
    int64_t begin = offsets[expert], rows = offsets[expert + 1] - begin;
    std::vector<double> product = multiplyExpert(
        input.getFloats().slice(begin * depth, rows * depth), rows, w2, expert);
    for (int64_t row = 0; row < rows; ++row) {
      int64_t choice = choices[begin + row];
      for (int64_t i = 0; i < width; ++i)
        out[choice * width + i] = weights[choice] * product[row * width + i];
    }
  }
  return Values{result};
}

Result mmx::reference::evaluate(CombineOp op, Values &operands) {
  const Tensor &input = operands[0];
  int64_t topK = op.getTopK(), width = input.getDim(1);
  if (input.getDim(0) % topK)
    return makeError(op, "expected a multiple of " + Twine(topK) +
                             " rows, but got " + Twine(input.getDim(0)));
  Tensor result = Tensor::floats({input.getDim(0) / topK, width});
  double *out = result.getMutableFloats().data();
  for (int64_t row = 0; row < input.getDim(0); ++row)
    for (int64_t i = 0; i < width; ++i)
      out[row / topK * width + i] += input.getFloats()[row * width + i];
  return Values{result};
}
