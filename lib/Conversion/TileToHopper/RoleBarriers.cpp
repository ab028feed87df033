//===- RoleBarriers.cpp - How warp groups wait for each other -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleWriter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::hopper;

/// Nanoseconds that a waiting thread may sleep at a time.
static constexpr int64_t suspendTime = 10000000;

Value RoleWriter::number32(int64_t value) {
  return arith::ConstantIntOp::create(e, e.getI32Type(), value);
}

Value RoleWriter::toI32(Value value) {
  if (value.getType().isInteger(32))
    return value;
  return e.createOrFold<arith::TruncIOp>(e.getI32Type(), e.toI64(value));
}

Value RoleWriter::sharedAt(Value offset) {
  return e.at(sharedBase, offset, e.getI8Type());
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// The number of the push that the current iteration makes or reads: all
/// pushes of the ring, or those of this instance where nobody else sees it.
static Value getPush(const tile::RingInfo &ring, Value count, Value own) {
  return ring.local ? own : count;
}

Value RoleWriter::getSlot(unsigned ring) {
  const tile::RingInfo &ringInfo = info.rings[ring];
  const Iteration &iteration = *current.lookup(ringInfo.loop);
  Value push = toI32(getPush(ringInfo, iteration.count, iteration.own));
  return arith::RemUIOp::create(e, push, number32(ringInfo.getDepth()));
}

Value RoleWriter::getParity(unsigned ring) {
  const tile::RingInfo &ringInfo = info.rings[ring];
  const Iteration &iteration = *current.lookup(ringInfo.loop);
  Value push = toI32(getPush(ringInfo, iteration.count, iteration.own));
  Value turn = arith::DivUIOp::create(e, push, number32(ringInfo.getDepth()));
  return arith::AndIOp::create(e, turn, number32(1));
}

Value RoleWriter::getBarrier(unsigned ring, bool full) {
  Value slot = arith::ExtUIOp::create(e, e.getI64Type(), getSlot(ring));
  int64_t first = full ? plan.getFull(ring) : plan.getEmpty(ring);
  return sharedAt(e.add(e.i64(first), e.mul(slot, e.i64(8))));
}

/// Where a tile of shared memory stands for the current iteration.
Value RoleWriter::getTile(Value sram) {
  unsigned ring = info.getRing(sram);
  const tile::RingInfo &ringInfo = info.rings[ring];
  Value slot = arith::ExtUIOp::create(e, e.getI64Type(), getSlot(ring));
  int64_t copies = ringInfo.local && info.roles[role].getInstances() > 1
                       ? info.roles[role].getInstances()
                       : 1;
  if (copies > 1) {
    // Every instance has slots of its own.
    Value number = arith::ExtUIOp::create(e, e.getI64Type(), instance);
    slot = e.add(e.mul(number, e.i64(ringInfo.getDepth())), slot);
  }
  Value offset =
      e.add(e.i64(plan.getRing(ring) + plan.getField(sram.getDefiningOp())),
            e.mul(slot, e.i64(plan.getSlotBytes(ring))));
  return sharedAt(offset);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void RoleWriter::waitBarrier(Value barrier, Value parity) {
  NVVM::MBarrierTryWaitParityOp::create(e, barrier, parity,
                                        number32(suspendTime));
}

void RoleWriter::arrive(Value barrier) {
  bool remote =
      cast<LLVM::LLVMPointerType>(barrier.getType()).getAddressSpace() == 7;
  // What a slot's readers did is over when they arrive; a wider scope would
  // only make every arrival wait for the memory of the whole GPU.
  NVVM::MBarrierArriveOp::create(
      e, remote ? TypeRange() : TypeRange(e.getI64Type()), barrier,
      /*count=*/Value(), NVVM::MemScopeKind::CTA, /*relaxed=*/false);
}

void RoleWriter::onFirstLane(llvm::function_ref<void()> body) {
  Value first =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, lane, number32(0));
  e.ifThen(first, body);
}

/// The address of a barrier, known only when what was read of the ring's slot
/// has come. A load is done when its value is there: the assembler lets an
/// arrival overtake loads that nobody has used yet, and then a slot is filled
/// again under the reader.
Value RoleWriter::afterReads(Value barrier, unsigned ring, int64_t stage) {
  auto found = reads.find({ring, stage});
  if (found == reads.end())
    return barrier;
  Value none = arith::AndIOp::create(e, found->second, hiddenZero);
  reads.erase(found);
  return e.at(barrier, arith::ExtUIOp::create(e, e.getI64Type(), none),
              e.getI8Type());
}

/// Every warp arrives once, after all of its lanes; for slots that cells of a
/// cluster share, at the empty barriers of all of them.
void RoleWriter::arriveOfWarps(unsigned ring, bool full, int64_t stage) {
  Value barrier = getBarrier(ring, full);
  if (!full)
    barrier = afterReads(barrier, ring, stage);
  auto all = [&] {
    if (full || !info.rings[ring].multicast)
      return arrive(barrier);
    Type remote = LLVM::LLVMPointerType::get(e.getContext(), 7);
    for (int64_t cell = 0; cell < info.getClusterSize(); ++cell)
      arrive(NVVM::MapaOp::create(e, remote, barrier, number32(cell)));
  };
  NVVM::SyncWarpOp::create(e, number32(-1));
  if (!race.threadArrivals)
    return onFirstLane(all);
  // The assembler keeps products in flight over a branch alone; it cannot know
  // that this one is always taken.
  Value size = NVVM::DynamicSmemSize::create(e, e.getI32Type());
  e.ifThen(
      arith::CmpIOp::create(e, arith::CmpIPredicate::ne, size, number32(-1)),
      all);
}

/// All bytes of a slot have been asked for: the threads that did arrive, where
/// the announcement of the bytes was no arrival.
void RoleWriter::finishLoads(Operation *load) {
  unsigned ring = info.ops.lookup(load).ring;
  bool last = llvm::all_of(info.rings[ring].pushes, [&](Operation *push) {
    return info.getOrder(push) <= info.getOrder(load);
  });
  if (race.threadArrivals && last)
    arrive(getBarrier(ring, /*full=*/true));
}

void RoleWriter::expectBytes(unsigned ring) {
  onFirstLane([&] {
    if (race.threadArrivals) {
      NVVM::MBarrierExpectTxOp::create(e, getBarrier(ring, /*full=*/true),
                                       number32(info.getTransferBytes(ring)));
      return;
    }
    NVVM::MBarrierArriveExpectTxOp::create(
        e, TypeRange(e.getI64Type()), getBarrier(ring, /*full=*/true),
        number32(info.getTransferBytes(ring)), NVVM::MemScopeKind::CTA,
        /*relaxed=*/false, /*predicate=*/Value());
  });
}

/// All threads of the instance.
void RoleWriter::roleBarrier() {
  Value id = arith::AddIOp::create(e, group, number32(1));
  NVVM::BarrierOp::create(e, TypeRange(), id, number32(128),
                          NVVM::BarrierReductionAttr(), Value());
}

void RoleWriter::fence(unsigned ring) {
  NVVM::FenceProxyOp::create(
      e, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(e.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  if (info.rings[ring].local)
    roleBarrier();
}

void RoleWriter::waitStores(unsigned ring) {
  Value first = arith::CmpIOp::create(e, arith::CmpIPredicate::eq, roleThread,
                                      number32(0));
  e.ifThen(first, [&] {
    NVVM::CpAsyncBulkWaitGroupOp::create(e, info.rings[ring].getDepth() - 1,
                                         e.getUnitAttr());
  });
  roleBarrier();
}
