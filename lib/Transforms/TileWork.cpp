//===- TileWork.cpp - What a kernel moves and computes --------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Transforms/TileWork.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mmx/Transforms/TileScheduleInfo.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mmx::tile;

//===----------------------------------------------------------------------===//
// Uniform scalars
//===----------------------------------------------------------------------===//

namespace {
/// A number, and whether it depends on the contents of a table, which count
/// as 0.
struct Number {
  int64_t value = 0;
  bool known = true;
};

/// The uniform scalars of one cell.
class CellScalars {
public:
  CellScalars(const llvm::DenseMap<Value, SmallVector<int64_t>> &extents,
              const llvm::DenseMap<Value, int64_t> &given)
      : extents(extents), given(given) {}

  void set(Value value, int64_t number) { given[value] = number; }
  void forget(Value value) { given.erase(value); }
  Number get(Value value) const;
  /// The result of an affine map, or the least or largest of several.
  Number apply(AffineMap map, ValueRange operands, bool least = true) const;

private:
  Number evaluate(Operation *op) const;

  const llvm::DenseMap<Value, SmallVector<int64_t>> &extents;
  llvm::DenseMap<Value, int64_t> given;
};
} // namespace

Number CellScalars::get(Value value) const {
  if (auto it = given.find(value); it != given.end())
    return {it->second};
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {*constant};
  Operation *op = value.getDefiningOp();
  return op ? evaluate(op) : Number{0, false};
}

Number CellScalars::apply(AffineMap map, ValueRange operands,
                          bool least) const {
  SmallVector<Attribute> constants, results;
  Number number;
  Builder builder(map.getContext());
  for (auto [place, operand] : llvm::enumerate(operands)) {
    Number part = get(operand);
    bool isUsed = place < map.getNumDims()
                      ? map.isFunctionOfDim(place)
                      : map.isFunctionOfSymbol(place - map.getNumDims());
    number.known &= part.known || !isUsed;
    constants.push_back(builder.getIndexAttr(part.value));
  }
  if (failed(map.constantFold(constants, results)))
    return {0, false};
  auto valueOf = [](Attribute a) { return cast<IntegerAttr>(a).getInt(); };
  number.value = valueOf(results.front());
  for (Attribute other : llvm::drop_begin(results))
    number.value = least ? std::min(number.value, valueOf(other))
                         : std::max(number.value, valueOf(other));
  return number;
}

Number CellScalars::evaluate(Operation *op) const {
  auto combine = [&](llvm::function_ref<int64_t(int64_t, int64_t)> function) {
    Number a = get(op->getOperand(0)), b = get(op->getOperand(1));
    return Number{function(a.value, b.value), a.known && b.known};
  };
  auto divide = [&](llvm::function_ref<int64_t(int64_t, int64_t)> function) {
    return combine(
        [&](int64_t a, int64_t b) { return b ? function(a, b) : 0; });
  };
  return llvm::TypeSwitch<Operation *, Number>(op)
      .Case([&](DimOp dim) {
        return Number{extents.at(dim.getView())[dim.getDim()]};
      })
      .Case<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
          [&](auto op) {
            return apply(op.getAffineMap(), op->getOperands(),
                         isa<affine::AffineMinOp>(op));
          })
      .Case([&](arith::IndexCastOp cast) { return get(cast.getIn()); })
      .Case([&](arith::AddIOp) { return combine(std::plus<int64_t>()); })
      .Case([&](arith::SubIOp) { return combine(std::minus<int64_t>()); })
      .Case([&](arith::MulIOp) { return combine(std::multiplies<int64_t>()); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
          [&](auto) { return divide(std::divides<int64_t>()); })
      .Case([&](arith::CeilDivSIOp) {
        return divide(
            [](int64_t a, int64_t b) { return llvm::divideCeilSigned(a, b); });
      })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return divide(std::modulus<int64_t>()); })
      .Case([&](arith::MinSIOp) {
        return combine([](int64_t a, int64_t b) { return std::min(a, b); });
      })
      .Case([&](arith::MaxSIOp) {
        return combine([](int64_t a, int64_t b) { return std::max(a, b); });
      })
      .Default([](Operation *) { return Number{0, false}; });
}

/// Whether `value` is computed from `source`; what tables hold does not count.
static bool dependsOn(Value value, Value source) {
  if (value == source)
    return true;
  Operation *op = value.getDefiningOp();
  return op && !isa<TableOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, source);
         });
}

/// The coordinates of the cell that choose the entries of tables behind
/// `value`.
static void collectTableIds(Value value, ArrayRef<BlockArgument> ids,
                            llvm::SmallDenseSet<Value> &found) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  if (isa<TableOp>(op))
    for (Value id : ids)
      if (llvm::any_of(op->getOperands(),
                       [&](Value index) { return dependsOn(index, id); }))
        found.insert(id);
  for (Value operand : op->getOperands())
    collectTableIds(operand, ids, found);
}

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

static OperandRange getIndices(Operation *access) {
  return llvm::TypeSwitch<Operation *, OperandRange>(access)
      .Case<LoadOp, GatherOp, StoreOp, TableOp>(
          [](auto op) { return op.getIndices(); })
      .Default([](Operation *op) { return op->getOperands().take_front(0); });
}

static Value getView(Operation *access) {
  return llvm::TypeSwitch<Operation *, Value>(access)
      .Case<LoadOp, GatherOp, StoreOp, TableOp>(
          [](auto op) -> Value { return op.getView(); })
      .Default([](Operation *) { return Value(); });
}

/// Iterations of a loop with bounds from tables until it has gone over one of
/// so many equal parts of the views that it indexes.
static double
coverViews(scf::ForOp loop, double parts, CellScalars &scalars,
           const llvm::DenseMap<Value, SmallVector<int64_t>> &extents) {
  Value counter = loop.getInductionVar();
  int64_t step = scalars.get(loop.getStep()).value;
  double most = 0, mostTables = 0;
  loop.getBody()->walk([&](Operation *op) {
    Value view = getView(op);
    if (!view)
      return;
    for (auto [dim, index] : llvm::enumerate(getIndices(op))) {
      if (!dependsOn(index, counter))
        continue;
      scalars.set(counter, 0);
      int64_t first = scalars.get(index).value;
      scalars.set(counter, step);
      int64_t stride = std::abs(scalars.get(index).value - first);
      scalars.forget(counter);
      if (stride == 0)
        continue;
      double part = double(extents.at(view)[dim]) / parts;
      double count = std::ceil(part / double(stride));
      double &best = isa<TableOp>(op) ? mostTables : most;
      best = std::max(best, count);
    }
  });
  return most > 0 ? most : mostTables;
}

/// A number that `value` does not exceed. Where `from` is given, only those
/// bounds count that are so much more than `from`.
static std::optional<int64_t> getLargest(Value value, Value from,
                                         const CellScalars &scalars) {
  if (Number number = scalars.get(value);
      number.known && (!from || dependsOn(value, from)))
    return number.value;
  if (auto select = value.getDefiningOp<arith::SelectOp>()) {
    auto one = getLargest(select.getTrueValue(), from, scalars),
         other = getLargest(select.getFalseValue(), from, scalars);
    return one && other ? std::optional(std::max(*one, *other)) : std::nullopt;
  }
  std::optional<int64_t> least;
  auto take = [&](std::optional<int64_t> bound) {
    if (bound)
      least = least ? std::min(*least, *bound) : bound;
  };
  if (auto min = value.getDefiningOp<arith::MinSIOp>())
    for (Value operand : min->getOperands())
      take(getLargest(operand, from, scalars));
  auto min = value.getDefiningOp<affine::AffineMinOp>();
  if (!min || (from && !dependsOn(value, from)))
    return least;
  for (AffineExpr part : min.getMap().getResults()) {
    AffineMap map = AffineMap::get(min.getMap().getNumDims(),
                                   min.getMap().getNumSymbols(), part);
    if (Number number = scalars.apply(map, min->getOperands()); number.known)
      take(number.value);
  }
  return least;
}

namespace {
/// The iterations of the loops of one cell.
class LoopCounter {
public:
  LoopCounter(CellScalars &scalars, ArrayRef<BlockArgument> ids,
              ArrayRef<int64_t> grid,
              const llvm::DenseMap<Value, SmallVector<int64_t>> &extents,
              llvm::DenseMap<Operation *, double> &sums)
      : scalars(scalars), ids(ids), grid(grid), extents(extents), sums(sums) {}

  /// Of the cells, those that have rows at all.
  double share = 1;

  void count(Block &block) {
    for (auto loop : block.getOps<scf::ForOp>()) {
      double trips = getTrips(loop);
      sums[loop] += trips;
      // Inner loops are seen from the iteration in the middle.
      Number from = scalars.get(loop.getLowerBound());
      int64_t step = scalars.get(loop.getStep()).value;
      scalars.set(loop.getInductionVar(),
                  from.value + int64_t(trips / 2) * step);
      count(*loop.getBody());
      scalars.forget(loop.getInductionVar());
    }
  }

private:
  /// A bound min(.., from + span) is known where its parts are not.
  std::optional<int64_t> getLargestSpan(scf::ForOp loop) {
    Value from = loop.getLowerBound();
    Number start = scalars.get(from);
    CellScalars started = scalars;
    started.set(from, start.value);
    std::optional<int64_t> to =
        getLargest(loop.getUpperBound(), start.known ? Value() : from, started);
    return to ? std::optional(*to - start.value) : std::nullopt;
  }

  double getTrips(scf::ForOp loop) {
    Number from = scalars.get(loop.getLowerBound());
    Number to = scalars.get(loop.getUpperBound());
    Number step = scalars.get(loop.getStep());
    if (from.known && to.known && step.known)
      return double(std::max<int64_t>(
          llvm::divideCeilSigned(to.value - from.value,
                                 std::max<int64_t>(step.value, 1)),
          0));
    // Entries of one table cut the rows into parts.
    llvm::SmallDenseSet<Value> sharing;
    if (!from.known)
      collectTableIds(loop.getLowerBound(), ids, sharing);
    double parts = 1;
    for (auto [id, size] : llvm::zip(ids, grid))
      if (sharing.contains(id))
        parts *= double(size);
    double trips = coverViews(loop, parts, scalars, extents);
    if (auto span = getLargestSpan(loop)) {
      double most = std::ceil(double(*span) / double(step.value));
      if (trips > 0 && !sharing.empty() && isa<KernelOp>(loop->getParentOp()))
        noteShare(loop, std::ceil(trips / most), sharing);
      trips = std::min(trips, most);
    }
    return trips;
  }

  /// `needed` cells of those that divide a part have rows.
  void noteShare(scf::ForOp loop, double needed,
                 const llvm::SmallDenseSet<Value> &sharing) {
    double all = 1;
    for (auto [id, size] : llvm::zip(ids, grid))
      if (!sharing.contains(id) && dependsOn(loop.getLowerBound(), id))
        all *= double(size);
    share = std::min(1.0, needed / all);
  }

  CellScalars &scalars;
  ArrayRef<BlockArgument> ids;
  ArrayRef<int64_t> grid;
  const llvm::DenseMap<Value, SmallVector<int64_t>> &extents;
  llvm::DenseMap<Operation *, double> &sums;
};
} // namespace

/// So many coordinates of a dimension are looked at, evenly spaced.
static constexpr int64_t samplesPerDim = 8;

void KernelWork::countIterations() {
  auto ids = kernel.getGridIds();
  CellScalars cell(extents, scalars);
  int64_t samples = 0;
  double share = 1;
  std::function<void(unsigned)> visit = [&](unsigned dim) {
    if (dim == grid.size()) {
      LoopCounter counter(cell, ids, grid, extents, iterations);
      counter.count(kernel.getBody().front());
      share = counter.share;
      ++samples;
      return;
    }
    int64_t count = std::min(grid[dim], samplesPerDim);
    for (int64_t i = 0; i < count; ++i) {
      cell.set(ids[dim], (2 * i + 1) * grid[dim] / (2 * count));
      visit(dim + 1);
    }
  };
  visit(0);
  for (auto &entry : iterations)
    entry.second /= double(samples);
  activeCells = std::ceil(share * double(getCells()));
}

double KernelWork::getRuns(Operation *op) const {
  double runs = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (auto it = iterations.find(loop); it != iterations.end())
      runs *= it->second;
  return runs;
}

int64_t KernelWork::getCells() const {
  int64_t cells = 1;
  for (int64_t size : grid)
    cells *= size;
  return cells;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// The tile that an access moves, and the dimensions that it runs along.
static std::pair<Value, ArrayRef<int64_t>> getTile(Operation *access) {
  return llvm::TypeSwitch<Operation *, std::pair<Value, ArrayRef<int64_t>>>(
             access)
      .Case<LoadOp, GatherOp>([](auto op) {
        return std::pair<Value, ArrayRef<int64_t>>(op.getResult(),
                                                   op.getDims());
      })
      .Case([](StoreOp op) {
        return std::pair<Value, ArrayRef<int64_t>>(op.getTile(), op.getDims());
      });
}

int64_t KernelWork::getBytes(Operation *access) const {
  auto [tile, dims] = getTile(access);
  auto view = cast<ViewType>(getView(access).getType());
  int64_t bytes =
      llvm::divideCeil(view.getElementType().getIntOrFloatBitWidth(), 8);
  bool byIds = isa<GatherOp>(access) ||
               (isa<StoreOp>(access) && cast<StoreOp>(access).getIds());
  for (auto [number, size] : llvm::enumerate(getTileExtents(tile)))
    bytes *= byIds && number == 0
                 ? size
                 : std::min(size, extents.at(getView(access))[dims[number]]);
  return bytes;
}

int64_t KernelWork::getRows(Value tile) const {
  ArrayRef<int64_t> shape = getTileExtents(tile);
  if (shape.size() < 2)
    return 1;
  int64_t rows = shape[0];
  auto atMost = [&](Value other) {
    if (getTileExtents(other) == shape)
      rows = std::min(rows, getRows(other));
  };
  if (Operation *op = tile.getDefiningOp())
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](LoadOp load) {
          rows = std::min(rows, extents.at(load.getView())[load.getDims()[0]]);
        })
        .Case([&](MmaOp mma) {
          if (!mma.getTransposeA())
            rows = std::min(rows, getRows(mma.getA()));
        })
        .Case([&](MapOp map) { llvm::for_each(map.getOperands_(), atMost); })
        .Case([&](ReadOp read) { atMost(read->getOperand(0)); })
        .Case([&](PutOp put) { atMost(put->getOperand(0)); })
        .Case([&](scf::ForOp loop) {
          atMost(
              loop.getYieldedValues()[cast<OpResult>(tile).getResultNumber()]);
        });
  return rows;
}

void KernelWork::countWork() {
  llvm::MapVector<Value, double> read, written;
  kernel.walk([&](Operation *op) {
    double runs = activeCells * getRuns(op);
    if (auto mma = dyn_cast<MmaOp>(op)) {
      ArrayRef<int64_t> result = getTileExtents(mma.getResult());
      flops += runs * 2.0 * double(result[0]) * double(result[1]) *
               double(getProductDepth(mma));
    }
    if (!isa<LoadOp, GatherOp, StoreOp>(op))
      return;
    double bytes = runs * double(getBytes(op));
    if (auto at = op->getAttrOfType<AtAttr>("at"); at && at.isMulticast())
      if (DenseI64ArrayAttr cluster = kernel.getClusterAttr())
        bytes /= double(cluster[1]);
    movedBytes += bytes;
    (isa<StoreOp>(op) ? written : read)[getView(op)] += bytes;
  });
  for (auto *views : {&read, &written})
    for (auto &[view, bytes] : *views) {
      Type element = cast<ViewType>(view.getType()).getElementType();
      double size = element.getIntOrFloatBitWidth() / 8.0;
      for (int64_t extent : extents.at(view))
        size *= double(extent);
      distinctBytes += std::min(bytes, size);
      if (views == &read && bytes >= 2 * size)
        reread.insert(view);
    }
}

LogicalResult KernelWork::setExtents(ArrayRef<int64_t> symbols) {
  if (symbols.size() != kernel.getGrid().getNumSymbols())
    return kernel.emitError("expected ")
           << kernel.getGrid().getNumSymbols() << " extents, but got "
           << symbols.size();
  size_t next = 0;
  for (Value param : kernel.getParams())
    if (auto view = dyn_cast<ViewType>(param.getType()))
      for (int64_t size : view.getShape())
        extents[param].push_back(ShapedType::isDynamic(size) ? symbols[next++]
                                                             : size);
  for (Value param : kernel.getParams())
    if (param.getType().isIndex())
      scalars[param] = symbols[next++];
  SmallVector<Attribute> constants, sizes;
  Builder builder(kernel.getContext());
  for (int64_t symbol : symbols)
    constants.push_back(builder.getIndexAttr(symbol));
  if (failed(kernel.getGrid().constantFold(constants, sizes)))
    return kernel.emitError("expected extents that the grid is defined for");
  for (Attribute size : sizes)
    grid.push_back(std::max<int64_t>(cast<IntegerAttr>(size).getInt(), 0));
  return success();
}

FailureOr<KernelWork> KernelWork::measure(KernelOp kernel,
                                          ArrayRef<int64_t> extents) {
  KernelWork work(kernel);
  if (failed(work.setExtents(extents)))
    return failure();
  if (work.getCells() == 0)
    return work;
  work.countIterations();
  work.countWork();
  return work;
}
