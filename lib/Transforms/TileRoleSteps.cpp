//===- TileRoleSteps.cpp - The repeated step of a role --------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileRoleSteps.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mmx::tile;

/// Instructions moved to the end of the step before stand after all orders.
static constexpr int64_t rotatedOrder = int64_t(1) << 40;

void StepBuilder::add(InstructionKind kind, Position at, int ring,
                      Operation *op, StringAttr turn) {
  Instruction instruction;
  instruction.kind = kind;
  instruction.at = at;
  instruction.ring = ring;
  instruction.op = op;
  instruction.turn = turn;
  auto before = [](const Instruction &a, const Instruction &b) {
    return std::tie(a.at.order, a.at.phase) < std::tie(b.at.order, b.at.phase);
  };
  step.insert(llvm::upper_bound(step, instruction, before), instruction);
}

SmallVector<StepBuilder::Use> StepBuilder::getUses(Operation *op) const {
  SmallVector<Use> uses;
  for (Operation *user : items)
    for (Value value : info.getUsedTiles(user, role))
      if (auto def = info.getDefinition(value, loop); def && def->item == op)
        uses.push_back(
            {user, def->distance, ScheduleInfo::isAccumulator(user, value)});
  return uses;
}

Position StepBuilder::place(Operation *item, int64_t distance,
                            int phase) const {
  return {info.getStage(item) + distance, info.getOrder(item), phase};
}

/// Where the product of iteration i is waited for, as a place of iteration i
/// (W2). Products retire in order, so a wait for a later one of a chain covers
/// the earlier ones.
SmallVector<Position> StepBuilder::getWaits(Operation *mma,
                                            ArrayRef<Operation *> seen) const {
  SmallVector<Position> waits;
  const ScheduledOp &op = info.ops.find(mma)->second;
  if (op.inflight >= 0)
    waits.push_back({op.stage + op.inflight, op.order, PhaseIssued});
  for (const Use &use : getUses(mma)) {
    if (!use.isAccumulator) {
      waits.push_back(place(use.user, use.distance, PhaseBeforeUse));
      continue;
    }
    if (use.user == mma || llvm::is_contained(seen, use.user))
      continue;
    SmallVector<Operation *> chain(seen);
    chain.push_back(mma);
    for (Position wait : getWaits(use.user, chain)) {
      wait.stage += use.distance;
      waits.push_back(wait);
    }
  }
  llvm::sort(waits);
  waits.erase(llvm::unique(waits), waits.end());
  return waits;
}

/// When `op` no longer reads its operands (B4).
FailureOr<Position> StepBuilder::getDone(Operation *item) const {
  const ScheduledOp &op = info.ops.find(item)->second;
  Position read = place(item, 0, PhaseRead);
  if (op.kind == OpClass::Read) {
    // An inner loop may run no iteration, so it counts only on its own.
    SmallVector<Position> ends, loopEnds;
    for (const Use &use : getUses(item))
      (info.isScheduledLoop(use.user) ? loopEnds : ends)
          .push_back(place(use.user, use.distance, PhaseRead));
    if (ends.empty())
      ends = loopEnds;
    return ends.empty() ? read : *llvm::min_element(ends);
  }
  if (op.kind != OpClass::Mma)
    return read;
  SmallVector<Position> waits = getWaits(item);
  if (waits.empty())
    return item->emitOpError("reads a slot but is never waited for inside its "
                             "loop; give it inflight = n"),
           failure();
  return waits.front();
}

FailureOr<Section> StepBuilder::build() {
  for (Operation *item : items) {
    Position at = place(item);
    StringAttr turn = info.getTurn(item, role);
    if (info.isScheduledLoop(item)) {
      add(InstructionKind::Loop, at, -1, item, turn);
      continue;
    }
    add(InstructionKind::Op, at, -1, item, turn);
    if (info.ops.find(item)->second.kind == OpClass::Mma)
      if (SmallVector<Position> waits = getWaits(item); !waits.empty())
        add(InstructionKind::WaitMma, waits.front(), -1, item);
  }
  for (unsigned ring = 0; ring < info.rings.size(); ++ring) {
    const RingInfo &ringInfo = info.rings[ring];
    if (ringInfo.loop != loop)
      continue;
    if (ringInfo.producer == role && failed(addFilling(ring)))
      return failure();
    if (!ringInfo.local && llvm::is_contained(ringInfo.consumers, role) &&
        failed(addReading(ring)))
      return failure();
  }
  rotate();
  return std::move(step);
}

/// Waits, announced bytes, fences and arrivals of the role that fills a ring
/// (B1, B2, B8, F1).
LogicalResult StepBuilder::addFilling(unsigned index) {
  const RingInfo &ring = info.rings[index];
  auto [first, last] = std::minmax_element(
      ring.pushes.begin(), ring.pushes.end(),
      [&](Operation *a, Operation *b) { return place(a) < place(b); });
  StringAttr turn = info.getTurn(*first, role);
  Position start = place(*first), end = place(*last);
  auto phase = [](Position at, int phase) {
    return Position{at.stage, at.order, phase};
  };
  add(ring.local ? InstructionKind::WaitStores : InstructionKind::WaitEmpty,
      phase(start, PhaseWait), index, nullptr, turn);
  if (ring.countsBytes) {
    add(InstructionKind::Expect, phase(start, PhaseExpect), index, nullptr,
        turn);
  } else {
    int fence = PhaseFence, arrive = PhaseArrive;
    if (faults.arriveBeforeFence == ring.getName())
      std::swap(fence, arrive);
    if (ring.asyncRead && faults.noFence != ring.getName())
      add(InstructionKind::Fence, phase(end, fence), index);
    if (!ring.local)
      add(InstructionKind::ArriveFull, phase(end, arrive), index);
  }
  if (ring.local && !faults.skipVerifier)
    return checkLocalRing(index, start);
  return success();
}

LogicalResult StepBuilder::checkLocalRing(unsigned index, Position first) {
  const RingInfo &ring = info.rings[index];
  first.stage += ring.getDepth();
  for (Operation *reader : ring.readers) {
    if (info.ops.find(reader)->second.loop != loop)
      return reader->emitOpError("reads ring @")
             << ring.getName() << " of its own role in another loop";
    FailureOr<Position> done = getDone(reader);
    if (failed(done))
      return failure();
    if (*done >= first)
      return reader->emitOpError("reads ring @")
             << ring.getName() << ": it comes after the write of iteration + "
             << ring.getDepth() << " into its slot";
  }
  return success();
}

/// The wait before the first read of a slot and the release after the last
/// one (B3, B4).
LogicalResult StepBuilder::addReading(unsigned index) {
  const RingInfo &ring = info.rings[index];
  std::optional<Position> first, last;
  StringAttr turn;
  for (Operation *item : items) {
    Position at = place(item), end;
    if (info.isScheduledLoop(item)) {
      bool reads = llvm::any_of(ring.readers, [&](Operation *reader) {
        return info.ops.find(reader)->second.role == role &&
               item->isAncestor(reader);
      });
      if (!reads)
        continue;
      end = place(item, 0, PhaseRead);
    } else {
      if (!info.readsRing(item, index))
        continue;
      FailureOr<Position> done = getDone(item);
      if (failed(done))
        return failure();
      end = *done;
    }
    if (!first || at < *first) {
      first = at;
      turn = info.getTurn(item, role);
    }
    if (!last || *last < end)
      last = end;
  }
  if (!first)
    return loop->emitOpError("ring @")
           << ring.getName() << " is read outside of the loop that fills it";
  add(InstructionKind::WaitFull, {first->stage, first->order, PhaseWait}, index,
      nullptr, turn);
  for (const ScheduleFaults::Release &release : faults.releases) {
    if (release.ring != ring.getName() ||
        release.role != info.roles[role].getName())
      continue;
    if (release.at < *last && !faults.skipVerifier)
      return loop->emitOpError("ring @")
             << ring.getName() << ": role @" << release.role
             << " releases the slot at (stage " << release.at.stage
             << ", order " << release.at.order
             << ") before its last read ends at (stage " << last->stage
             << ", order " << last->order << ")";
    last = release.at;
  }
  last->phase += PhaseRelease;
  add(InstructionKind::ArriveEmpty, *last, index);
  return success();
}

/// Waits and releases one stage after the last op that would
/// open a step close the step before instead (P4): the loop then needs no
/// stage for them.
void StepBuilder::rotate() {
  int64_t top = 0;
  for (const Instruction &instruction : step)
    if (instruction.kind == InstructionKind::Op ||
        instruction.kind == InstructionKind::Loop)
      top = std::max(top, instruction.at.stage);
  auto moves = [&](const Instruction &instruction) {
    return (instruction.kind == InstructionKind::WaitMma ||
            instruction.kind == InstructionKind::ArriveEmpty) &&
           instruction.at.stage == top + 1;
  };
  auto middle = step.begin();
  for (; middle != step.end() && moves(*middle); ++middle) {
    middle->at.stage = top;
    middle->at.order += rotatedOrder;
  }
  std::rotate(step.begin(), middle, step.end());
}

LogicalResult
StepBuilder::computeCopies(llvm::DenseMap<Operation *, int64_t> &copies) {
  for (Operation *item : items) {
    auto it = info.ops.find(item);
    if (it == info.ops.end() || item->getNumResults() == 0 ||
        it->second.ring >= 0)
      continue;
    const ScheduledOp &def = it->second;
    int64_t count = 1;
    for (const Use &use : getUses(item)) {
      if (use.isAccumulator && use.user == item)
        continue;
      auto user = info.ops.find(use.user);
      Position end = place(use.user);
      if (user != info.ops.end() && user->second.kind == OpClass::Mma) {
        FailureOr<Position> done = getDone(use.user);
        if (failed(done))
          return failure();
        end = *done;
      }
      // The least c with (end of the last use) <= (stage + c, order).
      bool after =
          std::tie(end.order, end.phase) > std::make_tuple(def.order, 0);
      count = std::max(count, end.stage + use.distance - def.stage + after);
    }
    for (const ScheduleFaults::Copies &forced : faults.copies)
      if (forced.role == info.roles[role].getName() &&
          forced.order == def.order)
        count = forced.count;
    copies[item] = count;
  }
  return success();
}
