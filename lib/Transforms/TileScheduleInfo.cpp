//===- TileScheduleInfo.cpp - A kernel seen through its schedule ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Transforms/TileScheduleInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx::tile;

static bool isTile(Value value) {
  return isa<SramType, FragType>(value.getType());
}

ArrayRef<int64_t> mmx::tile::getTileExtents(Value tile) {
  if (auto frag = dyn_cast<FragType>(tile.getType()))
    return frag.getShape();
  return cast<SramType>(tile.getType()).getShape();
}

int64_t mmx::tile::getProductDepth(MmaOp mma) {
  return getTileExtents(mma.getA())[mma.getTransposeA() ? 0 : 1];
}

int64_t mmx::tile::getTileBytes(Type type) {
  auto bytes = [](ArrayRef<int64_t> shape, Type element) {
    int64_t count = llvm::product_of(shape);
    return count * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  };
  return TypeSwitch<Type, int64_t>(type).Case<SramType, FragType>(
      [&](auto tile) { return bytes(tile.getShape(), tile.getElementType()); });
}

/// How `op` runs, or none for a scalar op.
static std::optional<OpClass> classify(Operation *op) {
  auto hasSlot = [&] { return isa<SramType>(op->getResult(0).getType()); };
  return TypeSwitch<Operation *, std::optional<OpClass>>(op)
      .Case<LoadOp>([&](LoadOp) {
        return hasSlot() ? OpClass::Load : OpClass::LoadFragment;
      })
      .Case<GatherOp>([&](GatherOp) {
        return hasSlot() ? OpClass::Gather : OpClass::LoadFragment;
      })
      .Case<PutOp>([](PutOp) { return OpClass::Put; })
      .Case<ReadOp>([](ReadOp) { return OpClass::Read; })
      .Case<MapOp, ReduceOp, ScanOp>([](auto) { return OpClass::Fragment; })
      .Case<MmaOp>([](MmaOp) { return OpClass::Mma; })
      .Case<StoreOp>([](StoreOp store) {
        return isa<SramType>(store.getTile().getType()) ? OpClass::StoreSlot
                                                        : OpClass::Store;
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

Block *ScheduleInfo::getBody(Operation *loop) {
  return &loop->getRegion(0).front();
}

SmallVector<Value, 4> ScheduleInfo::getTiles(Operation *op) {
  return llvm::filter_to_vector<4>(op->getOperands(), isTile);
}

bool ScheduleInfo::isAccumulator(Operation *op, Value value) {
  auto mma = dyn_cast<MmaOp>(op);
  return mma && mma.getAcc() == value;
}

LoopAttr ScheduleInfo::getLoopAttr(Operation *loop) const {
  return loop->getAttrOfType<LoopAttr>("at");
}

StringRef ScheduleInfo::getLoopName(Operation *loop) const {
  LoopAttr attr = getLoopAttr(loop);
  return attr ? attr.getName().getValue() : "";
}

bool ScheduleInfo::isScheduledLoop(Operation *op) const {
  return isa<scf::ForOp>(op) && llvm::is_contained(loops, op);
}

bool ScheduleInfo::hasInnerLoop(Operation *loop) const {
  return llvm::any_of(*getBody(loop),
                      [&](Operation &op) { return isScheduledLoop(&op); });
}

bool ScheduleInfo::isInside(Operation *inner, Operation *outer) {
  return outer->isAncestor(inner);
}

SmallVector<Operation *> ScheduleInfo::getItems(Operation *loop,
                                                unsigned role) const {
  SmallVector<Operation *> items;
  auto before = [&](Operation *a, Operation *b) {
    return getOrder(a) < getOrder(b);
  };
  for (Operation &op : *getBody(loop)) {
    auto it = ops.find(&op);
    bool takesPart = it != ops.end() && it->second.role == role;
    if (it == ops.end() && isScheduledLoop(&op))
      takesPart = llvm::any_of(ops, [&](const auto &entry) {
        return entry.second.role == role && op.isAncestor(entry.first);
      });
    if (takesPart)
      items.insert(llvm::upper_bound(items, &op, before), &op);
  }
  return items;
}

SmallVector<Value> ScheduleInfo::getUsedTiles(Operation *item,
                                              unsigned role) const {
  SmallVector<Value> tiles;
  item->walk([&](Operation *op) {
    auto it = ops.find(op);
    if (isScheduledLoop(op) || (it != ops.end() && it->second.role == role))
      llvm::append_range(tiles, getTiles(op));
  });
  return tiles;
}

int64_t ScheduleInfo::getOrder(Operation *item) const {
  auto it = ops.find(item);
  return it != ops.end() ? it->second.order : getLoopAttr(item).getOrder();
}

int64_t ScheduleInfo::getStage(Operation *item) const {
  auto it = ops.find(item);
  return it != ops.end() ? it->second.stage : 0;
}

StringAttr ScheduleInfo::getTurn(Operation *item, unsigned role) const {
  if (roles[role].getInstances() == 1)
    return {};
  auto it = ops.find(item);
  return it != ops.end() ? it->second.turn : getLoopAttr(item).getTurn();
}

int ScheduleInfo::getRing(Value value) const {
  Operation *def = value.getDefiningOp();
  auto it = def ? ops.find(def) : ops.end();
  return it != ops.end() ? it->second.ring : -1;
}

bool ScheduleInfo::fills(Operation *op, unsigned ring) const {
  return llvm::is_contained(rings[ring].pushes, op);
}

bool ScheduleInfo::readsRing(Operation *op, unsigned ring) const {
  return llvm::is_contained(rings[ring].readers, op);
}

std::optional<LoopDef> ScheduleInfo::getDefinition(Value value,
                                                   Operation *loop) const {
  Block *body = getBody(loop);
  int64_t distance = 0;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto forOp = dyn_cast<scf::ForOp>(loop);
    if (!forOp || arg.getOwner() != body || arg.getArgNumber() == 0)
      return std::nullopt;
    value = body->getTerminator()->getOperand(arg.getArgNumber() - 1);
    distance = 1;
  }
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != body ||
      !(ops.contains(def) || isScheduledLoop(def)))
    return std::nullopt;
  return LoopDef{def, distance};
}

int64_t ScheduleInfo::getMultiplicity(unsigned role, Operation *loop) const {
  const RoleInfo &info = roles[role];
  if (info.over && isInside(loop, info.over))
    return 1;
  return info.getInstances();
}

int64_t ScheduleInfo::getClusterSize() const {
  std::optional<ArrayRef<int64_t>> cluster = getKernel().getCluster();
  return cluster ? (*cluster)[1] : 1;
}

int64_t ScheduleInfo::getFullCount(unsigned ring) const {
  const RingInfo &info = rings[ring];
  if (info.countsBytes)
    return 1;
  return roles[info.producer].attr.getWarps() *
         getMultiplicity(info.producer, info.loop);
}

int64_t ScheduleInfo::getTransferBytes(unsigned ring) const {
  const RingInfo &info = rings[ring];
  int64_t bytes = 0;
  if (info.countsBytes)
    for (Operation *push : info.pushes)
      bytes += getTileBytes(push->getResult(0).getType());
  return bytes;
}

int64_t ScheduleInfo::getEmptyCount(unsigned ring) const {
  const RingInfo &info = rings[ring];
  int64_t count = 0;
  for (unsigned role : info.consumers)
    count += roles[role].attr.getWarps() * getMultiplicity(role, info.loop);
  return count * (info.multicast ? getClusterSize() : 1);
}

std::string ScheduleInfo::describe(Operation *item) const {
  std::string text;
  llvm::raw_string_ostream(text)
      << "'" << item->getName() << "' at (stage " << getStage(item)
      << ", order " << getOrder(item) << ")";
  return text;
}

//===----------------------------------------------------------------------===//
// Collection
//===----------------------------------------------------------------------===//

FailureOr<ScheduleInfo> ScheduleInfo::create(KernelOp kernel) {
  ScheduleInfo info;
  info.kernel = kernel;
  ScheduleAttr schedule = kernel.getScheduleAttr();
  if (!schedule)
    return kernel.emitOpError("has no schedule"), failure();
  for (RoleAttr role : schedule.getRoles()) {
    info.roleIds[role.getName()] = info.roles.size();
    info.roles.push_back({role, {}});
  }
  for (RingAttr ring : schedule.getRings()) {
    info.ringIds[ring.getName()] = info.rings.size();
    info.rings.emplace_back().attr = ring;
  }
  info.loops.push_back(kernel);
  if (failed(info.collect(kernel)) || failed(info.resolveRoles()) ||
      failed(info.resolveRings()) || failed(info.checkCrossing()) ||
      failed(info.checkOrders()))
    return failure();
  return info;
}

/// Loops around scalars alone are scalar code.
static bool hasTileOps(Operation *loop) {
  return loop
      ->walk([](Operation *op) {
        return classify(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Every role computes the scalars that it needs: they must come out the same.
/// `op` may contain others.
static LogicalResult checkReplicable(Operation *op) {
  auto check = [](Operation *scalar) {
    // A tile.table reads what no kernel writes.
    if (isa<TableOp>(scalar) || scalar->hasTrait<OpTrait::IsTerminator>() ||
        scalar->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        isMemoryEffectFree(scalar))
      return WalkResult::advance();
    scalar->emitOpError("is a scalar that is not replicable, expected it to be "
                        "pure or read from a 'read' view");
    return WalkResult::interrupt();
  };
  return failure(op->walk(check).wasInterrupted());
}

LogicalResult ScheduleInfo::collect(Operation *loop) {
  for (Operation &op : *getBody(loop)) {
    LogicalResult status = classify(&op)     ? collectOp(&op, loop)
                           : hasTileOps(&op) ? collectLoop(&op)
                                             : checkReplicable(&op);
    if (failed(status))
      return failure();
  }
  return success();
}

LogicalResult ScheduleInfo::collectLoop(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return op->emitOpError("contains ops on tiles, expected scf.for");
  LoopAttr attr = getLoopAttr(op);
  if (!attr)
    return op->emitOpError("has no 'at', expected #tile.loop");
  if (!loopNames.try_emplace(attr.getName(), op).second)
    return op->emitOpError("has the name @")
           << attr.getName().getValue() << " of another loop";
  for (Value value : loop.getRegionIterArgs())
    if (isa<SramType>(value.getType()))
      return op->emitOpError("carries a tile in shared memory");
  loops.push_back(op);
  return collect(op);
}

LogicalResult ScheduleInfo::collectOp(Operation *op, Operation *loop) {
  auto at = op->getAttrOfType<AtAttr>("at");
  if (!at)
    return op->emitOpError("has no 'at', expected #tile.at");
  auto role = roleIds.find(at.getRole());
  if (role == roleIds.end())
    return op->emitOpError("is in the unknown role @")
           << at.getRole().getValue();
  OpClass kind = *classify(op);
  bool makesSlot =
      op->getNumResults() == 1 && isa<SramType>(op->getResult(0).getType());
  if (makesSlot != static_cast<bool>(at.getRing()))
    return op->emitOpError(makesSlot ? "has no ring for its slot"
                                     : "has a ring, but makes no slot");
  int ring = -1;
  if (at.getRing()) {
    auto it = ringIds.find(at.getRing());
    if (it == ringIds.end())
      return op->emitOpError("fills the unknown ring @")
             << at.getRing().getValue();
    ring = it->second;
    SmallVector<Operation *, 2> &pushes = rings[ring].pushes;
    if (pushes.size() <= static_cast<size_t>(at.getField()))
      pushes.resize(at.getField() + 1);
    if (pushes[at.getField()])
      return op->emitOpError("fills field ")
             << at.getField() << " of ring @" << at.getRing().getValue()
             << " again";
    pushes[at.getField()] = op;
  }
  if (at.hasInflight() && kind != OpClass::Mma)
    return op->emitOpError("has an inflight, expected it on 'tile.mma'");
  if (at.isMulticast() && kind != OpClass::Load)
    return op->emitOpError("has a multicast, expected it on 'tile.load' of a "
                           "slot");
  ops.insert({op, ScheduledOp{op, kind, role->second, at.getOrder(),
                              at.getStage(), at.getInflight(), at.getTurn(),
                              loop, ring, at.isMulticast()}});
  return success();
}

LogicalResult ScheduleInfo::resolveRoles() {
  for (RoleInfo &role : roles) {
    if (role.attr.getMode() != InstanceMode::Alternate)
      continue;
    auto it = loopNames.find(role.attr.getLoop());
    if (it == loopNames.end())
      return kernel.emitOpError("role @")
             << role.getName() << " alternates over the unknown loop @"
             << role.attr.getLoop().getValue();
    role.over = it->second;
  }
  return success();
}

LogicalResult ScheduleInfo::resolveRings() {
  for (RingInfo &ring : rings) {
    auto where = [&] {
      return kernel.emitOpError("ring @") << ring.getName() << ": ";
    };
    if (ring.pushes.empty() || llvm::is_contained(ring.pushes, nullptr))
      return where() << "expected every field to be filled";
    const ScheduledOp &first = ops.find(ring.pushes.front())->second;
    ring.loop = first.loop;
    ring.producer = first.role;
    ring.countsBytes = first.kind == OpClass::Load;
    for (Operation *push : ring.pushes) {
      const ScheduledOp &op = ops.find(push)->second;
      if (op.role != ring.producer || op.loop != ring.loop)
        return where() << "all fields of a slot must be written by one role "
                          "in one region";
      if ((op.kind == OpClass::Load) != ring.countsBytes)
        return where() << "a slot is filled either by loads or by threads";
      ring.multicast |= op.multicast;
      for (Operation *user : push->getUsers())
        if (ops.contains(user) && !llvm::is_contained(ring.readers, user))
          ring.readers.push_back(user);
    }
    for (Operation *reader : ring.readers) {
      const ScheduledOp &op = ops.find(reader)->second;
      if (!llvm::is_contained(ring.consumers, op.role))
        ring.consumers.push_back(op.role);
      ring.asyncRead |=
          op.kind == OpClass::Mma || op.kind == OpClass::StoreSlot;
    }
    llvm::sort(ring.consumers);
    if (ring.readers.empty())
      return where() << "no op reads it";
    ring.local =
        ring.consumers.size() == 1 && ring.consumers.front() == ring.producer;
    if (!ring.local && llvm::is_contained(ring.consumers, ring.producer))
      return where() << "role @" << roles[ring.producer].getName()
                     << " both writes and reads a ring that others read";
  }
  return success();
}

/// The op that gives `value` its elements: through iter_args and loop results.
static Operation *getOrigin(Value value) {
  while (true) {
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
      if (!loop)
        return nullptr;
      value = loop.getYieldedValues()[arg.getArgNumber() - 1];
      // An iter_arg that yields an iter_arg has been rejected.
      if (isa<BlockArgument>(value))
        return nullptr;
      continue;
    }
    auto loop = value.getDefiningOp<scf::ForOp>();
    if (!loop)
      return value.getDefiningOp();
    value = loop.getYieldedValues()[cast<OpResult>(value).getResultNumber()];
  }
}

LogicalResult ScheduleInfo::checkCrossing() {
  auto check = [&](Operation *user, unsigned role, Value value) {
    Operation *def = value.getDefiningOp();
    if (!def || !ops.contains(def))
      def = getOrigin(value);
    auto it = def ? ops.find(def) : ops.end();
    if (it == ops.end())
      return success();
    if (it->second.role != role && it->second.ring < 0)
      return LogicalResult(user->emitOpError("uses the result of ")
                           << describe(def) << " that crosses from role @"
                           << roles[it->second.role].getName() << " to role @"
                           << roles[role].getName()
                           << " without a ring; put it into shared memory");
    return success();
  };
  for (Operation *loop : loops) {
    auto forOp = dyn_cast<scf::ForOp>(loop);
    if (!forOp)
      continue;
    for (auto [arg, init, yielded] :
         llvm::zip(forOp.getRegionIterArgs(), forOp.getInitArgs(),
                   forOp.getYieldedValues())) {
      if (!isTile(arg))
        continue;
      if (isa<BlockArgument>(yielded) ||
          !forOp->isProperAncestor(yielded.getDefiningOp()))
        return loop->emitOpError("yields a tile that no op of the loop makes");
      if (isa<BlockArgument>(init) || yielded.getDefiningOp<scf::ForOp>())
        return loop->emitOpError("carries a tile of an outer loop through an "
                                 "inner loop");
    }
  }
  for (auto &[op, info] : ops)
    for (Value value : getTiles(op))
      if (failed(check(op, info.role, value)))
        return failure();
  for (Operation *loop : loops)
    if (auto forOp = dyn_cast<scf::ForOp>(loop))
      for (auto [arg, init] :
           llvm::zip(forOp.getRegionIterArgs(), forOp.getInitArgs()))
        if (Operation *origin = isTile(arg) ? getOrigin(arg) : nullptr)
          if (failed(check(loop, ops.find(origin)->second.role, init)))
            return failure();
  return success();
}

LogicalResult ScheduleInfo::checkOrders() {
  for (Operation *loop : loops)
    for (unsigned role = 0; role < roles.size(); ++role) {
      Operation *previous = nullptr;
      for (Operation *item : getItems(loop, role)) {
        if (previous && getOrder(previous) == getOrder(item))
          return item->emitOpError("has the order ")
                 << getOrder(item) << " of another op of role @"
                 << roles[role].getName();
        previous = item;
      }
    }
  return success();
}
