//===- MMXInterpreterAttention.cpp - Lightning and softmax attention ------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MMXInterpreterOps.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mmx;
using namespace mmx::reference;

//===----------------------------------------------------------------------===//
// Lightning attention (E9)
//===----------------------------------------------------------------------===//

namespace {
/// One head of one sequence: `count` tokens, whose rows stand `stride`
/// elements apart, and the state, rows: key, columns: value.
struct LightningHead {
  const double *query, *key, *value;
  double *result, *state;
  int64_t count, keyStride, valueStride, keyDim, valueDim;
  double rate;

  void run() {
    double lambda = std::exp(-rate);
    for (int64_t t = 0; t < count; ++t) {
      const double *q = query + t * keyStride, *k = key + t * keyStride;
      const double *v = value + t * valueStride;
      double *o = result + t * valueStride;
      std::fill_n(o, valueDim, 0.0);
      for (int64_t r = 0; r < keyDim; ++r) {
        double *row = state + r * valueDim;
        for (int64_t c = 0; c < valueDim; ++c) {
          row[c] = lambda * row[c] + k[r] * v[c];
          o[c] += q[r] * row[c];
        }
      }
    }
  }
};
} // namespace

/// The recurrence for packed sequences; `operands` begin with query, key,
/// value and states.
static Values runLightning(Values &operands, ArrayRef<int32_t> starts,
                           ArrayRef<int32_t> slots, DecayAttr decay) {
  const Tensor &query = operands[0], &key = operands[1], &value = operands[2];
  Tensor states = std::move(operands[3]);
  int64_t heads = query.getDim(1);
  int64_t keyDim = query.getDim(2), valueDim = value.getDim(2);
  Tensor result = Tensor::floats(value.getShape());
  double *out = result.getMutableFloats().data();
  double *pool = states.getMutableFloats().data();
  auto runHeads = [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      int64_t sequence = index / heads, head = index % heads;
      int64_t start = starts[sequence];
      int64_t keys = (start * heads + head) * keyDim;
      int64_t values = (start * heads + head) * valueDim;
      LightningHead{query.getFloats().data() + keys,
                    key.getFloats().data() + keys,
                    value.getFloats().data() + values,
                    out + values,
                    pool + (slots[sequence] * heads + head) * keyDim * valueDim,
                    starts[sequence + 1] - start,
                    heads * keyDim,
                    heads * valueDim,
                    keyDim,
                    valueDim,
                    decay.getRate(head)}
          .run();
    }
  };
  int64_t tasks = static_cast<int64_t>(slots.size()) * heads;
  int64_t tokens = std::max<int64_t>(1, query.getDim(0));
  parallelFor(tasks,
              tokens * heads * keyDim * valueDim / std::max<int64_t>(1, tasks),
              runHeads);
  return Values{std::move(result), std::move(states)};
}

Result mmx::reference::evaluate(LightningAttentionOp op, Values &operands) {
  ArrayRef<int32_t> starts = operands[4].getInts();
  ArrayRef<int32_t> slots = operands[5].getInts();
  if (llvm::Error error = checkStarts(op, starts, operands[0].getDim(0)))
    return error;
  if (slots.size() + 1 != starts.size())
    return makeError(op, "expected one slot a sequence");
  if (llvm::Error error =
          checkDistinct(op, "slots", slots, operands[3].getDim(0)))
    return error;
  return runLightning(operands, starts, slots, op.getDecay());
}

Result mmx::reference::evaluate(LightningStepOp op, Values &operands) {
  ArrayRef<int32_t> slots = operands[4].getInts();
  if (static_cast<int64_t>(slots.size()) != operands[0].getDim(0))
    return makeError(op, "expected one slot a token");
  if (llvm::Error error =
          checkDistinct(op, "slots", slots, operands[3].getDim(0)))
    return error;
  std::vector<int32_t> starts(slots.size() + 1);
  for (size_t i = 0; i < starts.size(); ++i)
    starts[i] = i;
  return runLightning(operands, starts, slots, op.getDecay());
}

//===----------------------------------------------------------------------===//
// Rotary embedding (E13)
//===----------------------------------------------------------------------===//

Result mmx::reference::evaluate(RopeTableOp op, Values &operands) {
  ArrayRef<int32_t> positions = operands[0].getInts();
  double theta = op.getTheta().convertToDouble();
  int64_t rotary = op.getRotary();
  Tensor result =
      Tensor::floats({static_cast<int64_t>(positions.size()), rotary});
  double *out = result.getMutableFloats().data();
  for (int32_t position : positions) {
    for (int64_t j = 0; j < rotary / 2; ++j) {
      // The model was trained with frequencies and angles rounded so.
      float base = static_cast<float>(std::pow(theta, 2.0 * j / rotary));
      float frequency = 1.0f / base;
      float angle = static_cast<float>(position) * frequency;
      out[j] = std::cos(double(angle));
      out[rotary / 2 + j] = std::sin(double(angle));
    }
    out += rotary;
  }
  return Values{result};
}

Result mmx::reference::evaluate(RopeOp op, Values &operands) {
  Tensor result = operands[0];
  int64_t heads = result.getDim(1), dim = result.getDim(2);
  int64_t rotary = operands[1].getDim(1), half = rotary / 2;
  double *row = result.getMutableFloats().data();
  for (int64_t index = 0; index < result.getDim(0) * heads; ++index) {
    const double *table =
        operands[1].getFloats().data() + index / heads * rotary;
    for (int64_t j = 0; j < half; ++j) {
      double cosine = table[j], sine = table[half + j];
      double x = row[j], y = row[half + j];
      row[j] = x * cosine - y * sine;
      row[half + j] = y * cosine + x * sine;
    }
    row += dim;
  }
  return Values{result};
}

//===----------------------------------------------------------------------===//
// Softmax attention (E14)
//===----------------------------------------------------------------------===//

static Result appendRows(Operation *op, const Tensor &input, Tensor cache,
                         ArrayRef<int32_t> rows) {
  if (static_cast<int64_t>(rows.size()) != input.getDim(0))
    return makeError(op, "expected one cache row a token");
  if (llvm::Error error =
          checkDistinct(op, "cache_rows", rows, cache.getDim(0)))
    return error;
  int64_t size = input.getRowSize();
  double *out = cache.getMutableFloats().data();
  for (auto [index, row] : llvm::enumerate(rows))
    std::copy_n(input.getFloats().data() + index * size, size,
                out + row * size);
  return Values{std::move(cache)};
}

namespace {
/// The operands of causal attention over a paged cache.
struct PagedAttention {
  const Tensor &query, &keys, &values;
  ArrayRef<int32_t> starts, past;
  const Tensor &pages;
  double scale;
  int64_t page;

  /// The row of the pools that holds row `j` of sequence `sequence`.
  int64_t rowOf(int64_t sequence, int64_t j) const {
    return pages.getInts()[sequence * pages.getDim(1) + j / page] * page +
           j % page;
  }

  llvm::Error check(Operation *op) const {
    if (llvm::Error error = checkStarts(op, starts, query.getDim(0)))
      return error;
    size_t sequences = starts.size() - 1;
    if (past.size() != sequences ||
        pages.getDim(0) != static_cast<int64_t>(sequences))
      return makeError(op, "expected one entry of past and one row of pages a "
                           "sequence");
    for (size_t b = 0; b < sequences; ++b) {
      if (past[b] < 0)
        return makeError(op, "expected past[" + Twine(b) + "] >= 0, but got " +
                                 Twine(past[b]));
      if (starts[b + 1] == starts[b])
        continue;
      int64_t rows = past[b] + int64_t(starts[b + 1]) - starts[b];
      if (rows > pages.getDim(1) * page)
        return makeError(op, "expected pages for " + Twine(rows) +
                                 " rows of sequence " + Twine(b) +
                                 ", but got " + Twine(pages.getDim(1)) +
                                 " pages of " + Twine(page));
      for (int64_t j = 0; j < rows; ++j)
        if (int64_t row = rowOf(b, j); row < 0 || row >= keys.getDim(0))
          return makeError(
              op, "expected the page of row " + Twine(j) + " of sequence " +
                      Twine(b) + " inside the pool, but got row " + Twine(row));
    }
    return llvm::Error::success();
  }

  /// One token `t` of `sequence`, one query head.
  void attend(int64_t sequence, int64_t t, int64_t head, double *out) const {
    int64_t heads = query.getDim(1), dim = query.getDim(2);
    int64_t kvHeads = keys.getDim(1), valueDim = values.getDim(2);
    int64_t kvHead = head / (heads / kvHeads);
    int64_t count = past[sequence] + t - starts[sequence] + 1;
    const double *q = query.getFloats().data() + (t * heads + head) * dim;
    std::vector<double> scores(count);
    double largest = -std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < count; ++j) {
      const double *k = keys.getFloats().data() +
                        (rowOf(sequence, j) * kvHeads + kvHead) * dim;
      double sum = 0;
      for (int64_t i = 0; i < dim; ++i)
        sum += q[i] * k[i];
      scores[j] = scale * sum;
      largest = std::max(largest, scores[j]);
    }
    double total = 0;
    for (double &score : scores)
      total += score = std::exp(score - largest);
    std::fill_n(out, valueDim, 0.0);
    for (int64_t j = 0; j < count; ++j) {
      const double *v = values.getFloats().data() +
                        (rowOf(sequence, j) * kvHeads + kvHead) * valueDim;
      for (int64_t i = 0; i < valueDim; ++i)
        out[i] += scores[j] / total * v[i];
    }
  }

  Tensor run() const {
    int64_t tokens = query.getDim(0), heads = query.getDim(1);
    int64_t valueDim = values.getDim(2);
    Tensor result = Tensor::floats({tokens, heads, valueDim});
    double *out = result.getMutableFloats().data();
    std::vector<int32_t> sequenceOf(tokens);
    for (size_t b = 0; b + 1 < starts.size(); ++b)
      std::fill(sequenceOf.begin() + starts[b],
                sequenceOf.begin() + starts[b + 1], b);
    int64_t longest = pages.getDim(1) * page;
    parallelFor(tokens * heads, longest * query.getDim(2),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    attend(sequenceOf[i / heads], i / heads, i % heads,
                           out + i * valueDim);
                });
    return result;
  }
};
} // namespace

Result mmx::reference::evaluate(CacheAppendOp op, Values &operands) {
  return appendRows(op, operands[0], std::move(operands[1]),
                    operands[2].getInts());
}

Result mmx::reference::evaluate(AttendOp op, Values &operands) {
  PagedAttention attention{operands[0],
                           operands[1],
                           operands[2],
                           operands[3].getInts(),
                           operands[4].getInts(),
                           operands[5],
                           op.getScale().convertToDouble(),
                           static_cast<int64_t>(op.getPage())};
  if (llvm::Error error = attention.check(op))
    return error;
  return Values{attention.run()};
}

Result mmx::reference::evaluate(SoftmaxAttentionOp op, Values &operands) {
  ArrayRef<int32_t> rows = operands[7].getInts();
  Result keys = appendRows(op, operands[1], std::move(operands[3]), rows);
  if (!keys)
    return keys.takeError();
  Result values = appendRows(op, operands[2], std::move(operands[4]), rows);
  if (!values)
    return values.takeError();
  PagedAttention attention{operands[0],
                           keys->front(),
                           values->front(),
                           operands[5].getInts(),
                           operands[6].getInts(),
                           operands[8],
                           op.getScale().convertToDouble(),
                           static_cast<int64_t>(op.getPage())};
  if (llvm::Error error = attention.check(op))
    return error;
  return Values{attention.run(), keys->front(), values->front()};
}
