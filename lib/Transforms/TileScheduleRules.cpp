//===- TileScheduleRules.cpp - Which schedules are legal ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules that need no derived code: stages (R2), alternating instances (B7),
// turns, multicast and accesses to global memory (G1).
//
//===----------------------------------------------------------------------===//

#include "mmx/Transforms/TileRoleCode.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mmx::tile;

namespace {
class Rules {
public:
  explicit Rules(const ScheduleInfo &info) : info(info) {}

  LogicalResult verify() {
    for (Operation *loop : info.loops)
      for (unsigned role = 0; role < info.roles.size(); ++role)
        if (failed(verifyStages(loop, role)))
          return failure();
    for (unsigned ring = 0; ring < info.rings.size(); ++ring)
      if (failed(verifyAlternation(ring)) || failed(verifyMulticast(ring)) ||
          failed(verifyStoredSlots(ring)))
        return failure();
    return verifyViews();
  }

private:
  LogicalResult verifyStages(Operation *loop, unsigned role);
  LogicalResult verifyUse(Operation *loop, unsigned role, Operation *item,
                          Value value);
  LogicalResult verifyTurns(Operation *loop, unsigned role,
                            ArrayRef<Operation *> items);
  LogicalResult verifyAlternation(unsigned ring);
  LogicalResult verifyMulticast(unsigned ring);
  LogicalResult verifyIndependent(Operation *op, Value value, Value id);
  LogicalResult verifyStoredSlots(unsigned ring);

  /// An access to global memory; `op` may be a tile.table.
  struct Access {
    Operation *op;
    bool isStore;
  };
  LogicalResult verifyViews();
  LogicalResult verifyAccesses(const Access &first, const Access &second);

  const ScheduleInfo &info;
};
} // namespace

/// R2: (stage, order) of a definition is before that of its use, one stage
/// later through an iter_arg.
LogicalResult Rules::verifyUse(Operation *loop, unsigned role, Operation *item,
                               Value value) {
  std::optional<LoopDef> def = info.getDefinition(value, loop);
  if (!def)
    return success();
  auto it = info.ops.find(def->item);
  if (it != info.ops.end() && it->second.role != role)
    return success();
  auto defined =
      std::make_pair(info.getStage(def->item), info.getOrder(def->item));
  auto used =
      std::make_pair(info.getStage(item) + def->distance, info.getOrder(item));
  if (defined >= used)
    return item->emitOpError("at (stage ")
           << info.getStage(item) << ", order " << info.getOrder(item)
           << ") uses a value before " << info.describe(def->item)
           << ", distance " << def->distance << ", defines it";
  if (def->distance && info.roles[role].over == loop)
    return item->emitOpError("carries a value across the iterations of @")
           << info.getLoopName(loop) << " but role @"
           << info.roles[role].getName()
           << " alternates over it; pass it through a ring";
  return success();
}

LogicalResult Rules::verifyStages(Operation *loop, unsigned role) {
  bool nest = info.hasInnerLoop(loop);
  SmallVector<Operation *> items = info.getItems(loop, role);
  for (Operation *item : items) {
    if ((nest || loop == info.getKernel()) && info.getStage(item))
      return item->emitOpError("has a stage, expected that only in a loop "
                               "without an inner loop");
    for (Value value : info.getUsedTiles(item, role))
      if (failed(verifyUse(loop, role, item, value)))
        return failure();
  }
  return verifyTurns(loop, role, items);
}

/// Instances that alternate over a loop run different numbers of its steps; if
/// a turn spanned two stages, one could wait for a turn that the other never
/// takes.
LogicalResult Rules::verifyTurns(Operation *loop, unsigned role,
                                 ArrayRef<Operation *> items) {
  if (info.roles[role].over != loop)
    return success();
  llvm::DenseMap<StringAttr, int64_t> stages;
  for (Operation *item : items)
    if (StringAttr turn = info.getTurn(item, role)) {
      auto [it, isNew] = stages.try_emplace(turn, info.getStage(item));
      if (!isNew && it->second != info.getStage(item))
        return item->emitOpError("is in turn @")
               << turn.getValue() << " that covers two stages of loop @"
               << info.getLoopName(loop) << " over which role @"
               << info.roles[role].getName() << " alternates";
    }
  return success();
}

/// B7: a parity tells only two neighbouring phases of a slot apart, so an
/// instance must see every phase of the slots it waits for, or wait in a turn.
LogicalResult Rules::verifyAlternation(unsigned index) {
  const RingInfo &ring = info.rings[index];
  if (ring.local)
    return success();
  SmallVector<unsigned> roles(ring.consumers.begin(), ring.consumers.end());
  roles.push_back(ring.producer);
  for (unsigned role : roles) {
    const RoleInfo &roleInfo = info.roles[role];
    Operation *over = roleInfo.over;
    if (!over || !ScheduleInfo::isInside(ring.loop, over))
      continue;
    SmallVector<StringAttr> turns;
    for (Operation *item : info.getItems(over, role)) {
      bool touches = false;
      item->walk([&](Operation *op) {
        auto it = info.ops.find(op);
        touches |= it != info.ops.end() && it->second.role == role &&
                   (info.readsRing(op, index) || info.fills(op, index));
      });
      if (touches)
        turns.push_back(info.getTurn(item, role));
    }
    if (!turns.empty() && turns.front() && llvm::all_equal(turns))
      continue;
    int64_t instances = roleInfo.getInstances();
    bool divides = ring.getDepth() % instances == 0;
    if (ring.loop == over && divides)
      continue;
    InFlightDiagnostic diag = ring.pushes.front()->emitOpError("ring @")
                              << ring.getName() << ": role @"
                              << roleInfo.getName() << " has " << instances
                              << " instances alternating over @"
                              << info.getLoopName(over);
    if (ring.loop == over)
      diag << " and depth " << ring.getDepth() << " is not divisible by "
           << instances;
    else
      diag << " and it is filled in the inner loop @"
           << info.getLoopName(ring.loop);
    return diag << "; change the depth or put its waits in a turn";
  }
  return success();
}

LogicalResult Rules::verifyIndependent(Operation *op, Value value, Value id) {
  bool depends = value == id;
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> seen{value};
  auto visit = [&](Value next) {
    if (seen.insert(next).second)
      worklist.push_back(next);
  };
  while (!worklist.empty() && !depends) {
    Value next = worklist.pop_back_val();
    depends |= next == id;
    if (Operation *def = next.getDefiningOp()) {
      llvm::for_each(def->getOperands(), visit);
      // A scalar loop or branch depends on all that it computes.
      for (Region &region : def->getRegions())
        region.walk([&](Operation *inner) {
          llvm::for_each(inner->getOperands(), visit);
        });
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(next.getParentBlock()->getParentOp());
    if (!loop)
      continue;
    unsigned number = cast<BlockArgument>(next).getArgNumber();
    if (number == 0) {
      llvm::for_each(loop->getOperands().take_front(3), visit);
    } else {
      visit(loop.getInitArgs()[number - 1]);
      visit(loop.getYieldedValues()[number - 1]);
    }
  }
  if (depends)
    return op->emitOpError("is multicast, but depends on the cluster dimension "
                           "of the grid");
  return success();
}

LogicalResult Rules::verifyMulticast(unsigned index) {
  const RingInfo &ring = info.rings[index];
  if (!ring.multicast)
    return success();
  std::optional<ArrayRef<int64_t>> cluster = info.getKernel().getCluster();
  for (Operation *push : ring.pushes) {
    if (!info.ops.find(push)->second.multicast)
      continue;
    int64_t dim = push->getAttrOfType<AtAttr>("at").getMulticast();
    if (!cluster || (*cluster)[0] != dim)
      return push->emitOpError("is multicast along grid dimension ")
             << dim << ", expected a cluster along it";
    auto load = cast<LoadOp>(push);
    int64_t rows = cast<SramType>(load.getResult().getType()).getShape()[0];
    if (rows % (*cluster)[1])
      return push->emitOpError("is multicast, expected its ")
             << rows << " rows to be divisible by the cluster size "
             << (*cluster)[1];
    Value id = info.getKernel().getGridIds()[dim];
    for (Value operand : push->getOperands())
      if (failed(verifyIndependent(push, operand, id)))
        return failure();
    for (Operation *loop = ring.loop; loop != info.getKernel().getOperation();
         loop = loop->getParentOp())
      for (Value bound : {cast<scf::ForOp>(loop).getLowerBound(),
                          cast<scf::ForOp>(loop).getUpperBound(),
                          cast<scf::ForOp>(loop).getStep()})
        if (failed(verifyIndependent(loop, bound, id)))
          return failure();
  }
  return success();
}

/// A store of a slot still reads it after the op; only the role that fills the
/// slot waits for that (B8).
LogicalResult Rules::verifyStoredSlots(unsigned index) {
  const RingInfo &ring = info.rings[index];
  for (Operation *reader : ring.readers) {
    OpClass kind = info.ops.find(reader)->second.kind;
    if (kind == OpClass::StoreSlot && !ring.local)
      return reader->emitOpError("stores a slot of ring @")
             << ring.getName() << ", expected its role to be the only one that "
             << "writes and reads the ring";
    if (kind == OpClass::Mma && ring.local)
      return reader->emitOpError("reads ring @")
             << ring.getName() << " of its own role, expected another role to "
             << "fill it";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

LogicalResult Rules::verifyViews() {
  llvm::MapVector<Value, SmallVector<Access>> accesses;
  info.getKernel().getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<ViewType>(operand.getType()) && !isa<DimOp>(op)) {
        auto store = dyn_cast<StoreOp>(op);
        accesses[operand].push_back({op, store && store.getView() == operand});
      }
  });
  for (auto &[view, list] : accesses) {
    if (cast<ViewType>(view.getType()).getMode() == AccessMode::Inplace)
      continue;
    for (size_t i = 0; i < list.size(); ++i)
      for (size_t j = i + 1; j < list.size(); ++j)
        if ((list[i].isStore || list[j].isStore) &&
            failed(verifyAccesses(list[i], list[j])))
          return failure();
  }
  return success();
}

/// G1 for two accesses to a view, the first one before the second in the text.
LogicalResult Rules::verifyAccesses(const Access &first, const Access &second) {
  const Access &store = second.isStore ? second : first;
  const Access &other = second.isStore ? first : second;
  auto refuse = [&]() -> LogicalResult {
    return store.op->emitOpError("may overtake ")
           << "'" << other.op->getName() << "' of the same view or be "
           << "overtaken by it; declare the view inplace";
  };
  auto a = info.ops.find(first.op), b = info.ops.find(second.op);
  if (a == info.ops.end() || b == info.ops.end() ||
      a->second.role != b->second.role)
    return refuse();
  const RoleInfo &role = info.roles[a->second.role];
  bool bothStore = first.isStore && second.isStore;
  if (!bothStore && info.ops.find(store.op)->second.kind == OpClass::StoreSlot)
    return refuse();
  if (!bothStore && role.over && role.over->isAncestor(first.op) &&
      role.over->isAncestor(second.op))
    return refuse();
  // Compare the items of the innermost loop around both.
  Operation *loop = a->second.loop;
  while (!loop->isAncestor(second.op))
    loop = loop->getParentOp();
  auto place = [&](Operation *op) {
    while (op->getParentOp() != loop)
      op = op->getParentOp();
    return std::make_pair(info.getStage(op), info.getOrder(op));
  };
  auto before = place(first.op), after = place(second.op);
  auto next = before;
  ++next.first;
  if (before < after && after < next)
    return success();
  return refuse();
}

LogicalResult mmx::tile::verifyScheduleRules(const ScheduleInfo &info) {
  return Rules(info).verify();
}
