//===- MMXInterpreterBlocks.cpp - Block loops, block ops, segments --------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MMXInterpreterOps.h"
#include "mmx/Reference/MMXInterpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

using namespace mlir;
using namespace mmx;
using namespace mmx::reference;

//===----------------------------------------------------------------------===//
// The loop over blocks (E15)
//===----------------------------------------------------------------------===//

namespace {
/// The tables of a block loop and its results so far.
class BlockLoop {
public:
  BlockLoop(ForBlocksOp op, Values &operands) : op(op), length(op.getBlock()) {
    auto take = [&, next = size_t(0)](size_t count) mutable {
      Values group(std::make_move_iterator(operands.begin() + next),
                   std::make_move_iterator(operands.begin() + next + count));
      next += count;
      return group;
    };
    startsTable = take(1).front();
    if (op.getSlots())
      slotsTable = take(1).front();
    tokens = take(op.getTokens().size());
    blocks = take(op.getBlocks().size());
    carry = take(op.getCarry().size());
    starts = startsTable.getInts();
  }

  llvm::Error check();
  void allocateResults();

  int64_t getNumSequences() const { return starts.size() - 1; }
  int64_t getNumBlocks(int64_t sequence) const {
    return (starts[sequence + 1] - starts[sequence] + length - 1) / length;
  }

  /// The operands of the body for block `block` of `sequence`.
  Values getArguments(int64_t sequence, int64_t block, Values carried) const;
  /// Takes what the body yields, returns what is carried on.
  llvm::Expected<Values> takeYielded(int64_t sequence, int64_t block,
                                     Values yielded);

  Values load(int64_t sequence) const;
  void storeCarried(int64_t sequence, const Values &carried);
  Values takeResults();

private:
  int64_t firstToken(int64_t sequence, int64_t block) const {
    return starts[sequence] + block * length;
  }
  int64_t blockRow(int64_t sequence, int64_t block) const {
    return starts[sequence] / length + sequence + block;
  }
  int64_t slotOf(int64_t sequence) const {
    return slotsTable ? slotsTable.getInts()[sequence] : sequence;
  }
  static void copyRows(const Tensor &from, Tensor &to, int64_t row) {
    llvm::copy(from.getFloats(),
               to.getMutableFloats().data() + row * to.getRowSize());
  }

  ForBlocksOp op;
  /// Tokens of a block that is not the last of its sequence.
  int64_t length;
  Tensor startsTable, slotsTable;
  ArrayRef<int32_t> starts;
  Values tokens, blocks, carry;
  Values tokenResults, blockResults;
};
} // namespace

llvm::Error BlockLoop::check() {
  // Without token operands the last start says how many tokens there are.
  int64_t count = tokens.empty() ? starts.back() : tokens.front().getDim(0);
  if (llvm::Error error = checkStarts(op, starts, count))
    return error;
  for (const Tensor &operand : tokens)
    if (operand.getDim(0) != count)
      return makeError(op, "expected as many rows in every token operand");
  int64_t rows = count / length + getNumSequences();
  for (const Tensor &operand : blocks)
    if (operand.getDim(0) != rows)
      return makeError(op, "expected " + Twine(rows) +
                               " rows in every block operand, but got " +
                               Twine(operand.getDim(0)));
  if (slotsTable &&
      slotsTable.getDim(0) != static_cast<int64_t>(getNumSequences()))
    return makeError(op, "expected one slot a sequence");
  for (const Tensor &pool : carry) {
    if (slotsTable) {
      if (llvm::Error error =
              checkDistinct(op, "slots", slotsTable.getInts(), pool.getDim(0)))
        return error;
    } else if (pool.getDim(0) < getNumSequences()) {
      return makeError(op, "expected a pool with a row for each sequence");
    }
  }
  return llvm::Error::success();
}

void BlockLoop::allocateResults() {
  // What no block writes is undefined: a number that shows when it is used.
  double poison = std::numeric_limits<double>::quiet_NaN();
  auto allocate = [&](ValueRange results, int64_t rows, Values &tensors) {
    for (Value result : results) {
      SmallVector<int64_t> shape(
          cast<RankedTensorType>(result.getType()).getShape());
      shape[0] = rows;
      tensors.push_back(Tensor::floats(shape, poison));
    }
  };
  allocate(op.getTokenResults(), starts.back(), tokenResults);
  allocate(op.getBlockResults(), starts.back() / length + getNumSequences(),
           blockResults);
}

Values BlockLoop::getArguments(int64_t sequence, int64_t block,
                               Values carried) const {
  int64_t first = firstToken(sequence, block);
  int64_t count = std::min<int64_t>(length, starts[sequence + 1] - first);
  Values arguments;
  for (const Tensor &operand : tokens)
    arguments.push_back(operand.rows(first, count));
  for (const Tensor &operand : blocks) {
    Tensor row = operand.rows(blockRow(sequence, block), 1);
    arguments.push_back(row.reshape(row.getShape().drop_front()));
  }
  llvm::append_range(arguments, std::move(carried));
  return arguments;
}

llvm::Expected<Values> BlockLoop::takeYielded(int64_t sequence, int64_t block,
                                              Values yielded) {
  int64_t first = firstToken(sequence, block);
  int64_t count = std::min<int64_t>(length, starts[sequence + 1] - first);
  size_t next = 0;
  for (Tensor &result : tokenResults) {
    if (yielded[next].getDim(0) != count)
      return makeError(op, "expected the body to yield " + Twine(count) +
                               " rows, but got " +
                               Twine(yielded[next].getDim(0)));
    copyRows(yielded[next++], result, first);
  }
  for (Tensor &result : blockResults)
    copyRows(yielded[next++], result, blockRow(sequence, block));
  return Values(std::make_move_iterator(yielded.begin() + next),
                std::make_move_iterator(yielded.end()));
}

Values BlockLoop::load(int64_t sequence) const {
  Values carried;
  for (const Tensor &pool : carry) {
    Tensor row = pool.rows(slotOf(sequence), 1);
    carried.push_back(row.reshape(row.getShape().drop_front()));
  }
  return carried;
}

void BlockLoop::storeCarried(int64_t sequence, const Values &carried) {
  for (auto [pool, value] : llvm::zip_equal(carry, carried))
    copyRows(value, pool, slotOf(sequence));
}

Values BlockLoop::takeResults() {
  Values results = std::move(tokenResults);
  llvm::append_range(results, std::move(blockResults));
  llvm::append_range(results, std::move(carry));
  return results;
}

Result Interpreter::runForBlocks(ForBlocksOp op, Values &operands) {
  BlockLoop loop(op, operands);
  if (llvm::Error error = loop.check())
    return error;
  loop.allocateResults();
  for (int64_t sequence = 0; sequence < loop.getNumSequences(); ++sequence) {
    Values carried = loop.load(sequence);
    for (int64_t block = 0; block < loop.getNumBlocks(sequence); ++block) {
      Result yielded =
          runBlock(op.getBody().front(),
                   loop.getArguments(sequence, block, std::move(carried)));
      if (!yielded)
        return yielded.takeError();
      Result next = loop.takeYielded(sequence, block, std::move(*yielded));
      if (!next)
        return next.takeError();
      carried = std::move(*next);
    }
    loop.storeCarried(sequence, carried);
  }
  return loop.takeResults();
}

//===----------------------------------------------------------------------===//
// Products on one block
//===----------------------------------------------------------------------===//

/// An index into a tensor [rows, heads, dim].
static int64_t at(const Tensor &tensor, int64_t row, int64_t head) {
  return (row * tensor.getDim(1) + head) * tensor.getDim(2);
}

Result mmx::reference::evaluate(BlockScoresOp op, Values &operands) {
  const Tensor &query = operands[0], &key = operands[1];
  int64_t heads = query.getDim(1), dim = query.getDim(2);
  int64_t m = query.getDim(0), n = key.getDim(0);
  Tensor result = Tensor::floats({heads, m, n});
  double *out = result.getMutableFloats().data();
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j, ++out)
        for (int64_t c = 0; c < dim; ++c)
          *out += query.getFloats()[at(query, i, h) + c] *
                  key.getFloats()[at(key, j, h) + c];
  return Values{result};
}

Result mmx::reference::evaluate(BlockValuesOp op, Values &operands) {
  const Tensor &scores = operands[0], &value = operands[1];
  int64_t heads = value.getDim(1), dim = value.getDim(2);
  int64_t m = scores.getDim(1), n = scores.getDim(2);
  if (n != value.getDim(0))
    return makeError(op, "expected a row of values for each column of scores");
  Tensor result = Tensor::floats({m, heads, dim});
  double *out = result.getMutableFloats().data();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t h = 0; h < heads; ++h, out += dim)
      for (int64_t j = 0; j < n; ++j) {
        double score = scores.getFloats()[(h * m + i) * n + j];
        for (int64_t c = 0; c < dim; ++c)
          out[c] += score * value.getFloats()[at(value, j, h) + c];
      }
  return Values{result};
}

Result mmx::reference::evaluate(BlockReadoutOp op, Values &operands) {
  const Tensor &query = operands[0], &state = operands[1];
  int64_t heads = query.getDim(1), rows = state.getDim(1);
  int64_t columns = state.getDim(2);
  Tensor result = Tensor::floats({query.getDim(0), heads, columns});
  double *out = result.getMutableFloats().data();
  for (int64_t i = 0; i < query.getDim(0); ++i)
    for (int64_t h = 0; h < heads; ++h, out += columns)
      for (int64_t r = 0; r < rows; ++r) {
        double q = query.getFloats()[at(query, i, h) + r];
        for (int64_t c = 0; c < columns; ++c)
          out[c] += q * state.getFloats()[at(state, h, r) + c];
      }
  return Values{result};
}

Result mmx::reference::evaluate(BlockOuterOp op, Values &operands) {
  const Tensor &key = operands[0], &value = operands[1];
  int64_t heads = key.getDim(1), rows = key.getDim(2);
  int64_t columns = value.getDim(2);
  if (key.getDim(0) != value.getDim(0))
    return makeError(op, "expected as many keys as values");
  Tensor result = Tensor::floats({heads, rows, columns});
  double *out = result.getMutableFloats().data();
  for (int64_t i = 0; i < key.getDim(0); ++i)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t r = 0; r < rows; ++r) {
        double k = key.getFloats()[at(key, i, h) + r];
        for (int64_t c = 0; c < columns; ++c)
          out[(h * rows + r) * columns + c] +=
              k * value.getFloats()[at(value, i, h) + c];
      }
  return Values{result};
}

//===----------------------------------------------------------------------===//
// Decays on one block (E16)
//===----------------------------------------------------------------------===//

Result mmx::reference::evaluate(DecayMaskOp op, Values &operands) {
  Tensor result = operands[0];
  int64_t m = result.getDim(1), n = result.getDim(2);
  double *out = result.getMutableFloats().data();
  for (int64_t h = 0; h < result.getDim(0); ++h) {
    double rate = op.getDecay().getRate(h);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j, ++out)
        *out = i >= j ? *out * std::exp(-rate * (i - j)) : 0;
  }
  return Values{result};
}

/// Row i of head h, times exp(-g(h) age(i)).
static Values decayRows(Tensor input, DecayAttr decay,
                        llvm::function_ref<int64_t(int64_t)> age) {
  int64_t heads = input.getDim(1), dim = input.getDim(2);
  double *out = input.getMutableFloats().data();
  for (int64_t i = 0; i < input.getDim(0); ++i)
    for (int64_t h = 0; h < heads; ++h) {
      double factor = std::exp(-decay.getRate(h) * age(i));
      for (int64_t c = 0; c < dim; ++c)
        *out++ *= factor;
    }
  return Values{std::move(input)};
}

Result mmx::reference::evaluate(QueryDecayOp op, Values &operands) {
  return decayRows(operands[0], op.getDecay(), [](int64_t i) { return i + 1; });
}

Result mmx::reference::evaluate(KeyDecayOp op, Values &operands) {
  int64_t m = operands[0].getDim(0);
  return decayRows(operands[0], op.getDecay(),
                   [m](int64_t i) { return m - 1 - i; });
}

/// Matrix h of `state`, from element `offset` on, times exp(-g(h) tokens).
static void decayState(MutableArrayRef<double> state, int64_t heads,
                       DecayAttr decay, int64_t tokens) {
  int64_t size = state.size() / heads;
  for (int64_t h = 0; h < heads; ++h) {
    double factor = std::exp(-decay.getRate(h) * tokens);
    for (double &x : state.slice(h * size, size))
      x *= factor;
  }
}

Result mmx::reference::evaluate(BlockDecayOp op, Values &operands) {
  Tensor result = operands[0];
  decayState(result.getMutableFloats(), result.getDim(0), op.getDecay(),
             operands[1].getDim(0));
  return Values{result};
}

//===----------------------------------------------------------------------===//
// Segments (E17)
//===----------------------------------------------------------------------===//

Result mmx::reference::evaluate(SegmentTableOp op, Values &operands) {
  ArrayRef<int32_t> starts = operands[0].getInts();
  int64_t tokens = operands[1].getDim(0), length = op.getLength();
  if (llvm::Error error = checkStarts(op, starts, tokens))
    return error;
  int64_t sequences = starts.size() - 1;
  int64_t rows = tokens / length + sequences;
  // A row of no segment begins where the next segment does.
  std::vector<int32_t> table(rows + 1, -1);
  table[rows] = tokens;
  for (int64_t b = 0; b < sequences; ++b)
    for (int64_t first = starts[b]; first < starts[b + 1]; first += length)
      table[starts[b] / length + b + (first - starts[b]) / length] = first;
  for (int64_t row = rows - 1; row >= 0; --row)
    if (table[row] < 0)
      table[row] = table[row + 1];
  return Values{Tensor::ints({rows + 1}, std::move(table))};
}

Result mmx::reference::evaluate(ZeroStatesOp op, Values &operands) {
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(op.getResult().getType()).getShape());
  shape[0] = operands[0].getDim(0) - 1;
  return Values{Tensor::floats(shape)};
}

Result mmx::reference::evaluate(ScanStatesOp op, Values &operands) {
  const Tensor &local = operands[0];
  Tensor states = std::move(operands[1]);
  ArrayRef<int32_t> starts = operands[2].getInts();
  ArrayRef<int32_t> slots = operands[3].getInts();
  int64_t length = op.getLength(), heads = local.getDim(1);
  if (starts.size() != slots.size() + 1)
    return makeError(op, "expected one slot a sequence");
  if (llvm::Error error = checkStarts(op, starts, starts.back()))
    return error;
  if (llvm::Error error = checkDistinct(op, "slots", slots, states.getDim(0)))
    return error;
  int64_t rows = starts.back() / length + static_cast<int64_t>(slots.size());
  if (rows != local.getDim(0))
    return makeError(op, "expected " + Twine(rows) + " local states, but got " +
                             Twine(local.getDim(0)));
  Tensor result = Tensor::floats(local.getShape(),
                                 std::numeric_limits<double>::quiet_NaN());
  int64_t size = local.getRowSize();
  for (auto [b, slot] : llvm::enumerate(slots)) {
    MutableArrayRef<double> state =
        states.getMutableFloats().slice(slot * size, size);
    int64_t row = starts[b] / length + static_cast<int64_t>(b);
    for (int64_t first = starts[b]; first < starts[b + 1];
         first += length, ++row) {
      llvm::copy(state, result.getMutableFloats().data() + row * size);
      decayState(state, heads, op.getDecay(),
                 std::min<int64_t>(length, starts[b + 1] - first));
      for (int64_t i = 0; i < size; ++i)
        state[i] += local.getFloats()[row * size + i];
    }
  }
  return Values{std::move(result), std::move(states)};
}
