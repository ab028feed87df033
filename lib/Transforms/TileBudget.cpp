//===- TileBudget.cpp - Registers and shared memory of a schedule ---------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Transforms/TileRoleCode.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mmx::tile;

namespace {
/// Limits of a compute-capability 9.0 multiprocessor.
constexpr int64_t sharedBytes = 232448;
constexpr int64_t registersPerThread = 512; // of the 4 warp groups of 128
constexpr int64_t producerRegisters = 24;
/// What a role needs besides fragments: addresses, counters, bounds.
constexpr int64_t baseRegisters = 24, registersPerRing = 2;
} // namespace

static LogicalResult verifyShared(const ScheduleInfo &info) {
  int64_t total = 0;
  std::string parts;
  for (unsigned i = 0; i < info.rings.size(); ++i) {
    const RingInfo &ring = info.rings[i];
    int64_t slot = 0;
    for (Operation *push : ring.pushes)
      slot += llvm::alignTo(getTileBytes(push->getResult(0).getType()), 1024);
    int64_t slots = ring.getDepth();
    if (ring.local)
      slots *= info.roles[ring.producer].getInstances();
    // Two barriers of 8 bytes for each slot.
    total += slots * (slot + 16);
    llvm::raw_string_ostream(parts)
        << (i ? ", " : "") << "@" << ring.getName() << " "
        << llvm::divideCeil(slots * slot, 1024);
  }
  if (total > sharedBytes)
    return info.getKernel().emitOpError("needs ")
           << llvm::divideCeil(total, 1024) << " KB of " << sharedBytes / 1024
           << " KB of shared memory: " << parts;
  return success();
}

/// Registers of a thread for one copy of a fragment. A rank-1 fragment has two
/// values a thread for each 64 rows.
static int64_t getRegisters(const ScheduleInfo &info, unsigned role,
                            Value value, int64_t split) {
  auto frag = cast<FragType>(value.getType());
  int64_t instances = split < 0 ? 1 : info.roles[role].getInstances();
  if (frag.getShape().size() == 1)
    return 2 * llvm::divideCeil(frag.getShape()[0], 64 * instances);
  int64_t threads = 32 * info.roles[role].attr.getWarps();
  return llvm::divideCeil(getTileBytes(frag), 4 * threads * instances);
}

/// A fragment's first and last place in the emitted step of its loop.
namespace {
struct Lifetime {
  Value value;
  Position begin, end;
  int64_t registers, copies;
};
} // namespace

/// When `user` no longer reads its operands: a product when it is waited for.
static Position getEnd(const ScheduleInfo &info, const RolePrograms &programs,
                       unsigned role, Operation *loop, Operation *user) {
  for (const Instruction &instruction : programs.getCode(role, loop)->derived)
    if (instruction.kind == InstructionKind::WaitMma && instruction.op == user)
      return instruction.at;
  return {info.getStage(user), info.getOrder(user), 0};
}

/// The fragments that the ops of one loop make.
static SmallVector<Lifetime>
collectLifetimes(const ScheduleInfo &info, const RolePrograms &programs,
                 unsigned role, Operation *loop,
                 const llvm::DenseMap<Value, int64_t> &splits) {
  SmallVector<Lifetime> lifetimes;
  SmallVector<Operation *> items = info.getItems(loop, role);
  for (Operation *item : items) {
    if (!info.ops.contains(item))
      continue;
    for (Value value : item->getResults()) {
      if (!isa<FragType>(value.getType()))
        continue;
      Position begin{info.getStage(item), info.getOrder(item), 0}, end = begin;
      for (Operation *user : items)
        for (Value used : info.getUsedTiles(user, role)) {
          auto def = info.getDefinition(used, loop);
          if (!def || def->item != item)
            continue;
          // An accumulator becomes the result when the product is issued.
          Position over{info.getStage(user), info.getOrder(user), 0};
          if (!ScheduleInfo::isAccumulator(user, used))
            over = getEnd(info, programs, role, loop, user);
          over.stage += def->distance;
          end = std::max(end, over);
        }
      lifetimes.push_back(
          {value, begin, end,
           getRegisters(info, role, value, splits.lookup_or(value, -1)),
           programs.getCopies(item)});
    }
  }
  return lifetimes;
}

/// Copies of `lifetime` that hold a value of use at the place (order) of an op.
static int64_t countLive(const Lifetime &lifetime, int64_t order) {
  int64_t live = 0;
  for (int64_t stage = lifetime.begin.stage; stage <= lifetime.end.stage;
       ++stage) {
    Position at{stage, order, 0};
    // An op may write its result over an operand that it is the last to use.
    bool isPoint = lifetime.begin == lifetime.end;
    live += lifetime.begin <= at && (at < lifetime.end || isPoint);
  }
  return std::min(live, std::max<int64_t>(lifetime.copies, 1));
}

static LogicalResult
verifyRegisters(const ScheduleInfo &info, const RolePrograms &programs,
                unsigned role, const llvm::DenseMap<Value, int64_t> &splits) {
  const RoleInfo &roleInfo = info.roles[role];
  int64_t rings = llvm::count_if(info.rings, [&](const RingInfo &ring) {
    return ring.producer == role || llvm::is_contained(ring.consumers, role);
  });
  for (Operation *loop : info.loops) {
    SmallVector<Lifetime> lifetimes =
        collectLifetimes(info, programs, role, loop, splits);
    for (Operation *item : info.getItems(loop, role)) {
      int64_t total = baseRegisters + registersPerRing * rings;
      std::string parts;
      for (const Lifetime &lifetime : lifetimes) {
        int64_t live =
            countLive(lifetime, info.getOrder(item)) * lifetime.registers;
        total += live;
        if (live)
          llvm::raw_string_ostream(parts)
              << ", " << lifetime.value.getDefiningOp()->getName() << " "
              << live;
      }
      if (total > roleInfo.attr.getRegs())
        return item->emitOpError("role @")
               << roleInfo.getName() << " needs " << total << " registers ("
               << baseRegisters + registersPerRing * rings << " for addresses"
               << parts << "), has " << roleInfo.attr.getRegs();
    }
  }
  return success();
}

LogicalResult mmx::tile::verifyBudget(const ScheduleInfo &info,
                                      const RolePrograms &programs) {
  if (failed(verifyShared(info)))
    return failure();
  FailureOr<llvm::DenseMap<Value, int64_t>> splits = computeSplits(info);
  if (failed(splits))
    return failure();
  int64_t total = 0;
  bool producers = false;
  for (unsigned role = 0; role < info.roles.size(); ++role) {
    const RoleAttr &attr = info.roles[role].attr;
    // Single warps share one warp group.
    if (attr.getWarps() == 1) {
      producers = true;
      continue;
    }
    total += attr.getRegs() * attr.getInstances();
    if (attr.getRegs() &&
        failed(verifyRegisters(info, programs, role, *splits)))
      return failure();
  }
  total += producers ? producerRegisters : 0;
  if (total > registersPerThread)
    return info.getKernel().emitOpError("needs ")
           << total << " registers in one thread of every warp group, has "
           << registersPerThread;
  return success();
}
