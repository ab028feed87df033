//===- TileMachineAgent.cpp - Control flow of an agent --------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileMachineState.h"

using namespace mlir;
using namespace mmx::tile;
using namespace mmx::tile::machine;

Agent::Agent(Machine &machine, unsigned role, int64_t instance, int64_t cell,
             ArrayRef<int64_t> ids, double speed)
    : speed(speed), machine(machine), context(machine.context),
      info(machine.context.info), role(role), instance(instance), cell(cell),
      scalars(machine.context, machine), pushes(info.rings.size(), 0) {
  scalars.ids.assign(ids.begin(), ids.end());
  if (const RoleCode *code = context.programs.getCode(role, info.getKernel()))
    enter(*code);
}

std::string Agent::getName() const {
  return "@" + info.roles[role].getName().str() + "." +
         std::to_string(instance) + "/cell" + std::to_string(cell);
}

std::string Agent::describeWait() const {
  switch (wait.kind) {
  case Wait::Kind::Barrier:
    return " waits for " + wait.barrier->name;
  case Wait::Kind::Turn:
    return " waits for its turn";
  case Wait::Kind::Products:
    return " waits for products";
  case Wait::Kind::Stores:
    return " waits for stores";
  case Wait::Kind::None:
    return " is not done";
  }
  llvm_unreachable("unknown wait");
}

bool Agent::isReady() const {
  switch (wait.kind) {
  case Wait::Kind::None:
    return true;
  case Wait::Kind::Barrier:
    return wait.barrier->test(wait.parity);
  case Wait::Kind::Products:
    return static_cast<int64_t>(products.size()) <= wait.count;
  case Wait::Kind::Stores: {
    int64_t over = static_cast<int64_t>(stores.size()) - wait.count;
    for (int64_t i = 0; i < over; ++i)
      if (!*stores[i])
        return false;
    return true;
  }
  case Wait::Kind::Turn: {
    const Frame &frame = frames.back();
    StringAttr turn = (*frame.section)[frame.next - 1].turn;
    auto it = machine.turns.find({cell, role, turn.getAsOpaquePointer()});
    return (it == machine.turns.end() ? 0 : it->second) == wait.count;
  }
  }
  llvm_unreachable("unknown wait");
}

void Agent::step() {
  if (wait.kind != Wait::Kind::None) {
    if (wait.kind == Wait::Kind::Barrier && machine.options.ghostPhases) {
      int64_t phase = wait.barrier->phase;
      if (wait.exact ? phase != wait.phase : phase < wait.phase)
        machine.fail("parity alias: " + getName() + describeWait());
    }
    wait = Wait();
    return;
  }
  if (!arrivals.empty()) {
    Barrier *barrier = arrivals.front();
    arrivals.pop_front();
    if (!barrier->arrive())
      machine.fail("over-arrival on " + barrier->name);
    return;
  }
  Frame &frame = frames.back();
  while (!frame.section || frame.next == frame.section->size())
    if (!nextSection(frame))
      return leave();
  execute(frame, (*frame.section)[frame.next++]);
}

/// Goes to the next step of the loop: prologue, steady state, epilogue, or the
/// guarded form for trip counts below the number of stages.
bool Agent::nextSection(Frame &frame) {
  int64_t t = frame.section ? ++frame.step : frame.step;
  int64_t stages = frame.code->stages;
  if (t >= frame.own + stages)
    return false;
  frame.next = 0;
  if (frame.own < stages)
    frame.section = &frame.code->guarded;
  else if (t < stages)
    frame.section = &frame.code->prologue[t];
  else if (t < frame.own)
    frame.section = &frame.code->steady;
  else
    frame.section = &frame.code->epilogue[t - frame.own];
  return true;
}

void Agent::enter(const RoleCode &code) {
  Frame frame;
  frame.code = &code;
  auto loop = dyn_cast<scf::ForOp>(code.loop);
  frame.total = frame.own = loop ? scalars.getTripCount(loop) : 1;
  if (info.roles[role].over == code.loop) {
    frame.stride = info.roles[role].getInstances();
    int64_t offset = (instance - loopCounts[code.loop]) % frame.stride;
    frame.first = (offset + frame.stride) % frame.stride;
    frame.own = frame.total <= frame.first
                    ? 0
                    : (frame.total - frame.first - 1) / frame.stride + 1;
  }
  frames.push_back(std::move(frame));
}

void Agent::leave() {
  Frame frame = std::move(frames.back());
  frames.pop_back();
  Operation *loop = frame.code->loop;
  for (const Instruction &instruction : frame.code->steady)
    if (instruction.kind == InstructionKind::Loop && frame.stride > 1)
      account(frame, instruction.op, frame.total);
  for (unsigned ring = 0; ring < info.rings.size(); ++ring)
    if (info.rings[ring].loop == loop)
      pushes[ring] += info.rings[ring].local ? frame.own : frame.total;
  loopCounts[loop] += frame.total;
  scalars.iterations[loop] = {frame.first + (frame.own - 1) * frame.stride,
                              frame.own - 1};
  // A loop ends with a wait for all products.
  if (!frames.empty())
    wait = {.kind = Wait::Kind::Products};
}

void Agent::enterLoop(Frame &frame, const Instruction &instruction) {
  Operation *loop = frame.code->loop;
  int64_t global = scalars.iterations[loop].global;
  if (frame.stride > 1) {
    account(frame, instruction.op, global);
    frame.accounted[instruction.op] = global + 1;
  }
  enter(*instruction.body);
}

/// Counts the pushes that other instances make in the inner loop, up to
/// iteration `until` of the loop of `frame`.
void Agent::account(Frame &frame, Operation *inner, int64_t until) {
  Operation *loop = frame.code->loop;
  Iteration saved = scalars.iterations[loop];
  for (int64_t &i = frame.accounted[inner]; i < until; ++i) {
    scalars.iterations[loop].global = i;
    skip(inner);
  }
  scalars.iterations[loop] = saved;
}

void Agent::skip(Operation *loop) {
  int64_t trips = scalars.getTripCount(cast<scf::ForOp>(loop));
  for (unsigned ring = 0; ring < info.rings.size(); ++ring)
    if (info.rings[ring].loop == loop && !info.rings[ring].local)
      pushes[ring] += trips;
  Iteration saved = scalars.iterations[loop];
  for (Operation &op : *ScheduleInfo::getBody(loop))
    for (int64_t i = 0; info.isScheduledLoop(&op) && i < trips; ++i) {
      scalars.iterations[loop].global = i;
      skip(&op);
    }
  scalars.iterations[loop] = saved;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

int64_t Agent::getPush(int ring) {
  const RingInfo &ringInfo = info.rings[ring];
  const Iteration &iteration = scalars.iterations[ringInfo.loop];
  return pushes[ring] + (ringInfo.local ? iteration.own : iteration.global);
}

Slot &Agent::getSlot(int ring) {
  const RingInfo &ringInfo = info.rings[ring];
  return machine.getSlot(cell, ring, ringInfo.local ? instance : 0,
                         getPush(ring) % ringInfo.getDepth());
}

void Agent::waitForSlot(const Instruction &instruction) {
  Slot &slot = getSlot(instruction.ring);
  int64_t round =
      getPush(instruction.ring) / info.rings[instruction.ring].getDepth();
  bool isFull = instruction.kind == InstructionKind::WaitFull;
  wait = {.kind = Wait::Kind::Barrier,
          .barrier = isFull ? &slot.full : &slot.empty,
          .parity = isFull ? (round & 1) != 0 : (round & 1) == 0,
          .phase = isFull ? round + 1 : round,
          .exact = isFull};
}

void Agent::beginTurn(const Instruction &instruction) {
  int64_t count = turnCounts[instruction.turn]++;
  wait = {.kind = Wait::Kind::Turn,
          .count = count * info.roles[role].getInstances() + instance};
}

void Agent::execute(Frame &frame, const Instruction &instruction) {
  auto isPresent = [&](int64_t stage) {
    int64_t own = frame.step - stage;
    return own >= 0 && own < frame.own;
  };
  bool isTurn = instruction.kind == InstructionKind::TurnBegin ||
                instruction.kind == InstructionKind::TurnEnd;
  if (isTurn ? llvm::none_of(instruction.stages, isPresent)
             : !isPresent(instruction.at.stage))
    return;
  int64_t own = frame.step - instruction.at.stage;
  if (!isTurn)
    scalars.iterations[frame.code->loop] = {frame.first + own * frame.stride,
                                            own};
  switch (instruction.kind) {
  case InstructionKind::Op:
    return runOp(info.ops.find(instruction.op)->second);
  case InstructionKind::Loop:
    return enterLoop(frame, instruction);
  case InstructionKind::WaitMma:
    wait = {.kind = Wait::Kind::Products, .count = instruction.pending};
    return;
  case InstructionKind::WaitEmpty:
  case InstructionKind::WaitFull:
    return waitForSlot(instruction);
  case InstructionKind::Expect:
    if (!getSlot(instruction.ring)
             .full.arrive(info.getTransferBytes(instruction.ring)))
      machine.fail("over-arrival on full @" +
                   info.rings[instruction.ring].getName().str());
    return;
  case InstructionKind::WaitStores:
    wait = {.kind = Wait::Kind::Stores,
            .count = info.rings[instruction.ring].getDepth() - 1};
    return;
  case InstructionKind::Fence:
    for (Unfenced &write : unfenced)
      for (int64_t element : write.elements)
        write.field->async.cells[element] = write.field->generic.cells[element];
    unfenced.clear();
    return;
  case InstructionKind::ArriveFull:
    arrivals.assign(info.roles[role].attr.getWarps(),
                    &getSlot(instruction.ring).full);
    return;
  case InstructionKind::ArriveEmpty:
    return release(instruction.ring);
  case InstructionKind::TurnBegin:
    return beginTurn(instruction);
  case InstructionKind::TurnEnd:
    ++machine.turns[{cell, role, instruction.turn.getAsOpaquePointer()}];
    return;
  }
}

/// Every warp arrives at the empty barrier, with multicast at that of every
/// cell. The last consumer of the cell poisons the slot before any arrival is
/// visible: later a peer may already write into it.
void Agent::release(int ring) {
  const RingInfo &ringInfo = info.rings[ring];
  Slot &slot = getSlot(ring);
  int64_t consumers = 0;
  for (unsigned consumer : ringInfo.consumers)
    consumers += info.getMultiplicity(consumer, ringInfo.loop);
  if (++slot.released == consumers) {
    slot.released = 0;
    for (SlotField &field : slot.fields) {
      poison(field.generic);
      poison(field.async);
    }
  }
  int64_t number = getPush(ring) % ringInfo.getDepth();
  for (int64_t warp = 0; warp < info.roles[role].attr.getWarps(); ++warp) {
    if (!ringInfo.multicast) {
      arrivals.push_back(&slot.empty);
      continue;
    }
    for (int64_t peer = 0; peer < machine.numCells; ++peer)
      arrivals.push_back(&machine.getSlot(peer, ring, 0, number).empty);
  }
}
