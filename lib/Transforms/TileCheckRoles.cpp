//===- TileCheckRoles.cpp - Checks the code of roles ----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The listing of a role, unrolled for loops of every length that matters, is
// followed instruction by instruction: each op runs once for each iteration,
// after what it uses and before its registers are written again; slots are
// waited for, filled, fenced, announced, read and released in that order; a
// product is read only after a wait that has let it retire. Nothing here is
// taken from the derivation of the listing but the facts of the schedule.
//
//===----------------------------------------------------------------------===//

#include "TileRoleTrace.h"

#include "mmx/Transforms/TileRoleCode.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mmx::tile;

namespace {

/// An op in one iteration.
using Event = std::pair<Operation *, Iteration>;

/// What has happened to the slot that one iteration fills.
struct Slot {
  llvm::SmallDenseSet<Operation *> fills;
  /// Reads that are not over.
  std::set<Event> reading;
  std::map<std::string, int> count; ///< by mnemonic of the instruction
  bool unfenced = false;
};

class RoleChecker {
public:
  RoleChecker(const ScheduleInfo &info, unsigned role, const RoleTrace &trace,
              bool pipelined)
      : info(info), role(role), trace(trace), pipelined(pipelined) {}

  LogicalResult check();

private:
  LogicalResult runOp(const TraceStep &step);
  LogicalResult runUses(const TraceStep &step);
  LogicalResult useSlot(const TraceStep &step, Value tile);
  LogicalResult useFragment(const TraceStep &step, Value tile);
  LogicalResult fill(const TraceStep &step);
  LogicalResult waitMma(const TraceStep &step);
  LogicalResult onRing(const TraceStep &step);
  LogicalResult arriveEmpty(const TraceStep &step, Slot &slot);
  LogicalResult arriveFull(const TraceStep &step, Slot &slot);
  void endLoop(const TraceStep &step);
  LogicalResult checkComplete(const TraceLoop &loop);
  LogicalResult checkRing(const TraceLoop &loop, unsigned ring,
                          const Iteration &iteration);
  LogicalResult checkCopies();
  void retire(size_t left);
  std::optional<Event> define(Value tile, Operation *user,
                              const Iteration &iteration) const;
  Slot &getSlot(unsigned ring, const Iteration &iteration);
  size_t getDepth(Operation *loop) const;

  const ScheduleInfo &info;
  unsigned role;
  const RoleTrace &trace;
  bool pipelined;

  size_t now = 0;
  std::map<Event, size_t> ran;     ///< when
  std::map<Event, size_t> retired; ///< products: when
  std::vector<Event> inFlight;     ///< oldest first
  std::map<Event, size_t> lastUse; ///< of the result
  std::map<Event, Operation *> listing;
  /// Operands of products, which are in use until those retire.
  std::map<Event, std::vector<Event>> operands;
  std::map<std::pair<unsigned, Iteration>, Slot> slots;
};

} // namespace

static std::string getMnemonic(Operation *instruction) {
  return instruction->getName().stripDialect().str();
}

/// Loops around the items of `loop`, itself included.
size_t RoleChecker::getDepth(Operation *loop) const {
  size_t depth = 1;
  for (; loop != info.getKernel(); loop = loop->getParentOp())
    depth += info.isScheduledLoop(loop);
  return depth;
}

Slot &RoleChecker::getSlot(unsigned ring, const Iteration &iteration) {
  size_t depth = getDepth(info.rings[ring].loop);
  return slots[{ring, Iteration(iteration.begin(), iteration.begin() + depth)}];
}

/// The op, or the inner loop, that made what `user` sees as `tile`; nothing for
/// a value from before the first iteration that no op of the role made.
std::optional<Event> RoleChecker::define(Value tile, Operation *user,
                                         const Iteration &iteration) const {
  Iteration at = iteration;
  for (Operation *loop = info.ops.find(user)->second.loop;;
       loop = loop->getParentOp()) {
    if (loop != info.getKernel() && !info.isScheduledLoop(loop))
      continue;
    if (auto def = info.getDefinition(tile, loop)) {
      at.back() -= def->distance;
      if (at.back() >= 0)
        return Event{def->item, at};
      auto argument = cast<BlockArgument>(tile);
      tile = cast<scf::ForOp>(loop).getInitArgs()[argument.getArgNumber() - 1];
    } else if (auto argument = dyn_cast<BlockArgument>(tile);
               argument && argument.getOwner() == info.getBody(loop) &&
               isa<scf::ForOp>(loop) && argument.getArgNumber() > 0) {
      // Carried unchanged.
      tile = cast<scf::ForOp>(loop).getInitArgs()[argument.getArgNumber() - 1];
    }
    if (loop == info.getKernel())
      return std::nullopt;
    at.pop_back();
  }
}

LogicalResult RoleChecker::check() {
  for (const TraceStep &step : trace.steps) {
    ++now;
    LogicalResult result = success();
    if (isa<RunOp>(step.instruction))
      result = runOp(step);
    else if (isa<RunLoopOp>(step.instruction))
      endLoop(step);
    else if (isa<WaitMmaOp>(step.instruction))
      result = waitMma(step);
    else if (step.ring >= 0)
      result = onRing(step);
    if (failed(result))
      return failure();
  }
  for (const TraceLoop &loop : trace.loops)
    if (failed(checkComplete(loop)))
      return failure();
  return pipelined ? checkCopies() : success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult RoleChecker::runOp(const TraceStep &step) {
  Event event{step.item, step.iteration};
  if (!ran.try_emplace(event, now).second)
    return step.instruction->emitOpError("runs twice for one iteration");
  listing[event] = step.instruction;
  if (failed(runUses(step)))
    return failure();
  const ScheduledOp &op = info.ops.find(step.item)->second;
  if (op.ring >= 0 && failed(fill(step)))
    return failure();
  if (op.kind == OpClass::Mma)
    inFlight.push_back(event);
  return success();
}

LogicalResult RoleChecker::runUses(const TraceStep &step) {
  for (Value tile : ScheduleInfo::getTiles(step.item))
    if (failed(isa<SramType>(tile.getType()) ? useSlot(step, tile)
                                             : useFragment(step, tile)))
      return failure();
  return success();
}

LogicalResult RoleChecker::useSlot(const TraceStep &step, Value tile) {
  int ring = info.getRing(tile);
  const RingInfo &ringInfo = info.rings[ring];
  Slot &slot = getSlot(ring, step.iteration);
  const ScheduledOp &op = info.ops.find(step.item)->second;
  if (ringInfo.local ? !slot.fills.contains(tile.getDefiningOp())
                     : !slot.count["wait_full"])
    return step.instruction->emitOpError("reads ring @")
           << ringInfo.getName() << " before a wait for its slot";
  if (slot.count["arrive_empty"])
    return step.instruction->emitOpError("reads ring @")
           << ringInfo.getName() << " after the release of its slot";
  if (op.kind == OpClass::StoreSlot && slot.unfenced)
    return step.instruction->emitOpError("ring @")
           << ringInfo.getName() << ": no proxy fence before the store of its "
           << "slot";
  // A store has read the slot when the ring's own wait for stores says so.
  if (op.kind == OpClass::Mma ||
      (op.kind == OpClass::Read && !step.item->getResult(0).use_empty()))
    slot.reading.insert({step.item, step.iteration});
  return success();
}

LogicalResult RoleChecker::useFragment(const TraceStep &step, Value tile) {
  std::optional<Event> def = define(tile, step.item, step.iteration);
  if (!def)
    return success();
  const auto &[item, iteration] = *def;
  if (!ran.contains(*def))
    return step.instruction->emitOpError("uses the result of ")
           << info.describe(item) << " before that runs";
  auto op = info.ops.find(item);
  bool isAccumulator = ScheduleInfo::isAccumulator(step.item, tile);
  if (op != info.ops.end() && op->second.kind == OpClass::Mma &&
      !isAccumulator && !retired.contains(*def))
    return step.instruction->emitOpError("reads the result of ")
           << info.describe(item) << " before a wait for it";
  lastUse[*def] = now;
  bool isProduct =
      info.ops.find(step.item)->second.kind == OpClass::Mma && !isAccumulator;
  if (isProduct)
    operands[{step.item, step.iteration}].push_back(*def);
  // Copying a slot to registers is over when something consumes them.
  if (op != info.ops.end() && op->second.kind == OpClass::Read)
    getSlot(info.getRing(item->getOperand(0)), iteration).reading.erase(*def);
  return success();
}

LogicalResult RoleChecker::fill(const TraceStep &step) {
  const ScheduledOp &op = info.ops.find(step.item)->second;
  const RingInfo &ring = info.rings[op.ring];
  Slot &slot = getSlot(op.ring, step.iteration);
  auto misses = [&](const char *mnemonic) -> LogicalResult {
    if (slot.count[mnemonic])
      return success();
    return step.instruction->emitOpError("fills a slot of ring @")
           << ring.getName() << " before its tile." << mnemonic;
  };
  if (failed(misses(ring.local ? "wait_stores" : "wait_empty")) ||
      (ring.countsBytes && failed(misses("expect"))))
    return failure();
  if (slot.count["arrive_full"])
    return step.instruction->emitOpError("fills a slot of ring @")
           << ring.getName() << " after its tile.arrive_full";
  slot.fills.insert(step.item);
  slot.unfenced |= ring.asyncRead && !ring.countsBytes;
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The oldest products retire until `left` are in flight.
void RoleChecker::retire(size_t left) {
  while (inFlight.size() > left) {
    Event event = inFlight.front();
    inFlight.erase(inFlight.begin());
    retired[event] = now;
    for (const Event &operand : operands[event])
      lastUse[operand] = now;
    for (Value tile : ScheduleInfo::getTiles(event.first))
      if (isa<SramType>(tile.getType()))
        getSlot(info.getRing(tile), event.second).reading.erase(event);
  }
}

LogicalResult RoleChecker::waitMma(const TraceStep &step) {
  auto wait = cast<WaitMmaOp>(step.instruction);
  Event event{step.item, step.iteration};
  if (!ran.contains(event))
    return wait.emitOpError("waits for ")
           << info.describe(step.item) << " before that is issued";
  auto found = llvm::find(inFlight, event);
  size_t later = inFlight.end() - found;
  // Before the pipeline counts, a wait lets all later products fly.
  size_t pending = wait.getPending().value_or(later ? later - 1 : 0);
  if (found != inFlight.end() && pending >= later)
    return wait.emitOpError("leaves ")
           << pending << " products in flight, among them "
           << info.describe(step.item);
  retire(std::min(pending, inFlight.size()));
  return success();
}

/// A loop ends with a wait for all products.
void RoleChecker::endLoop(const TraceStep &step) {
  ran[{step.item, step.iteration}] = now;
  retire(0);
  for (Value tile : info.getUsedTiles(step.item, role)) {
    Operation *def = tile.getDefiningOp();
    auto op = def ? info.ops.find(def) : info.ops.end();
    if (op == info.ops.end() || op->second.kind != OpClass::Read ||
        step.item->isAncestor(def))
      continue;
    Iteration at(step.iteration.begin(),
                 step.iteration.begin() + getDepth(op->second.loop));
    getSlot(info.getRing(def->getOperand(0)), at).reading.erase({def, at});
  }
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

LogicalResult RoleChecker::onRing(const TraceStep &step) {
  Operation *instruction = step.instruction;
  Slot &slot = getSlot(step.ring, step.iteration);
  if (isa<FenceOp>(instruction)) {
    // A fence is for all slots that the thread has written.
    for (auto &entry : slots)
      entry.second.unfenced = false;
    return success();
  }
  if (slot.count[getMnemonic(instruction)]++)
    return instruction->emitOpError("runs twice for one slot");
  if (isa<ExpectOp>(instruction) && !slot.count["wait_empty"])
    return instruction->emitOpError("announces bytes before the slot is free");
  if (isa<ArriveFullOp>(instruction))
    return arriveFull(step, slot);
  if (isa<ArriveEmptyOp>(instruction))
    return arriveEmpty(step, slot);
  return success();
}

LogicalResult RoleChecker::arriveFull(const TraceStep &step, Slot &slot) {
  const RingInfo &ring = info.rings[step.ring];
  for (Operation *push : ring.pushes)
    if (!slot.fills.contains(push))
      return step.instruction->emitOpError("arrives before ")
             << info.describe(push) << " has filled the slot";
  if (slot.unfenced)
    return step.instruction->emitOpError("ring @")
           << ring.getName() << ": no proxy fence between the write by @"
           << info.roles[role].getName() << " and its arrive";
  return success();
}

LogicalResult RoleChecker::arriveEmpty(const TraceStep &step, Slot &slot) {
  const RingInfo &ring = info.rings[step.ring];
  auto early = [&](Operation *reader, const char *what) {
    return step.instruction->emitOpError("releases the slot of ring @")
           << ring.getName() << " before " << info.describe(reader) << what;
  };
  for (Operation *reader : ring.readers) {
    const ScheduledOp &op = info.ops.find(reader)->second;
    if (op.role != role)
      continue;
    // A read in an inner loop has happened when the loop has ended.
    Operation *item = reader;
    while (item->getBlock() != ScheduleInfo::getBody(ring.loop))
      item = item->getParentOp();
    if (!ran.contains({item, step.iteration}))
      return early(reader, " has read it");
  }
  if (!slot.reading.empty())
    return early(slot.reading.begin()->first, " is over");
  return success();
}

//===----------------------------------------------------------------------===//
// The whole trace
//===----------------------------------------------------------------------===//

LogicalResult RoleChecker::checkRing(const TraceLoop &loop, unsigned index,
                                     const Iteration &iteration) {
  const RingInfo &ring = info.rings[index];
  SmallVector<const char *, 3> needed;
  if (ring.producer == role) {
    needed.push_back(ring.local ? "wait_stores" : "wait_empty");
    if (!ring.local)
      needed.push_back(ring.countsBytes ? "expect" : "arrive_full");
  }
  if (!ring.local && llvm::is_contained(ring.consumers, role))
    needed.append({"wait_full", "arrive_empty"});
  Slot &slot = getSlot(index, iteration);
  for (const char *mnemonic : needed)
    if (!slot.count[mnemonic])
      return loop.listing->emitOpError("has no tile.")
             << mnemonic << " for a slot of ring @" << ring.getName();
  return success();
}

LogicalResult RoleChecker::checkComplete(const TraceLoop &loop) {
  Iteration iteration = loop.around;
  iteration.push_back(0);
  for (; iteration.back() < loop.trips; ++iteration.back()) {
    for (Operation *item : info.getItems(loop.loop, role))
      if (!ran.contains({item, iteration}))
        return loop.listing->emitOpError("does not run ")
               << info.describe(item) << " for every iteration";
    for (unsigned ring = 0; ring < info.rings.size(); ++ring)
      if (info.rings[ring].loop == loop.loop &&
          failed(checkRing(loop, ring, iteration)))
        return failure();
  }
  return success();
}

/// The registers of a result are written again `copies` iterations later.
LogicalResult RoleChecker::checkCopies() {
  for (const auto &[event, used] : lastUse) {
    auto found = listing.find(event);
    if (found == listing.end())
      continue; // the result of a loop
    int64_t copies = cast<RunOp>(found->second).getCopies();
    Event next = event;
    next.second.back() += copies;
    auto rewritten = ran.find(next);
    if (rewritten != ran.end() && rewritten->second < used)
      return found->second->emitOpError("has ")
             << copies << " sets of registers, which are written again before "
             << "the last use of its result";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The listing
//===----------------------------------------------------------------------===//

static LogicalResult checkNumber(BarriersOp op, StringRef what, int64_t got,
                                 int64_t needed) {
  if (got == needed)
    return success();
  return op.emitOpError("ring ") << op.getRingAttr() << ": " << what << " "
                                 << got << ", schedule needs " << needed;
}

static LogicalResult checkBarriers(const ScheduleInfo &info, RolesOp roles) {
  auto all = roles.getBody().getOps<BarriersOp>();
  for (auto [index, ring] : llvm::enumerate(info.rings)) {
    auto found = llvm::find_if(
        all, [&](BarriersOp op) { return op.getRing() == ring.getName(); });
    if (found == all.end())
      return roles.emitOpError("has no barriers for ring @") << ring.getName();
    BarriersOp op = *found;
    int64_t full = ring.local ? 0 : info.getFullCount(index);
    int64_t empty = ring.local ? 0 : info.getEmptyCount(index);
    if (failed(checkNumber(op, "has depth", op.getDepth(), ring.getDepth())) ||
        failed(checkNumber(op, "full barrier counts", op.getFull(), full)) ||
        failed(checkNumber(op, "full barrier counts bytes", op.getBytes(),
                           info.getTransferBytes(index))) ||
        failed(checkNumber(op, "empty barrier counts", op.getEmpty(), empty)))
      return failure();
    if (op.getMulticast() != ring.multicast || op.getLocal() != ring.local)
      return op.emitOpError("expected 'multicast' and 'local' as in the "
                            "schedule");
  }
  return success();
}

/// The turn of the first op of `role` that fills or reads a slot of `ring`: its
/// wait belongs into the turn too, or an instance could pass on the phase that
/// another one waits for.
static StringAttr getTurnOfWait(const ScheduleInfo &info, unsigned role,
                                StringRef ring, Operation *loop, bool fills) {
  const RingInfo *ringInfo = llvm::find_if(
      info.rings, [&](const RingInfo &one) { return one.getName() == ring; });
  std::optional<std::pair<int64_t, int64_t>> first;
  StringAttr turn;
  for (Operation *item : info.getItems(loop, role)) {
    bool touches = llvm::any_of(
        fills ? ArrayRef(ringInfo->pushes) : ArrayRef(ringInfo->readers),
        [&](Operation *op) {
          return info.ops.find(op)->second.role == role && item->isAncestor(op);
        });
    std::pair at{info.getStage(item), info.getOrder(item)};
    if (touches && (!first || at < *first)) {
      first = at;
      turn = info.getTurn(item, role);
    }
  }
  return turn;
}

/// In every section the ops of a turn and their waits stand between its begin
/// and its end, once each.
static LogicalResult checkTurns(const ScheduleInfo &info, unsigned role,
                                SectionOp section, Operation *loop) {
  llvm::StringMap<int> state; // 1: begun, 2: ended
  for (Operation &instruction : section.getBody().front()) {
    if (auto begin = dyn_cast<TurnBeginOp>(instruction)) {
      if (state[begin.getTurn()]++ != 0)
        return begin.emitOpError("begins a turn twice in one section");
    } else if (auto end = dyn_cast<TurnEndOp>(instruction)) {
      if (state[end.getTurn()]++ != 1)
        return end.emitOpError("ends a turn that has not begun");
    }
    auto wait = isa<WaitFullOp, WaitEmptyOp>(instruction)
                    ? instruction.getAttrOfType<FlatSymbolRefAttr>("ring")
                    : FlatSymbolRefAttr();
    StringAttr waitTurn = wait
                              ? getTurnOfWait(info, role, wait.getValue(), loop,
                                              isa<WaitEmptyOp>(instruction))
                              : StringAttr();
    if (waitTurn && state[waitTurn.getValue()] != 1)
      return instruction.emitOpError("waits outside of the turn @")
             << waitTurn.getValue() << " of what follows";
    for (Operation *item : info.getItems(loop, role)) {
      auto run = dyn_cast<RunOp>(instruction);
      auto inner = dyn_cast<RunLoopOp>(instruction);
      bool isIt = info.isScheduledLoop(item)
                      ? inner && inner.getLoop() == info.getLoopName(item)
                      : run && static_cast<int64_t>(run.getOrder()) ==
                                   info.getOrder(item);
      StringAttr turn = info.getTurn(item, role);
      if (isIt && turn && state[turn.getValue()] != 1)
        return instruction.emitOpError("runs outside of its turn @")
               << turn.getValue();
      if (isIt && inner)
        for (auto nested : inner.getBody().getOps<SectionOp>())
          if (failed(checkTurns(info, role, nested, item)))
            return failure();
    }
  }
  for (const auto &entry : state)
    if (entry.second != 2)
      return section.emitOpError("does not end the turn @") << entry.first();
  return success();
}

static LogicalResult checkRole(const ScheduleInfo &info, RoleOp listing,
                               unsigned role) {
  const RoleAttr &attr = info.roles[role].attr;
  if (static_cast<int64_t>(listing.getWarps()) != attr.getWarps() ||
      static_cast<int64_t>(listing.getInstances()) != attr.getInstances())
    return listing.emitOpError("expected ")
           << attr.getWarps() << " warps and " << attr.getInstances()
           << " instances as in the schedule";
  int64_t stages = 0;
  bool pipelined = false, hasTurns = info.roles[role].getInstances() > 1;
  listing.walk([&](Operation *op) {
    if (auto stage = op->getAttrOfType<IntegerAttr>("stage"))
      stages = std::max(stages, stage.getInt());
    auto section = dyn_cast<SectionOp>(op);
    pipelined |= section && section.getKind() == "steady";
  });
  // Longer loops repeat what these do.
  for (int64_t trips = 0; trips <= 2 * stages + 3; ++trips) {
    FailureOr<RoleTrace> trace = traceRole(info, listing, role, trips);
    if (failed(trace) ||
        failed(RoleChecker(info, role, *trace, pipelined).check()))
      return failure();
  }
  // Turns are put around when the sections are known.
  if (pipelined && hasTurns)
    for (auto section : listing.getBody().getOps<SectionOp>())
      if (failed(checkTurns(info, role, section, info.getKernel())))
        return failure();
  return success();
}

LogicalResult mmx::tile::verifyListing(KernelOp kernel, RolesOp roles) {
  FailureOr<ScheduleInfo> info = ScheduleInfo::create(kernel);
  if (failed(info) || failed(checkBarriers(*info, roles)))
    return failure();
  auto listings = roles.getBody().getOps<RoleOp>();
  for (auto [role, roleInfo] : llvm::enumerate(info->roles)) {
    if (info->getItems(kernel, role).empty())
      continue;
    auto found = llvm::find_if(listings, [&](RoleOp op) {
      return op.getRole() == roleInfo.getName();
    });
    if (found == listings.end())
      return roles.emitOpError("has no code of role @") << roleInfo.getName();
    if (failed(checkRole(*info, *found, role)))
      return failure();
  }
  return success();
}
