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
/// Of a compute-capability 9.0 multiprocessor.
constexpr int64_t registersPerThread = 512; // of the 4 warp groups of 128
/// What a role needs besides fragments: addresses, counters, bounds.
constexpr int64_t baseRegisters = 24, registersPerRing = 2;
} // namespace

/// Shared memory in which the warps of an instance put together what each has
/// reduced or summed of its rows: along columns a warp has all it needs.
static int64_t getScratchBytes(const ScheduleInfo &info, unsigned role) {
  const RoleInfo &roleInfo = info.roles[role];
  int64_t warps = roleInfo.attr.getWarps(), bytes = 0;
  if (warps == 1)
    return 0;
  for (const auto &[op, scheduled] : info.ops) {
    auto reduce = dyn_cast<ReduceOp>(op);
    auto scan = dyn_cast<ScanOp>(op);
    if (scheduled.role != role || !(reduce || scan))
      continue;
    if ((reduce ? reduce.getDim() : scan.getDim()) != 0)
      continue;
    auto frag = cast<FragType>(op->getOperand(0).getType());
    int64_t row = getTileBytes(frag) / frag.getShape()[0];
    // With the numbers of the rows beside the values.
    int64_t index = op->getNumResults() > 1 ? 4 * frag.getShape().back() : 0;
    bytes = std::max(bytes, warps * (row + index));
  }
  return bytes * roleInfo.getInstances();
}

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
  int64_t scratch = 0;
  for (unsigned role = 0; role < info.roles.size(); ++role)
    scratch += getScratchBytes(info, role);
  total += scratch;
  if (scratch)
    llvm::raw_string_ostream(parts)
        << ", reductions " << llvm::divideCeil(scratch, 1024);
  if (total > maxSharedBytes)
    return info.getKernel().emitOpError("needs ")
           << llvm::divideCeil(total, 1024) << " KB of "
           << maxSharedBytes / 1024 << " KB of shared memory: " << parts;
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

/// Whether `role` has the value, which for the result of a loop is decided by
/// the op that made it.
static bool isOf(const ScheduleInfo &info, unsigned role, Value value,
                 Operation *item) {
  while (auto loop = dyn_cast_if_present<scf::ForOp>(value.getDefiningOp())) {
    auto result = cast<OpResult>(value);
    value =
        loop.getBody()->getTerminator()->getOperand(result.getResultNumber());
    if (isa<BlockArgument>(value))
      return true; // carried unchanged
  }
  auto op = info.ops.find(value.getDefiningOp());
  return op != info.ops.end() && op->second.role == role;
}

/// The fragments that the ops and the inner loops of one loop make.
static SmallVector<Lifetime>
collectLifetimes(const ScheduleInfo &info, const RolePrograms &programs,
                 unsigned role, Operation *loop,
                 const llvm::DenseMap<Value, int64_t> &splits) {
  SmallVector<Lifetime> lifetimes;
  SmallVector<Operation *> items = info.getItems(loop, role);
  for (Operation *item : items) {
    for (Value value : item->getResults()) {
      if (!isa<FragType>(value.getType()) || !isOf(info, role, value, item))
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

/// Fragments from around `loop` that stay in registers while it runs: those
/// used in it again and again, or after it. What it starts from becomes what it
/// carries.
static int64_t countAround(const ScheduleInfo &info,
                           const RolePrograms &programs, unsigned role,
                           Operation *loop,
                           const llvm::DenseMap<Value, int64_t> &splits) {
  int64_t total = 0;
  while (loop != info.getKernel()) {
    Operation *outer = loop->getParentOp();
    while (outer != info.getKernel() && !info.isScheduledLoop(outer))
      outer = outer->getParentOp();
    int64_t order = info.getOrder(loop);
    for (const Lifetime &lifetime :
         collectLifetimes(info, programs, role, outer, splits)) {
      bool isInside =
          llvm::any_of(lifetime.value.getUsers(), [&](Operation *user) {
            return user != loop && loop->isProperAncestor(user);
          });
      Position at{0, order, 0}, end = lifetime.end;
      bool isLive = lifetime.begin < at && (at < end || isInside);
      // Carried around the outer loop: made after this one, used before it.
      isLive |= at < lifetime.begin && Position{1, order, 0} < end;
      total += isLive ? lifetime.registers : 0;
    }
    loop = outer;
  }
  return total;
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
    int64_t around = countAround(info, programs, role, loop, splits);
    for (Operation *item : info.getItems(loop, role)) {
      // The ops inside a loop count what is around it.
      if (!info.ops.contains(item))
        continue;
      int64_t total = baseRegisters + registersPerRing * rings + around;
      std::string parts;
      if (around)
        llvm::raw_string_ostream(parts) << ", around the loop " << around;
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
