//===- TileInterpreter.cpp - Runs tile kernels sequentially ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/TileInterpreter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mmx/Reference/TileAccessChecker.h"
#include "mmx/Reference/TileEvaluator.h"
#include "llvm/ADT/TypeSwitch.h"
#include <memory>
#include <numeric>
#include <random>

using namespace mlir;
using namespace mmx::tile;

namespace {
/// A value of the program: one of the three.
struct RuntimeValue {
  Cell scalar = {.i = 0};
  std::shared_ptr<const TileValue> tile;
  HostArray *array = nullptr;
};

/// Runs the cells of one kernel.
class KernelMachine {
public:
  KernelMachine(KernelOp kernel, ArrayRef<KernelArgument> arguments);
  LogicalResult runCell(int64_t cell, ArrayRef<int64_t> ids);

private:
  LogicalResult runBlock(Block &block);
  LogicalResult runOp(Operation *op);
  LogicalResult runFor(scf::ForOp op);
  LogicalResult runIf(scf::IfOp op);
  LogicalResult runScalar(Operation *op);
  LogicalResult runTable(TableOp op);
  LogicalResult runMap(MapOp op);
  template <typename OpTy> LogicalResult runLoad(OpTy op);
  LogicalResult runStore(StoreOp op);

  int64_t getInt(Value value) { return values[value].scalar.i; }
  const TileValue &getTile(Value value) { return *values[value].tile; }
  void setTile(Value value, TileValue tile) {
    values[value].tile = std::make_shared<const TileValue>(std::move(tile));
  }
  TileAddress getAddress(ValueRange indices, Value rows, Value ids,
                         Value start);
  /// The footprint of an access, checked against earlier ones.
  FailureOr<Footprint> getFootprint(Operation *op, Value view,
                                    ArrayRef<int64_t> dims,
                                    ArrayRef<int64_t> shape,
                                    const TileAddress &address);

  KernelOp kernel;
  llvm::DenseMap<Value, RuntimeValue> values;
  llvm::DenseMap<Operation *, ScalarInstruction> decoded;
  TileEvaluator evaluator;
  TileAccessChecker checker;
  TileAccessChecker::Context context;
};
} // namespace

KernelMachine::KernelMachine(KernelOp kernel,
                             ArrayRef<KernelArgument> arguments)
    : kernel(kernel) {
  for (auto [parameter, argument] :
       llvm::zip_equal(kernel.getParams(), arguments)) {
    values[parameter].array = argument.array;
    values[parameter].scalar = argument.scalar;
  }
}

LogicalResult KernelMachine::runCell(int64_t cell, ArrayRef<int64_t> ids) {
  context.cell = cell;
  for (auto [id, value] : llvm::zip_equal(kernel.getGridIds(), ids))
    values[id].scalar.i = value;
  return runBlock(kernel.getBody().front());
}

//===----------------------------------------------------------------------===//
// Control and scalars
//===----------------------------------------------------------------------===//

LogicalResult KernelMachine::runBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(runOp(&op)))
      return failure();
  return success();
}

LogicalResult KernelMachine::runOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return runFor(loop); })
      .Case([&](scf::IfOp branch) { return runIf(branch); })
      .Case([&](DimOp dim) {
        values[dim.getResult()].scalar.i =
            values[dim.getView()].array->getShape()[dim.getDim()];
        return success();
      })
      .Case([&](TableOp table) { return runTable(table); })
      .Case<LoadOp, GatherOp>([&](auto load) { return runLoad(load); })
      .Case([&](StoreOp store) { return runStore(store); })
      .Case<ReadOp, PutOp>([&](auto copy) {
        setTile(copy.getResult(),
                TileEvaluator::evaluateCopy(getTile(copy.getTile()),
                                            copy.getResult().getType()));
        return success();
      })
      .Case([&](MmaOp mma) {
        const TileValue *accumulator =
            mma.getAcc() ? &getTile(mma.getAcc()) : nullptr;
        setTile(mma.getResult(),
                TileEvaluator::evaluateMma(mma, getTile(mma.getA()),
                                           getTile(mma.getB()), accumulator));
        return success();
      })
      .Case([&](MapOp map) { return runMap(map); })
      .Case([&](ReduceOp reduce) {
        for (auto [result, tile] : llvm::zip_equal(
                 reduce->getResults(), TileEvaluator::evaluateReduce(
                                           reduce, getTile(reduce.getTile()))))
          setTile(result, std::move(tile));
        return success();
      })
      .Case([&](ScanOp scan) {
        setTile(scan.getResult(),
                TileEvaluator::evaluateScan(scan, getTile(scan.getTile())));
        return success();
      })
      .Default([&](Operation *scalar) { return runScalar(scalar); });
}

LogicalResult KernelMachine::runFor(scf::ForOp op) {
  int64_t lower = getInt(op.getLowerBound()),
          upper = getInt(op.getUpperBound());
  int64_t step = getInt(op.getStep());
  if (step <= 0)
    return op.emitError("expected a positive step, but got ") << step;
  SmallVector<RuntimeValue> carried;
  for (Value value : op.getInitArgs())
    carried.push_back(values[value]);
  context.loops.emplace_back(op, 0);
  for (int64_t iv = lower; iv < upper; iv += step) {
    context.loops.back().second = iv;
    values[op.getInductionVar()].scalar.i = iv;
    for (auto [argument, value] :
         llvm::zip_equal(op.getRegionIterArgs(), carried))
      values[argument] = value;
    if (failed(runBlock(*op.getBody())))
      return failure();
    for (auto [value, yielded] :
         llvm::zip_equal(carried, op.getYieldedValues()))
      value = values[yielded];
  }
  context.loops.pop_back();
  for (auto [result, value] : llvm::zip_equal(op.getResults(), carried))
    values[result] = value;
  return success();
}

LogicalResult KernelMachine::runIf(scf::IfOp op) {
  Region &region =
      getInt(op.getCondition()) ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return success();
  if (failed(runBlock(region.front())))
    return failure();
  for (auto [result, value] : llvm::zip_equal(
           op.getResults(), region.front().getTerminator()->getOperands())) {
    RuntimeValue copy = values[value];
    values[result] = std::move(copy);
  }
  return success();
}

LogicalResult KernelMachine::runScalar(Operation *op) {
  auto found = decoded.find(op);
  if (found == decoded.end()) {
    FailureOr<ScalarInstruction> instruction = decodeScalarOp(op);
    if (failed(instruction))
      return failure();
    found = decoded.try_emplace(op, std::move(*instruction)).first;
  }
  SmallVector<Cell, 4> cells;
  for (Value operand : op->getOperands())
    cells.push_back(values[operand].scalar);
  SmallVector<const Cell *, 4> operands;
  for (const Cell &cell : cells)
    operands.push_back(&cell);
  Cell result = {.i = 0};
  if (failed(evaluateScalar(found->second, 1, operands, &result)))
    return failure();
  values[op->getResult(0)].scalar = result;
  return success();
}

LogicalResult KernelMachine::runTable(TableOp op) {
  const HostArray &array = *values[op.getView()].array;
  SmallVector<int64_t> indices;
  for (Value index : op.getIndices())
    indices.push_back(getInt(index));
  int64_t offset = array.getOffset(indices);
  if (offset < 0) {
    InFlightDiagnostic error = op.emitError("index [");
    llvm::interleaveComma(indices, error);
    error << "] out of range of [";
    llvm::interleaveComma(array.getShape(), error);
    return error << "]";
  }
  if (failed(checker.access(op, array, {offset}, /*isStore=*/false,
                            /*inplace=*/false, context)))
    return failure();
  values[op.getResult()].scalar = array.load(offset);
  return success();
}

LogicalResult KernelMachine::runMap(MapOp op) {
  SmallVector<const TileValue *> operands;
  for (Value operand : op.getOperands_())
    operands.push_back(&getTile(operand));
  bool when = !op.getWhen() || getInt(op.getWhen());
  FailureOr<SmallVector<TileValue, 1>> results = evaluator.evaluateMap(
      op, operands, [&](Value value) { return values[value].scalar; }, when);
  if (failed(results))
    return failure();
  for (auto [value, tile] : llvm::zip_equal(op->getResults(), *results))
    setTile(value, std::move(tile));
  return success();
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

TileAddress KernelMachine::getAddress(ValueRange indices, Value rows, Value ids,
                                      Value start) {
  TileAddress address;
  for (Value index : indices)
    address.indices.push_back(getInt(index));
  if (rows)
    address.rows = getInt(rows);
  if (ids) {
    address.ids = values[ids].array;
    address.start = getInt(start);
  }
  return address;
}

FailureOr<Footprint> KernelMachine::getFootprint(Operation *op, Value view,
                                                 ArrayRef<int64_t> dims,
                                                 ArrayRef<int64_t> shape,
                                                 const TileAddress &address) {
  const HostArray &array = *values[view].array;
  FailureOr<Footprint> footprint =
      TileEvaluator::computeFootprint(op, array, dims, shape, address);
  bool inplace =
      cast<ViewType>(view.getType()).getMode() == AccessMode::Inplace;
  if (failed(footprint) ||
      failed(checker.access(op, array, *footprint, isa<StoreOp>(op), inplace,
                            context)))
    return failure();
  return footprint;
}

template <typename OpTy> LogicalResult KernelMachine::runLoad(OpTy op) {
  Value ids, start;
  if constexpr (std::is_same_v<OpTy, GatherOp>) {
    ids = op.getIds();
    start = op.getStart();
  }
  TileValue shape(op.getResult().getType());
  FailureOr<Footprint> footprint =
      getFootprint(op, op.getView(), op.getDims(), shape.shape,
                   getAddress(op.getIndices(), op.getRows(), ids, start));
  if (failed(footprint))
    return failure();
  setTile(op.getResult(),
          TileEvaluator::load(*values[op.getView()].array, *footprint,
                              op.getResult().getType(),
                              op.getFill().convertToDouble()));
  return success();
}

LogicalResult KernelMachine::runStore(StoreOp op) {
  const TileValue &tile = getTile(op.getTile());
  FailureOr<Footprint> footprint = getFootprint(
      op, op.getView(), op.getDims(), tile.shape,
      getAddress(op.getIndices(), op.getRows(), op.getIds(), op.getStart()));
  if (failed(footprint))
    return failure();
  TileEvaluator::store(*values[op.getView()].array, *footprint, tile);
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>>
mmx::tile::getKernelExtents(KernelOp kernel,
                            ArrayRef<KernelArgument> arguments) {
  ArrayRef<BlockArgument> params = kernel.getParams();
  if (params.size() != arguments.size())
    return kernel.emitError("expected ")
           << params.size() << " arguments, but got " << arguments.size();
  SmallVector<int64_t> extents, scalars;
  for (auto [index, parameter] : llvm::enumerate(params)) {
    const KernelArgument &argument = arguments[index];
    auto view = dyn_cast<ViewType>(parameter.getType());
    if (!view) {
      if (parameter.getType().isIndex())
        scalars.push_back(argument.scalar.i);
      continue;
    }
    const HostArray *array = argument.array;
    bool fits = array && array->getShape().size() == view.getShape().size() &&
                array->getKind() == getElementKind(view.getElementType()) &&
                array->getPanel() == view.getPanel() &&
                array->getAlong() == view.getAlong();
    for (int64_t d = 0; fits && d < view.getRank(); ++d) {
      if (view.isDynamicDim(d))
        extents.push_back(array->getShape()[d]);
      else
        fits = array->getShape()[d] == view.getShape()[d];
    }
    if (!fits)
      return kernel.emitError("argument ")
             << index << " does not fit " << parameter.getType();
  }
  extents.append(scalars);
  return extents;
}

FailureOr<SmallVector<int64_t, 3>>
mmx::tile::getGridSizes(KernelOp kernel, ArrayRef<int64_t> extents) {
  if (kernel.getGrid().getNumSymbols() != extents.size())
    return kernel.emitError("expected a grid map of ")
           << extents.size() << " symbols, but got "
           << kernel.getGrid().getNumSymbols();
  SmallVector<int64_t, 3> sizes;
  for (AffineExpr expr : kernel.getGrid().getResults()) {
    std::optional<int64_t> size = evaluateAffine(expr, {}, extents);
    if (!size || *size < 0)
      return kernel.emitError("expected grid sizes of at least 0");
    sizes.push_back(*size);
  }
  return sizes;
}

LogicalResult
mmx::tile::interpretKernel(KernelOp kernel, ArrayRef<KernelArgument> arguments,
                           const TileInterpreterOptions &options) {
  FailureOr<SmallVector<int64_t>> extents = getKernelExtents(kernel, arguments);
  if (failed(extents))
    return failure();
  FailureOr<SmallVector<int64_t, 3>> sizes = getGridSizes(kernel, *extents);
  if (failed(sizes))
    return failure();
  int64_t count = std::accumulate(sizes->begin(), sizes->end(), int64_t(1),
                                  std::multiplies<int64_t>());
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (options.orderSeed) {
    std::mt19937_64 random(*options.orderSeed);
    // Not std::shuffle: its draws are not fixed by the standard.
    for (int64_t i = count - 1; i > 0; --i)
      std::swap(order[i], order[random() % (i + 1)]);
  }
  KernelMachine machine(kernel, arguments);
  SmallVector<int64_t, 3> ids(sizes->size());
  for (int64_t cell : order) {
    int64_t rest = cell;
    for (int64_t d = ids.size() - 1; d >= 0; --d) {
      ids[d] = rest % (*sizes)[d];
      rest /= (*sizes)[d];
    }
    if (failed(machine.runCell(cell, ids)))
      return failure();
  }
  return success();
}
