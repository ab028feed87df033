//===- TileRoleCode.cpp - What each role of a kernel executes -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Transforms/TileRoleCode.h"

#include "TileRoleSteps.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using namespace mmx::tile;

StringRef mmx::tile::stringifyInstructionKind(InstructionKind kind) {
  switch (kind) {
  case InstructionKind::Op:
    return "op";
  case InstructionKind::Loop:
    return "loop";
  case InstructionKind::WaitMma:
    return "wait_mma";
  case InstructionKind::WaitEmpty:
    return "wait_empty";
  case InstructionKind::Expect:
    return "expect";
  case InstructionKind::WaitStores:
    return "wait_stores";
  case InstructionKind::Fence:
    return "fence";
  case InstructionKind::ArriveFull:
    return "arrive_full";
  case InstructionKind::WaitFull:
    return "wait_full";
  case InstructionKind::ArriveEmpty:
    return "arrive_empty";
  case InstructionKind::TurnBegin:
    return "turn_begin";
  case InstructionKind::TurnEnd:
    return "turn_end";
  }
  llvm_unreachable("unknown instruction kind");
}

const RoleCode *RolePrograms::getCode(unsigned role, Operation *loop) const {
  auto it = codes.find({role, loop});
  return it == codes.end() ? nullptr : it->second.get();
}

/// The most copies that unrolling may make of a loop.
static constexpr int64_t maxUnroll = 4;

static LogicalResult deriveLoop(const ScheduleInfo &info,
                                const ScheduleFaults &faults, unsigned role,
                                Operation *loop, RolePrograms &programs) {
  if (info.getItems(loop, role).empty())
    return success();
  StepBuilder builder(info, faults, loop, role);
  FailureOr<Section> step = builder.build();
  if (failed(step) || failed(builder.computeCopies(programs.copies)))
    return failure();
  int64_t unroll = 1;
  for (Operation *item : info.getItems(loop, role))
    unroll = std::lcm(unroll, std::max<int64_t>(programs.copies[item], 1));
  if (unroll > maxUnroll)
    return loop->emitOpError("needs ")
           << unroll << " copies of its body for the registers of role @"
           << info.roles[role].getName() << ", expected at most " << maxUnroll;
  for (Instruction &instruction : *step)
    if (instruction.kind == InstructionKind::Loop)
      instruction.body = programs.getCode(role, instruction.op);
  auto code = std::make_unique<RoleCode>();
  code->loop = loop;
  code->role = role;
  buildSections(*code, *step, faults);
  code->derived = std::move(*step);
  programs.codes[{role, loop}] = std::move(code);
  return success();
}

FailureOr<RolePrograms> RolePrograms::derive(const ScheduleInfo &info,
                                             const ScheduleFaults &faults) {
  if (!faults.skipVerifier && failed(verifyScheduleRules(info)))
    return failure();
  RolePrograms programs;
  for (unsigned role = 0; role < info.roles.size(); ++role)
    for (Operation *loop : llvm::reverse(info.loops))
      if (failed(deriveLoop(info, faults, role, loop, programs)))
        return failure();
  if (faults.skipVerifier)
    return programs;
  if (failed(computeSplits(info)) ||
      failed(verifyNoCyclicWait(info, programs)) ||
      failed(verifyRoleCode(info, programs, faults)) ||
      failed(verifyBudget(info, programs)))
    return failure();
  return programs;
}

/// F1: between a write of threads to a slot with an asynchronous reader and the
/// arrival, or the store of the slot, stands a fence.
static LogicalResult verifyFences(const ScheduleInfo &info,
                                  const RoleCode &code,
                                  const Section &section) {
  llvm::SmallSetVector<int, 4> unfenced;
  for (const Instruction &instruction : section) {
    if (instruction.kind == InstructionKind::Fence)
      unfenced.clear();
    if (instruction.kind == InstructionKind::ArriveFull &&
        unfenced.contains(instruction.ring))
      return code.loop->emitOpError("ring @")
             << info.rings[instruction.ring].getName()
             << ": no proxy fence between the write by @"
             << info.roles[code.role].getName()
             << " and its arrive, but the slot is read by an asynchronous op";
    if (instruction.kind != InstructionKind::Op)
      continue;
    const ScheduledOp &op = info.ops.find(instruction.op)->second;
    bool writes = op.kind == OpClass::Put || op.kind == OpClass::Gather;
    if (writes && info.rings[op.ring].asyncRead)
      unfenced.insert(op.ring);
    if (op.kind == OpClass::StoreSlot &&
        unfenced.contains(info.getRing(op.op->getOperand(0))))
      return op.op->emitOpError("no proxy fence before the store of its slot");
  }
  return success();
}

LogicalResult mmx::tile::verifyRoleCode(const ScheduleInfo &info,
                                        const RolePrograms &programs,
                                        const ScheduleFaults &faults) {
  for (unsigned ring = 0; ring < info.rings.size(); ++ring) {
    auto it = faults.emptyCount.find(info.rings[ring].getName());
    if (it != faults.emptyCount.end() && it->second != info.getEmptyCount(ring))
      return info.rings[ring].pushes.front()->emitOpError("ring @")
             << info.rings[ring].getName() << ": empty barrier counts "
             << it->second << ", schedule needs " << info.getEmptyCount(ring);
  }
  for (unsigned role = 0; role < info.roles.size(); ++role)
    for (Operation *loop : info.loops) {
      const RoleCode *code = programs.getCode(role, loop);
      if (!code)
        continue;
      SmallVector<const Section *> sections{&code->steady};
      for (const Section &section : code->prologue)
        sections.push_back(&section);
      for (const Section &section : code->epilogue)
        sections.push_back(&section);
      for (const Section *section : sections)
        if (failed(verifyFences(info, *code, *section)))
          return failure();
    }
  return success();
}
