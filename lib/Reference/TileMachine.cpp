//===- TileMachine.cpp - Runs the roles of a kernel -----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/TileMachine.h"

#include "TileMachineState.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mmx::tile;
using namespace mmx::tile::machine;

Cell mmx::tile::machine::getPoison(ElementKind kind) {
  if (isFloatKind(kind))
    return Cell{.f = std::numeric_limits<float>::quiet_NaN()};
  return Cell{.i = wrapInteger(-77, kind)};
}

void mmx::tile::machine::poison(TileValue &tile) {
  std::fill(tile.cells.begin(), tile.cells.end(), getPoison(tile.kind));
}

//===----------------------------------------------------------------------===//
// Machine
//===----------------------------------------------------------------------===//

Machine::Machine(TileMachine::Context &context,
                 ArrayRef<KernelArgument> arguments,
                 const TileMachineOptions &options, uint64_t seed)
    : context(context), options(options), random(seed) {
  for (auto [parameter, argument] :
       llvm::zip_equal(context.info.getKernel().getParams(), arguments))
    this->arguments[parameter] = argument;
}

double Machine::drawSpeed() {
  double unit = static_cast<double>(random() >> 11) * 0x1.0p-53;
  return std::pow(10.0, -3.0 * unit);
}

void Machine::makeSlots() {
  const ScheduleInfo &info = context.info;
  for (unsigned ring = 0; ring < info.rings.size(); ++ring) {
    const RingInfo &ringInfo = info.rings[ring];
    Slot slot;
    for (Operation *push : ringInfo.pushes) {
      SlotField &field = slot.fields.emplace_back();
      field.generic = TileValue(push->getResult(0).getType());
      poison(field.generic);
      field.async = field.generic;
    }
    slot.full.name = "full @" + ringInfo.getName().str();
    slot.full.count = slot.full.pending = info.getFullCount(ring);
    slot.empty.name = "empty @" + ringInfo.getName().str();
    slot.empty.count = info.getEmptyCount(ring);
    if (auto it = context.faults.emptyCount.find(ringInfo.getName());
        it != context.faults.emptyCount.end())
      slot.empty.count = it->second;
    slot.empty.pending = slot.empty.count;
    int64_t instances =
        ringInfo.local ? info.roles[ringInfo.producer].getInstances() : 1;
    for (int64_t cell = 0; cell < numCells; ++cell)
      for (int64_t instance = 0; instance < instances; ++instance)
        slots[{cell, ring, instance}].assign(ringInfo.getDepth(), slot);
  }
}

Slot &Machine::getSlot(int64_t cell, int ring, int64_t instance,
                       int64_t number) {
  return slots.find({cell, ring, instance})->second[number];
}

void Machine::run(ArrayRef<SmallVector<int64_t, 3>> cells) {
  numCells = cells.size();
  makeSlots();
  for (unsigned role = 0; role < context.info.roles.size(); ++role)
    for (int64_t cell = 0; cell < numCells; ++cell)
      for (int64_t i = 0; i < context.info.roles[role].getInstances(); ++i)
        agents.emplace_back(*this, role, i, cell, cells[cell], drawSpeed());
  for (int64_t step = 0; step < options.stepLimit && fault.empty(); ++step)
    if (!advance())
      break;
  if (!fault.empty())
    return;
  std::string waiting;
  for (const Agent &agent : agents)
    if (!agent.isDone())
      waiting += (waiting.empty() ? "" : ", ") + agent.getName() +
                 agent.describeWait();
  if (!waiting.empty())
    fail("deadlock: " + waiting);
}

bool Machine::advance() {
  double total = 0;
  auto visit = [&](auto &&take) {
    for (Agent &agent : agents) {
      if (!agent.isDone() && agent.isReady() && take(agent.speed)) {
        agent.step();
        return true;
      }
      if (!agent.products.empty() && take(agent.products.front().speed)) {
        auto action = std::move(agent.products.front().action);
        agent.products.pop_front();
        action();
        return true;
      }
    }
    for (size_t i = 0; i < events.size(); ++i)
      if (take(events[i].speed)) {
        auto action = std::move(events[i].action);
        events.erase(events.begin() + i);
        action();
        return true;
      }
    return false;
  };
  visit([&](double speed) {
    total += speed;
    return false;
  });
  if (total == 0)
    return false;
  double chosen = static_cast<double>(random() >> 11) * 0x1.0p-53 * total;
  double sum = 0;
  auto choose = [&](double speed) { return (sum += speed) > chosen; };
  return visit(choose);
}

//===----------------------------------------------------------------------===//
// TileMachine
//===----------------------------------------------------------------------===//

TileMachine::TileMachine(std::unique_ptr<Context> context)
    : context(std::move(context)) {}
TileMachine::TileMachine(TileMachine &&) = default;
TileMachine::~TileMachine() = default;

FailureOr<TileMachine> TileMachine::create(const ScheduleInfo &info,
                                           const RolePrograms &programs,
                                           const ScheduleFaults &faults) {
  FailureOr<llvm::DenseMap<Value, int64_t>> splits = computeSplits(info);
  if (failed(splits))
    return failure();
  return TileMachine(std::unique_ptr<Context>(
      new Context(info, programs, faults, std::move(*splits))));
}

std::string TileMachine::run(ArrayRef<KernelArgument> arguments,
                             const TileMachineOptions &options) {
  KernelOp kernel = context->info.getKernel();
  FailureOr<SmallVector<int64_t>> extents = getKernelExtents(kernel, arguments);
  if (failed(extents))
    return "arguments that do not fit";
  FailureOr<SmallVector<int64_t, 3>> sizes = getGridSizes(kernel, *extents);
  if (failed(sizes))
    return "a grid that cannot be computed";
  int64_t clusterSize = context->info.getClusterSize();
  int64_t clusterDim = kernel.getCluster() ? (*kernel.getCluster())[0] : 0;
  int64_t count = llvm::product_of(*sizes);
  uint64_t seed = options.seed;
  for (int64_t index = 0; index < count; ++index) {
    SmallVector<int64_t, 3> ids(sizes->size());
    int64_t rest = index;
    for (int64_t d = ids.size() - 1; d >= 0; --d) {
      ids[d] = rest % (*sizes)[d];
      rest /= (*sizes)[d];
    }
    if (clusterSize > 1 && ids[clusterDim] % clusterSize)
      continue;
    SmallVector<SmallVector<int64_t, 3>> cells(clusterSize, ids);
    for (int64_t c = 1; c < clusterSize; ++c)
      cells[c][clusterDim] += c;
    Machine machine(*context, arguments, options, seed);
    machine.run(cells);
    if (!machine.fault.empty())
      return machine.fault;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
  }
  return "";
}
