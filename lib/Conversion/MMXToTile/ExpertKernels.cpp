//===- ExpertKernels.cpp - Routing and experts as tile programs -----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mmx;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

namespace {

template <typename Model, typename OpTy>
using CellModel = CellEmitterInterface::ExternalModel<Model, OpTy>;

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

/// Softmax over all experts of a token (E10), then the largest again and
/// again; ties go to the smaller number because reductions do so.
class RouteEmitter {
public:
  RouteEmitter(KernelEmitter &e, RouteOp route)
      : e(e), route(route), experts(typeOf(route.getLogits()).getDimSize(1)) {}
  LogicalResult run();

private:
  Value emitSoftmax(Value logits);
  Value markTaken(Value left, Value index);
  std::pair<Value, Value> takeLargest(Value values);
  Value takeGiven(Value index, Value row, int64_t choice);
  Value pick(Value probabilities, Value index);

  KernelEmitter &e;
  RouteOp route;
  int64_t experts;
  int64_t rows = 0;
};

} // namespace

Value RouteEmitter::emitSoftmax(Value logits) {
  Value largest = e.reduce(tile::ReduceKind::Max, logits, 1);
  Value powers = e.map(e.frag({rows, experts}), {logits, largest},
                       [](ElementContext &c, ValueRange x) -> Value {
                         Value shifted = arith::SubFOp::create(c.builder, c.loc,
                                                               x[0], x[1]);
                         return math::ExpOp::create(c.builder, c.loc, shifted);
                       });
  Value sum = e.reduce(tile::ReduceKind::Add, powers, 1);
  return e.map(e.frag({rows, experts}), {powers, sum},
               [](ElementContext &c, ValueRange x) -> Value {
                 return arith::DivFOp::create(c.builder, c.loc, x[0], x[1]);
               });
}

/// Probabilities without the one just taken: -1 is below all others.
Value RouteEmitter::markTaken(Value left, Value index) {
  return e.map(e.frag({rows, experts}), {left, index},
               [](ElementContext &c, ValueRange x) -> Value {
                 Value column = arith::IndexCastOp::create(
                     c.builder, c.loc, c.builder.getI32Type(), c.col);
                 Value taken = arith::CmpIOp::create(
                     c.builder, c.loc, arith::CmpIPredicate::eq, column, x[1]);
                 return arith::SelectOp::create(c.builder, c.loc, taken,
                                                c.constant(-1.0), x[0]);
               });
}

std::pair<Value, Value> RouteEmitter::takeLargest(Value values) {
  Type index = tile::FragType::get(e.builder.getContext(), {rows},
                                   e.builder.getI32Type(), 0);
  auto reduce = tile::ReduceOp::create(
      e.builder, e.getLoc(), TypeRange{e.frag({rows}, 0), index},
      tile::ReduceKind::Max, values, static_cast<uint64_t>(1));
  return {reduce.getResult(), reduce.getIndex()};
}

/// The given expert of a choice, or `index` where none is given.
Value RouteEmitter::takeGiven(Value index, Value row, int64_t choice) {
  auto type = cast<tile::FragType>(index.getType());
  Value given = e.getInput(route.getGiven());
  Value wanted = tile::LoadOp::create(e.builder, e.getLoc(), type, given,
                                      ValueRange{row, e.index(choice)}, Value(),
                                      e.builder.getDenseI64ArrayAttr({0}),
                                      e.builder.getF64FloatAttr(-1.0));
  return e.map(
      type, {wanted, index}, [](ElementContext &c, ValueRange x) -> Value {
        Value zero = arith::ConstantIntOp::create(c.builder, c.loc, 0, 32);
        Value isFree = arith::CmpIOp::create(
            c.builder, c.loc, arith::CmpIPredicate::slt, x[0], zero);
        return arith::SelectOp::create(c.builder, c.loc, isFree, x[1], x[0]);
      });
}

/// The probability of expert `index` of each token.
Value RouteEmitter::pick(Value probabilities, Value index) {
  Value one =
      e.map(e.frag({rows, experts}), {probabilities, index},
            [](ElementContext &c, ValueRange x) -> Value {
              Value column = arith::IndexCastOp::create(
                  c.builder, c.loc, c.builder.getI32Type(), c.col);
              Value same = arith::CmpIOp::create(
                  c.builder, c.loc, arith::CmpIPredicate::eq, column, x[1]);
              return arith::SelectOp::create(c.builder, c.loc, same, x[0],
                                             c.constant(0.0));
            });
  return e.reduce(tile::ReduceKind::Add, one, 1);
}

LogicalResult RouteEmitter::run() {
  TileSizesAttr tiles = e.getTiles(16, experts, 1);
  rows = tiles.getRows();
  Value weights = e.getOutput(route.getWeights());
  Value chosen = e.getOutput(route.getExperts());
  SmallVector<Value> cell = e.setGrid({e.getExtent(weights, 0).ceilDiv(rows)});
  TileRegion region{e.mul(cell[0], rows), rows, Value(), e.index(0), experts};
  FailureOr<Slice> logits = e.getSlice(route.getLogits(), region);
  if (failed(logits))
    return failure();
  Value probabilities = emitSoftmax(e.loadFrag(*logits, {rows, experts}));
  Value left = probabilities;
  SmallVector<Value> largest;
  Value sum;
  for (int64_t j = 0; j < static_cast<int64_t>(route.getTopK()); ++j) {
    auto [value, index] = takeLargest(left);
    if (route.getGiven()) {
      index = takeGiven(index, region.row, j);
      value = pick(probabilities, index);
    }
    largest.push_back(value);
    e.store(index, {chosen, {region.row, e.index(j)}, {0}});
    left = markTaken(left, index);
    if (!sum)
      sum = value;
    else
      sum = e.map(e.frag({rows}, 0), {sum, value},
                  [](ElementContext &c, ValueRange x) -> Value {
                    return arith::AddFOp::create(c.builder, c.loc, x[0], x[1]);
                  });
  }
  for (auto [j, value] : llvm::enumerate(largest)) {
    Value weight =
        e.map(e.frag({rows}, 0), {value, sum},
              [](ElementContext &c, ValueRange x) -> Value {
                return arith::DivFOp::create(c.builder, c.loc, x[0], x[1]);
              });
    e.store(weight, {weights, {region.row, e.index(j)}, {0}});
  }
  return success();
}

namespace {
struct RouteModel : CellModel<RouteModel, RouteOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    return RouteEmitter(e, cast<RouteOp>(op)).run();
  }
};

//===----------------------------------------------------------------------===//
// Sorting by expert
//===----------------------------------------------------------------------===//

/// A counting sort. First stage, one cell: counts, their running sums, the
/// place of every choice. Second stage: choices and tokens are scattered there.
class GroupEmitter {
public:
  GroupEmitter(KernelEmitter &e, GroupTokensOp group)
      : e(e), group(group), topK(typeOf(group.getExperts()).getDimSize(1)),
        experts(typeOf(group.getOffsets()).getDimSize(0) - 1),
        i32(e.builder.getI32Type()) {}
  LogicalResult runPlaces();
  LogicalResult runScatter();

private:
  static constexpr int64_t chunk = 64;
  tile::FragType ints(ArrayRef<int64_t> shape, int64_t along = -1) {
    return tile::FragType::get(e.builder.getContext(), shape, i32, along);
  }
  Value emitOneHot(Value start);
  Value addColumns(Value a, Value b);
  Value countAll();
  Value emitPlaces(Value hot, Value next);

  KernelEmitter &e;
  GroupTokensOp group;
  int64_t topK, experts;
  Type i32;
  Value chosen, total, scratch;
};
} // namespace

/// 1 where choice `start` + row is of expert col; past the end nothing is.
Value GroupEmitter::emitOneHot(Value start) {
  auto type = ints({chunk}, 0);
  auto load = tile::LoadOp::create(
      e.builder, e.getLoc(), type, chosen, ValueRange{start}, Value(),
      e.builder.getDenseI64ArrayAttr({0}), e.builder.getF64FloatAttr(-1.0));
  return e.map(ints({chunk, experts}), load.getResult(),
               [&](ElementContext &c, ValueRange x) -> Value {
                 Value column =
                     arith::IndexCastOp::create(c.builder, c.loc, i32, c.col);
                 Value same = arith::CmpIOp::create(
                     c.builder, c.loc, arith::CmpIPredicate::eq, column, x[0]);
                 return arith::ExtUIOp::create(c.builder, c.loc, i32, same);
               });
}

Value GroupEmitter::addColumns(Value a, Value b) {
  return e.map(ints({experts}, 1), {a, b},
               [](ElementContext &c, ValueRange x) -> Value {
                 return arith::AddIOp::create(c.builder, c.loc, x[0], x[1]);
               });
}

Value GroupEmitter::countAll() {
  Value zero = e.fill(ints({experts}, 1), 0.0);
  return e
      .loop(e.index(0), total, chunk, zero,
            [&](Value start, ValueRange carried) {
              Value counts =
                  e.reduce(tile::ReduceKind::Add, emitOneHot(start), 0);
              return SmallVector<Value>{addColumns(carried[0], counts)};
            })
      .front();
}

/// The place of a choice: the next free one of its expert, plus the choices of
/// the same expert before it in this chunk.
Value GroupEmitter::emitPlaces(Value hot, Value next) {
  Value before = tile::ScanOp::create(e.builder, e.getLoc(), hot.getType(), hot,
                                      static_cast<uint64_t>(0), true);
  Value places =
      e.map(ints({chunk, experts}), {hot, before, next},
            [](ElementContext &c, ValueRange x) -> Value {
              Value place = arith::AddIOp::create(c.builder, c.loc, x[1], x[2]);
              return arith::MulIOp::create(c.builder, c.loc, x[0], place);
            });
  return e.reduce(tile::ReduceKind::Add, places, 1);
}

LogicalResult GroupEmitter::runPlaces() {
  chosen = e.getInput(group.getExperts(), {ShapedType::kDynamic});
  Value offsets = e.getOutput(group.getOffsets());
  scratch = e.getScratch(i32, group.getChoices());
  e.setGrid({e.getAffine(1)});
  total = e.dim(chosen, 0);
  Value counts = countAll();
  // As a matrix of one row, which can be scanned.
  Value row = e.map(ints({1, experts}), counts,
                    [](ElementContext &, ValueRange x) { return x[0]; });
  auto running = [&](bool exclusive) {
    Value sums = tile::ScanOp::create(e.builder, e.getLoc(), row.getType(), row,
                                      static_cast<uint64_t>(1), exclusive);
    return e.reduce(tile::ReduceKind::Add, sums, 0);
  };
  e.store(e.fill(ints({1}, 0), 0.0), {offsets, {e.index(0)}, {0}});
  e.store(running(false), {offsets, {e.index(1)}, {0}});
  e.loop(e.index(0), total, chunk, running(true),
         [&](Value start, ValueRange carried) {
           Value hot = emitOneHot(start);
           e.store(emitPlaces(hot, carried[0]), {scratch, {start}, {0}});
           return SmallVector<Value>{
               addColumns(carried[0], e.reduce(tile::ReduceKind::Add, hot, 0))};
         });
  return success();
}

/// A cell scatters a chunk.
LogicalResult GroupEmitter::runScatter() {
  Value places = e.getScratchInput(0, i32, group.getChoices());
  total = e.dim(places, 0);
  SmallVector<Value> cell = e.setGrid({e.getExtent(places, 0).ceilDiv(chunk)});
  Value start = e.mul(cell[0], chunk);
  Value rows = e.sub(total, start);
  auto number = [&](int64_t divisor) {
    return e.map(
        ints({chunk}, 0), {}, [&](ElementContext &c, ValueRange) -> Value {
          Value choice = arith::AddIOp::create(c.builder, c.loc, start, c.row);
          Value by = arith::ConstantIndexOp::create(c.builder, c.loc, divisor);
          Value result = arith::DivSIOp::create(c.builder, c.loc, choice, by);
          return arith::IndexCastOp::create(c.builder, c.loc, i32, result);
        });
  };
  auto put = [&](Value tile, Value output) {
    tile::StoreOp::create(e.builder, e.getLoc(), tile, e.getOutput(output),
                          ValueRange{e.index(0)}, places, start, rows,
                          e.builder.getDenseI64ArrayAttr({0}));
  };
  put(number(1), group.getChoices());
  put(number(topK), group.getTokens());
  return success();
}

namespace {
struct GroupTokensModel : CellModel<GroupTokensModel, GroupTokensOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    GroupEmitter emitter(e, cast<GroupTokensOp>(op));
    return e.getStage() == 0 ? emitter.runPlaces() : emitter.runScatter();
  }
  unsigned getNumStages(Operation *) const { return 2; }
};

//===----------------------------------------------------------------------===//
// Products of the experts
//===----------------------------------------------------------------------===//

/// What the two halves share: a cell owns the columns of one expert and goes
/// over its rows.
struct ExpertCell {
  KernelEmitter &e;
  int64_t width, depth, rows, cols, step;
  Value expert, col, from, to;

  ExpertCell(KernelEmitter &e, Value offsets, Value weight)
      : e(e), width(typeOf(weight).getDimSize(1)),
        depth(typeOf(weight).getDimSize(2)) {
    TileSizesAttr tiles = e.getTiles(16, 64, depth);
    rows = tiles.getRows();
    cols = tiles.getCols();
    step = std::min(depth, tiles.getDepth());
    SmallVector<Value> cell =
        e.setGrid({e.getAffine(typeOf(weight).getDimSize(0)),
                   e.getAffine(llvm::divideCeil(width, cols))});
    expert = cell[0];
    col = e.mul(cell[1], cols);
    Value table = e.getInput(offsets);
    from = e.table(table, expert);
    to = e.table(table, e.add(expert, e.index(1)));
  }

  /// Products of the rows that `load` gives with the weights.
  SmallVector<Value> multiply(llvm::function_ref<Value(Value)> load,
                              ValueRange weights) {
    auto step_ = [&](Value k, ValueRange acc) {
      Value a = load(k);
      SmallVector<Value> next;
      for (auto [number, weight] : llvm::enumerate(weights)) {
        Value b = e.loadSram({e.getWeight(weight, 1), {expert, col, k}, {1, 2}},
                             {cols, step});
        next.push_back(
            e.mma(a, b, acc.empty() ? Value() : acc[number], false, true));
      }
      return next;
    };
    if (step >= depth)
      return step_(e.index(0), {});
    SmallVector<Value> zeros;
    for (size_t i = 0; i < weights.size(); ++i)
      zeros.push_back(e.fill(e.frag({rows, cols}), 0.0));
    return e.loop(e.index(0), e.index(depth), step, zeros, step_);
  }

  Value gather(Value view, Type type, Value ids, Value start, Value bound,
               ValueRange indices, ArrayRef<int64_t> dims) {
    return tile::GatherOp::create(
        e.builder, e.getLoc(), type, view, indices, ids, start, bound,
        e.builder.getDenseI64ArrayAttr(dims), e.builder.getF64FloatAttr(0.0));
  }
};

struct ExpertsUpModel : CellModel<ExpertsUpModel, ExpertsUpOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto up = cast<ExpertsUpOp>(op);
    ExpertCell cell(e, up.getOffsets(), up.getW1());
    LogicalResult result = success();
    e.loop(cell.from, cell.to, cell.rows, {}, [&](Value row, ValueRange) {
      Value bound = e.sub(cell.to, row);
      auto load = [&](Value k) {
        Type type =
            tile::SramType::get(e.builder.getContext(), {cell.rows, cell.step},
                                typeOf(up.getInput()).getElementType());
        return cell.gather(e.getInput(up.getInput()), type,
                           e.getInput(up.getTokens()), row, bound,
                           {e.index(0), k}, {0, 1});
      };
      SmallVector<Value> products =
          cell.multiply(load, {up.getW1(), up.getW3()});
      Value hidden = e.map(
          e.frag({cell.rows, cell.cols}), products,
          [](ElementContext &c, ValueRange x) -> Value {
            Value minus = arith::NegFOp::create(c.builder, c.loc, x[0]);
            Value power = math::ExpOp::create(c.builder, c.loc, minus);
            Value below =
                arith::AddFOp::create(c.builder, c.loc, c.constant(1.0), power);
            Value silu = arith::DivFOp::create(c.builder, c.loc, x[0], below);
            return arith::MulFOp::create(c.builder, c.loc, silu, x[1]);
          });
      KernelEmitter::KnownTiles known;
      known[up.getResult()] = hidden;
      TileRegion region{row, cell.rows, Value(), cell.col, cell.cols, bound};
      result = e.finish(region, known);
      return SmallVector<Value>{};
    });
    return result;
  }
};

/// Rows go back to the order of choices, scaled by the weight of the choice.
struct ExpertsDownModel : CellModel<ExpertsDownModel, ExpertsDownOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto down = cast<ExpertsDownOp>(op);
    ExpertCell cell(e, down.getOffsets(), down.getW2());
    Value choices = e.getInput(down.getChoices());
    Value output = e.getOutput(down.getResult());
    e.loop(cell.from, cell.to, cell.rows, {}, [&](Value row, ValueRange) {
      Value bound = e.sub(cell.to, row);
      Value input = e.getInput(down.getInput());
      auto load = [&](Value k) {
        return e.loadSram({input, {row, k}, {0, 1}}, {cell.rows, cell.step},
                          bound);
      };
      SmallVector<Value> product = cell.multiply(load, down.getW2());
      Value weight = cell.gather(
          e.getInput(down.getWeights(), {ShapedType::kDynamic}),
          e.frag({cell.rows}, 0), choices, row, bound, {e.index(0)}, {0});
      Value scaled =
          e.map(e.frag({cell.rows, cell.cols}), {product[0], weight},
                [](ElementContext &c, ValueRange x) -> Value {
                  return arith::MulFOp::create(c.builder, c.loc, x[1], x[0]);
                });
      tile::StoreOp::create(e.builder, e.getLoc(), scaled, output,
                            ValueRange{e.index(0), cell.col}, choices, row,
                            bound, e.builder.getDenseI64ArrayAttr({0, 1}));
      return SmallVector<Value>{};
    });
    return success();
  }
};
} // namespace

void mmx::attachExpertModels(MLIRContext *context) {
  RouteOp::attachInterface<RouteModel>(*context);
  GroupTokensOp::attachInterface<GroupTokensModel>(*context);
  ExpertsUpOp::attachInterface<ExpertsUpModel>(*context);
  ExpertsDownOp::attachInterface<ExpertsDownModel>(*context);
}
