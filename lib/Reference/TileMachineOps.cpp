//===- TileMachineOps.cpp - Ops on tiles as an agent runs them ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of a split role have their full size; what other instances have is
// poison.
//
//===----------------------------------------------------------------------===//

#include "TileMachineState.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx::tile;
using namespace mmx::tile::machine;

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

Registers &Agent::getRegisters(const ScheduledOp &op, int64_t own) {
  std::vector<Registers> &sets = registers[op.op];
  if (sets.empty()) {
    Registers set;
    for (Value result : op.op->getResults()) {
      set.values.emplace_back(result.getType());
      poison(set.values.back());
    }
    sets.assign(std::max<int64_t>(context.programs.getCopies(op.op), 1), set);
  }
  return sets[own % sets.size()];
}

/// Follows iter_args and loop results to the op that wrote the value.
std::pair<Registers *, unsigned> Agent::lookUp(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
    unsigned number = argument.getArgNumber() - 1;
    int64_t own = scalars.iterations[loop].own;
    if (own == 0)
      return lookUp(loop.getInitArgs()[number]);
    return lookUpAt(loop.getYieldedValues()[number], own - 1);
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    int64_t last = scalars.iterations[loop].own;
    if (last < 0)
      return lookUp(loop.getInitArgs()[number]);
    return lookUpAt(loop.getYieldedValues()[number], last);
  }
  const ScheduledOp &scheduled = info.ops.find(op)->second;
  return {&getRegisters(scheduled, scalars.iterations[scheduled.loop].own),
          number};
}

std::pair<Registers *, unsigned> Agent::lookUpAt(Value value, int64_t own) {
  const ScheduledOp &op = info.ops.find(value.getDefiningOp())->second;
  return {&getRegisters(op, own), cast<OpResult>(value).getResultNumber()};
}

const TileValue *Agent::getFragment(Value value) {
  auto [set, number] = lookUp(value);
  if (set->product && !*set->product)
    machine.fail("accumulator read before its wait");
  if (set->load)
    std::exchange(set->load, nullptr)();
  return &set->values[number];
}

bool Agent::isForeign(Value value, int64_t element) const {
  auto it = context.splits.find(value);
  if (it == context.splits.end() || it->second < 0)
    return false;
  auto frag = cast<FragType>(value.getType());
  ArrayRef<int64_t> shape = frag.getShape();
  int64_t extent = shape[shape.size() == 1 ? 0 : it->second];
  int64_t position = shape.size() == 1 ? element
                     : it->second == 0 ? element / shape[1]
                                       : element % shape[1];
  return position / (extent / info.roles[role].getInstances()) != instance;
}

void Agent::maskForeign(Value value, TileValue &tile) const {
  for (int64_t i = 0, e = tile.getNumElements(); i < e; ++i)
    if (isForeign(value, i))
      tile.cells[i] = getPoison(tile.kind);
}

void Agent::setResults(const ScheduledOp &op, ArrayRef<TileValue> values) {
  Registers &set = getRegisters(op, scalars.iterations[op.loop].own);
  set.values.assign(values.begin(), values.end());
  for (auto [value, result] : llvm::zip(set.values, op.op->getResults()))
    maskForeign(result, value);
  set.product = nullptr;
  set.load = nullptr;
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// Where the tile of a load, gather or store stands in its array.
std::optional<Footprint> Agent::getFootprint(Operation *op) {
  TileAddress address;
  Value view, rows, ids, start;
  ArrayRef<int64_t> dims;
  Type tile;
  auto fill = [&](auto access) {
    view = access.getView();
    rows = access.getRows();
    dims = access.getDims();
    for (Value index : access.getIndices())
      address.indices.push_back(scalars.getInt(index));
  };
  if (auto load = dyn_cast<LoadOp>(op)) {
    fill(load);
    tile = load.getResult().getType();
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    fill(gather);
    tile = gather.getResult().getType();
    ids = gather.getIds();
    start = gather.getStart();
  } else {
    auto store = cast<StoreOp>(op);
    fill(store);
    tile = store.getTile().getType();
    ids = store.getIds();
    start = store.getStart();
  }
  if (rows)
    address.rows = scalars.getInt(rows);
  if (ids) {
    address.ids = machine.arguments.lookup(ids).array;
    address.start = scalars.getInt(start);
  }
  FailureOr<Footprint> footprint =
      TileEvaluator::computeFootprint(op, *machine.arguments.lookup(view).array,
                                      dims, TileValue(tile).shape, address);
  if (succeeded(footprint))
    return std::move(*footprint);
  machine.fail("an access that is not defined");
  return std::nullopt;
}

static TileValue loadTile(Operation *op, const HostArray &array,
                          const Footprint &footprint) {
  double fill = isa<LoadOp>(op)
                    ? cast<LoadOp>(op).getFill().convertToDouble()
                    : cast<GatherOp>(op).getFill().convertToDouble();
  return TileEvaluator::load(array, footprint, op->getResult(0).getType(),
                             fill);
}

TileValue Agent::loadGlobal(Operation *op) {
  std::optional<Footprint> footprint = getFootprint(op);
  if (!footprint)
    return TileValue(op->getResult(0).getType());
  return loadTile(op, *machine.arguments.lookup(op->getOperand(0)).array,
                  *footprint);
}

/// An asynchronous copy: reads global memory when it is issued or when it
/// lands, and counts its bytes on the full barrier. With multicast every cell
/// loads a slice of the rows for all.
void Agent::runLoad(const ScheduledOp &op) {
  std::optional<Footprint> footprint = getFootprint(op.op);
  if (!footprint)
    return;
  const HostArray *array = machine.arguments.lookup(op.op->getOperand(0)).array;
  Operation *load = op.op;
  std::shared_ptr<const TileValue> early;
  if (machine.drawBit())
    early = std::make_shared<TileValue>(loadTile(load, *array, *footprint));
  int64_t field = load->getAttrOfType<AtAttr>("at").getField();
  int64_t number = getPush(op.ring) % info.rings[op.ring].getDepth();
  int64_t cells = op.multicast ? machine.numCells : 1;
  int64_t slice = footprint->size() / cells;
  int64_t begin = op.multicast ? cell * slice : 0;
  int64_t bytes = getTileBytes(load->getResult(0).getType()) / cells;
  for (int64_t c = 0; c < cells; ++c) {
    Slot *slot = &machine.getSlot(op.multicast ? c : cell, op.ring, 0, number);
    machine.addEvent([=, footprint = *footprint] {
      const TileValue &value =
          early ? *early : loadTile(load, *array, footprint);
      SlotField &target = slot->fields[field];
      for (int64_t i = begin; i < begin + slice; ++i)
        target.generic.cells[i] = target.async.cells[i] = value.cells[i];
      slot->full.complete(bytes);
    });
  }
}

void Agent::runStore(StoreOp store) {
  std::optional<Footprint> footprint = getFootprint(store);
  if (!footprint)
    return;
  for (int64_t i = 0, e = footprint->size(); i < e; ++i)
    if (isForeign(store.getTile(), i))
      (*footprint)[i] = -1;
  TileEvaluator::store(*machine.arguments.lookup(store.getView()).array,
                       *footprint, *getFragment(store.getTile()));
}

/// Reads the slot some time after the op.
void Agent::runStoreSlot(const ScheduledOp &op) {
  auto store = cast<StoreOp>(op.op);
  std::optional<Footprint> footprint = getFootprint(store);
  if (!footprint)
    return;
  // The threads of an instance have written its own part.
  Value put = store.getTile().getDefiningOp()->getOperand(0);
  for (int64_t i = 0, e = footprint->size(); i < e; ++i)
    if (isa<FragType>(put.getType()) && isForeign(put, i))
      (*footprint)[i] = -1;
  Operation *push = store.getTile().getDefiningOp();
  SlotField *field = &getSlot(info.getRing(store.getTile()))
                          .fields[push->getAttrOfType<AtAttr>("at").getField()];
  HostArray *array = machine.arguments.lookup(store.getView()).array;
  auto done = std::make_shared<bool>(false);
  stores.push_back(done);
  machine.addEvent([=, footprint = *footprint] {
    TileEvaluator::store(*array, footprint, field->async);
    *done = true;
  });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Threads write a slot: asynchronous readers see it after the fence.
void Agent::runFill(const ScheduledOp &op, TileValue value) {
  SlotField &field =
      getSlot(op.ring).fields[op.op->getAttrOfType<AtAttr>("at").getField()];
  Unfenced write{&field, {}};
  Value source = op.op->getOperand(0);
  for (int64_t i = 0, e = value.getNumElements(); i < e; ++i) {
    if (op.kind == OpClass::Put && isForeign(source, i))
      continue;
    field.generic.cells[i] = value.cells[i];
    field.async.cells[i] = getPoison(value.kind);
    write.elements.push_back(i);
  }
  unfenced.push_back(std::move(write));
}

/// The elements arrive when something consumes them.
void Agent::runRead(const ScheduledOp &op) {
  auto read = cast<ReadOp>(op.op);
  Operation *push = read.getTile().getDefiningOp();
  const SlotField *field =
      &getSlot(info.getRing(read.getTile()))
           .fields[push->getAttrOfType<AtAttr>("at").getField()];
  Registers &set = getRegisters(op, scalars.iterations[op.loop].own);
  set.product = nullptr;
  set.load = [this, &set, field, read]() mutable {
    set.values[0] =
        TileEvaluator::evaluateCopy(field->generic, read.getResult().getType());
    maskForeign(read.getResult(), set.values[0]);
  };
}

/// A product reads slots and registers in place, when it retires.
void Agent::runMma(const ScheduledOp &op) {
  auto mma = cast<MmaOp>(op.op);
  using Source = std::function<const TileValue *()>;
  auto getSource = [&](Value value) -> Source {
    if (isa<SramType>(value.getType())) {
      Operation *push = value.getDefiningOp();
      const SlotField *field =
          &getSlot(info.getRing(value))
               .fields[push->getAttrOfType<AtAttr>("at").getField()];
      return [field] { return &field->async; };
    }
    // An operand fragment must be there when the product is issued.
    if (value != mma.getAcc())
      getFragment(value);
    auto [set, number] = lookUp(value);
    return [set, number] { return &set->values[number]; };
  };
  Source a = getSource(mma.getA()), b = getSource(mma.getB()), acc;
  if (mma.getAcc())
    acc = getSource(mma.getAcc());
  auto done = std::make_shared<bool>(false);
  Registers *set = &getRegisters(op, scalars.iterations[op.loop].own);
  set->product = done;
  set->load = nullptr;
  products.push_back({[=, this]() mutable {
                        TileValue value = TileEvaluator::evaluateMma(
                            mma, *a(), *b(), acc ? acc() : nullptr);
                        maskForeign(mma.getResult(), value);
                        set->values[0] = std::move(value);
                        *done = true;
                      },
                      machine.drawSpeed()});
}

void Agent::runMap(const ScheduledOp &op) {
  auto map = cast<MapOp>(op.op);
  SmallVector<const TileValue *> operands;
  for (Value operand : map.getOperands_())
    operands.push_back(getFragment(operand));
  bool when = !map.getWhen() || scalars.getInt(map.getWhen());
  FailureOr<SmallVector<TileValue, 1>> results = context.evaluator.evaluateMap(
      map, operands, [&](Value value) { return scalars.evaluate(value); },
      when);
  if (failed(results))
    return machine.fail("a map that cannot be evaluated");
  setResults(op, *results);
}

void Agent::runOp(const ScheduledOp &op) {
  switch (op.kind) {
  case OpClass::Load:
    return runLoad(op);
  case OpClass::Gather:
    return runFill(op, loadGlobal(op.op));
  case OpClass::Put: {
    auto put = cast<PutOp>(op.op);
    return runFill(op, TileEvaluator::evaluateCopy(*getFragment(put.getTile()),
                                                   put.getResult().getType()));
  }
  case OpClass::LoadFragment:
    return setResults(op, {loadGlobal(op.op)});
  case OpClass::Read:
    return runRead(op);
  case OpClass::Mma:
    return runMma(op);
  case OpClass::Store:
    return runStore(cast<StoreOp>(op.op));
  case OpClass::StoreSlot:
    return runStoreSlot(op);
  case OpClass::Fragment:
    if (isa<MapOp>(op.op))
      return runMap(op);
    if (auto reduce = dyn_cast<ReduceOp>(op.op))
      return setResults(op, TileEvaluator::evaluateReduce(
                                reduce, *getFragment(reduce.getTile())));
    return setResults(
        op, {TileEvaluator::evaluateScan(cast<ScanOp>(op.op),
                                         *getFragment(op.op->getOperand(0)))});
  }
}
