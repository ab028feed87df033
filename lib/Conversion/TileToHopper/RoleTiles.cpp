//===- RoleTiles.cpp - Arithmetic on fragments ----------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleWriter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mmx/Dialect/Hopper/HopperOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::hopper;

VectorType RoleWriter::getVectorType(Value fragment) {
  Type element = cast<tile::FragType>(fragment.getType()).getElementType();
  return VectorType::get({layout.getElements(fragment)}, element);
}

Value RoleWriter::element(Value vector, int64_t i) {
  return vector::ExtractOp::create(e, vector, i);
}

Value RoleWriter::getFirstRow() {
  Value inGroup = arith::AndIOp::create(e, warp, number32(3));
  return arith::AddIOp::create(e,
                               arith::MulIOp::create(e, inGroup, number32(16)),
                               arith::ShRUIOp::create(e, lane, number32(2)));
}

Value RoleWriter::getFirstCol() {
  return arith::MulIOp::create(e, arith::AndIOp::create(e, lane, number32(3)),
                               number32(2));
}

// Element i of thread t: block b = i / (c / 2) of 64 rows, then pairs of
// columns in steps of 8, two rows 8 apart for each (PTX ISA, wgmma accumulator
// fragments). Below, `row` and `col` number the rows and columns that a thread
// has.

int64_t RoleWriter::getElementAt(int64_t row, int64_t col, int64_t cols) {
  return row / 2 * (cols / 2) + 4 * (col / 2) + 2 * (row % 2) + col % 2;
}

/// The inverse: row and column of element i.
static std::pair<int64_t, int64_t> getPlace(int64_t i, int64_t cols) {
  int64_t block = i / (cols / 2), rest = i % (cols / 2);
  return {2 * block + rest % 4 / 2, 2 * (rest / 4) + rest % 2};
}

/// Vectors have a thread's rows, or its columns, in order.
void RoleWriter::forElements(Value fragment, ElementBody body) {
  auto add = [&](Value a, int64_t b) {
    return b == 0 ? a : arith::AddIOp::create(e, a, number32(b)).getResult();
  };
  auto rowAt = [&](Value first, int64_t row) {
    return add(first, 64 * (row / 2) + 8 * (row % 2));
  };
  auto colAt = [&](Value first, int64_t col) {
    return add(first, 8 * (col / 2) + col % 2);
  };
  int64_t count = layout.getElements(fragment);
  if (isVector(fragment)) {
    bool along0 = cast<tile::FragType>(fragment.getType()).getAlong() == 0;
    bool rows = layout.runsAlongRows(fragment);
    Value first = rows ? getFirstRow() : getFirstCol(), none = number32(0);
    for (int64_t i = 0; i < count; ++i) {
      Value place = rows ? rowAt(first, i) : colAt(first, i);
      if (along0)
        body(i, place, none);
      else
        body(i, none, place);
    }
    return;
  }
  int64_t cols = layout.getShape(fragment).second;
  bool transposed = layout.isTransposed(fragment);
  Value firstRow = getFirstRow(), firstCol = getFirstCol();
  for (int64_t i = 0; i < count; ++i) {
    auto [row, col] = getPlace(i, cols);
    Value r = rowAt(firstRow, row), c = colAt(firstCol, col);
    if (transposed)
      body(i, c, r);
    else
      body(i, r, c);
  }
}

int64_t RoleWriter::getVectorElement(Value vector, Value fragment, int64_t i) {
  if (isVector(fragment))
    return i;
  auto [row, col] = getPlace(i, layout.getShape(fragment).second);
  return layout.runsAlongRows(vector) ? row : col;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult RoleWriter::writeMma(tile::MmaOp op, int64_t stage, State &state,
                                   Operation *loop) {
  bool right = isa<tile::FragType>(op.getB().getType());
  // C = A B, or C^T = B^T A^T with the fragment on the left.
  Value left = right ? op.getB() : op.getA();
  Value other = right ? op.getA() : op.getB();
  bool transposeLeft = right ? !op.getTransposeB() : op.getTransposeA();
  bool transposeOther = right ? !op.getTransposeA() : op.getTransposeB();
  Flight flight = {op, stage, Key(Value(), 0), /*superseded=*/false};
  Value a, acc;
  MatrixAttr aMatrix;
  if (isa<tile::FragType>(left.getType())) {
    auto found = resolve(left, loop);
    flight.a = found ? Key(found->first, stage + found->second) : Key(left, -1);
    a = state.tiles.lookup(flight.a);
    transposeLeft = false;
  } else {
    a = getTile(left);
    aMatrix = layout.getMatrix(left);
    transposeLeft ^= layout.isTransposed(left);
  }
  if (op.getAcc()) {
    acc = get(state, op.getAcc(), stage, loop);
    for (Flight &older : state.flights)
      if (state.tiles.lookup({older.mma->getResult(0), older.age}) == acc)
        older.superseded = true;
  }
  transposeOther ^= layout.isTransposed(other);
  if (!a || (op.getAcc() && !acc))
    return op.emitOpError("expected operands that this role has");
  Value result = WgmmaOp::create(
      e, getVectorType(op.getResult()), a, getTile(other), acc, aMatrix,
      layout.getMatrix(other), transposeLeft, transposeOther);
  state.tiles[{op.getResult(), stage}] = result;
  state.flights.push_back(flight);
  return success();
}

/// Retires the product that is waited for, with all older ones; a loop waits
/// for everything.
void RoleWriter::writeWait(const tile::Instruction &instruction, State &state) {
  unsigned count = state.flights.size();
  int64_t pending = 0;
  if (instruction.kind == tile::InstructionKind::WaitMma) {
    auto target = llvm::find_if(state.flights, [&](const Flight &flight) {
      return flight.mma == instruction.op && flight.age == instruction.at.stage;
    });
    if (target == state.flights.end())
      return;
    count = target - state.flights.begin() + 1;
    pending = instruction.pending;
  }
  if (count == 0)
    return;
  SmallVector<Key> keys;
  auto reads = [&](const Flight &flight, Key key) {
    return flight.a.first && flight.a == key;
  };
  for (unsigned i = 0; i < count; ++i) {
    const Flight &flight = state.flights[i];
    if (!flight.superseded)
      keys.push_back({flight.mma->getResult(0), flight.age});
    // A fragment that a later product still reads is kept by its wait.
    bool later = llvm::any_of(
        ArrayRef(state.flights).drop_front(count),
        [&](const Flight &other) { return reads(other, flight.a); });
    if (flight.a.first && !later && !llvm::is_contained(keys, flight.a))
      keys.push_back(flight.a);
  }
  SmallVector<Value> values;
  for (Key key : keys)
    values.push_back(state.tiles.lookup(key));
  auto wait = WaitOp::create(e, pending, values);
  for (auto [key, value] : llvm::zip(keys, wait.getResults()))
    state.tiles[key] = value;
  state.flights.erase(state.flights.begin(), state.flights.begin() + count);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

namespace {
/// Copies the body of a map with 32 bits for an index, half the registers of
/// 64: rows, columns and what is compared with them are far smaller.
class NarrowBody {
public:
  NarrowBody(Emitter &e, const IRMapping &outer) : e(e), outer(outer) {}

  void map(Value from, Value to) { values.map(from, to); }

  Value lookup(Value value) {
    if (Value known = values.lookupOrNull(value))
      return known;
    Value uniform = outer.lookup(value);
    if (uniform.getType().isIndex())
      uniform = arith::IndexCastOp::create(e, e.getI32Type(), uniform);
    values.map(value, uniform);
    return uniform;
  }

  void clone(Operation &op) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(lookup(operand));
    if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
      map(cast.getResult(), resize(operands[0], cast.getType()));
      return;
    }
    if (auto exp = dyn_cast<math::ExpOp>(op); exp && exp.getType().isF32()) {
      map(exp.getResult(), fastExp(operands[0]));
      return;
    }
    if (auto constant = dyn_cast<arith::ConstantIndexOp>(op)) {
      map(constant.getResult(),
          arith::ConstantIntOp::create(e, e.getI32Type(), constant.value()));
      return;
    }
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(type.isIndex() ? Type(e.getI32Type()) : type);
    Operation *copy =
        e.OpBuilder::create(op.getLoc(), op.getName().getIdentifier(), operands,
                            types, op.getAttrs());
    for (auto [from, to] : llvm::zip(op.getResults(), copy->getResults()))
      map(from, to);
  }

private:
  /// As the special function unit has it: within 2 ulp of 2^x, and 0 below
  /// 2^-126. Factors of elements are used once, so nothing adds up; uniform
  /// ones, which may be multiplied into a state again and again, are exact.
  Value fastExp(Value x) {
    Value scale = e.constant(e.getF32Type(), 1.44269504088896340736);
    Value power = arith::MulFOp::create(e, x, scale);
    return LLVM::CallIntrinsicOp::create(
               e, e.getF32Type(), e.getStringAttr("llvm.nvvm.ex2.approx.ftz"),
               ValueRange(power))
        ->getResult(0);
  }

  /// Of an integer that stands for an index on one side.
  Value resize(Value value, Type type) {
    if (type.isIndex())
      type = e.getI32Type();
    unsigned from = value.getType().getIntOrFloatBitWidth(),
             to = type.getIntOrFloatBitWidth();
    if (from == to)
      return value;
    if (from < to)
      return arith::ExtSIOp::create(e, type, value);
    return arith::TruncIOp::create(e, type, value);
  }

  Emitter &e;
  const IRMapping &outer;
  IRMapping values;
};

/// The body of a map for two elements of a row. What gives 16-bit floats is
/// computed for both at once, as the instructions do.
class PairBody {
public:
  PairBody(Emitter &e, const IRMapping &outer)
      : e(e), bodies{NarrowBody(e, outer), NarrowBody(e, outer)} {}

  NarrowBody &operator[](unsigned i) { return bodies[i]; }

  void clone(Operation &op) {
    if (!isPaired(op)) {
      for (NarrowBody &body : bodies)
        body.clone(op);
      return;
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(getPair(operand));
    Value result = op.getResult(0);
    auto type = VectorType::get({2}, result.getType());
    Operation *copy =
        e.OpBuilder::create(op.getLoc(), op.getName().getIdentifier(), operands,
                            type, op.getAttrs());
    pairs[result] = copy->getResult(0);
    for (auto [i, body] : llvm::enumerate(bodies))
      body.map(result,
               vector::ExtractOp::create(e, copy->getResult(0), int64_t(i)));
  }

private:
  static bool isPaired(Operation &op) {
    auto isFloat = [](Type type) { return isa<FloatType>(type); };
    return op.hasTrait<OpTrait::Vectorizable>() && op.getNumResults() == 1 &&
           op.getNumOperands() > 0 && op.getResult(0).getType().isBF16() &&
           llvm::all_of(op.getOperandTypes(), isFloat);
  }

  Value getPair(Value value) {
    Value &pair = pairs[value];
    if (!pair)
      pair = vector::FromElementsOp::create(
          e, VectorType::get({2}, value.getType()),
          ValueRange{bodies[0].lookup(value), bodies[1].lookup(value)});
    return pair;
  }

  Emitter &e;
  std::array<NarrowBody, 2> bodies;
  llvm::DenseMap<Value, Value> pairs;
};
} // namespace

LogicalResult RoleWriter::writeMap(tile::MapOp op, int64_t stage, State &state,
                                   Operation *loop) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands_())
    operands.push_back(get(state, operand, stage, loop));
  Block &body = op.getBody().front();
  SmallVector<SmallVector<Value>> results(op.getNumResults());
  auto compute = [&] {
    std::optional<PairBody> pair;
    forElements(op.getResult(0), [&](int64_t i, Value row, Value col) {
      if (i % 2 == 0)
        pair.emplace(e, mapping);
      NarrowBody &narrow = (*pair)[i % 2];
      unsigned number = 0;
      for (auto [operand, vector] : llvm::zip(op.getOperands_(), operands)) {
        int64_t place = isVector(operand)
                            ? getVectorElement(operand, op.getResult(0), i)
                            : i;
        narrow.map(body.getArgument(number++), element(vector, place));
      }
      narrow.map(body.getArgument(number), row);
      narrow.map(body.getArgument(number + 1), col);
      if (i % 2 == 0)
        return;
      for (Operation &inner : body.without_terminator())
        pair->clone(inner);
      for (auto [list, yielded] :
           llvm::zip(results, body.getTerminator()->getOperands()))
        for (unsigned half : {0, 1})
          list.push_back((*pair)[half].lookup(yielded));
    });
    SmallVector<Value> vectors;
    for (auto [list, result] : llvm::zip(results, op.getResults()))
      vectors.push_back(
          vector::FromElementsOp::create(e, getVectorType(result), list));
    return vectors;
  };
  SmallVector<Value> vectors;
  if (op.getWhen()) {
    SmallVector<Type> types;
    for (Value result : op.getResults())
      types.push_back(getVectorType(result));
    auto branch = scf::IfOp::create(e, types, lookup(op.getWhen()),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(&branch.getThenRegion().front());
    scf::YieldOp::create(e, compute());
    e.setInsertionPointToStart(&branch.getElseRegion().front());
    scf::YieldOp::create(e, operands.front());
    vectors.assign(branch.result_begin(), branch.result_end());
  } else {
    vectors = compute();
  }
  for (auto [result, vector] : llvm::zip(op.getResults(), vectors))
    state.tiles[{result, stage}] = vector;
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult RoleWriter::writeOp(Operation *op, int64_t stage, State &state,
                                  Operation *loop) {
  auto define = [&](Value result, Value value) {
    state.tiles[{result, stage}] = value;
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::LoadOp load) -> LogicalResult {
        if (isa<tile::SramType>(load.getType()))
          return writeLoad(load);
        return define(load.getResult(), writeLoadFragment(load));
      })
      .Case([&](tile::StoreOp store) {
        if (isa<tile::SramType>(store.getTile().getType()))
          writeStoreSlot(store);
        else
          writeStoreFragment(store, get(state, store.getTile(), stage, loop));
        return success();
      })
      .Case([&](tile::ReadOp read) {
        return define(read.getResult(), writeRead(read, stage));
      })
      .Case([&](tile::PutOp put) {
        writePut(put, get(state, put.getTile(), stage, loop));
        return success();
      })
      .Case([&](tile::MmaOp mma) { return writeMma(mma, stage, state, loop); })
      .Case([&](tile::MapOp map) { return writeMap(map, stage, state, loop); })
      .Case([&](tile::ReduceOp reduce) {
        return writeReduce(reduce, stage, state, loop);
      })
      .Default([&](Operation *op) -> LogicalResult {
        return op->emitOpError("expected an op that sm_90a code is known for");
      });
}
