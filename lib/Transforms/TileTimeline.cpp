//===- TileTimeline.cpp - Roles of a kernel in time -----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Transforms/TileTimeline.h"

#include "TileCosts.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

using namespace mlir;
using namespace mmx::tile;

namespace {

/// A resource that serves one request at a time, at the first time at which it
/// has nothing else to do: loads ask for times to come.
class Resource {
public:
  /// When a request of `cycles` that comes at `now` is served.
  double serve(double now, double cycles) {
    busy += cycles;
    auto next = taken.upper_bound(now);
    if (next != taken.begin())
      now = std::max(now, std::prev(next)->second);
    for (; next != taken.end() && next->first < now + cycles; ++next)
      now = std::max(now, next->second);
    taken[now] = now + cycles;
    return now + cycles;
  }
  double getBusy() const { return busy; }

private:
  std::map<double, double> taken; ///< from, to
  double busy = 0;
};

/// Arrivals at the two barriers of a slot for each push of a ring.
struct RingTimes {
  struct Push {
    double full = 0, empty = 0;
    int64_t filled = 0, released = 0;
  };
  std::vector<Push> pushes;

  Push &at(int64_t push) {
    if (push >= int64_t(pushes.size()))
      pushes.resize(push + 1);
    return pushes[push];
  }
};

/// An instruction with the running count of its loop that it belongs to.
struct Event {
  const Instruction *instruction;
  int64_t count;
};

/// One instance of a role.
struct Agent {
  unsigned role;
  std::vector<Event> events;
  size_t next = 0;
  double now = 0;
  /// When products and the last store of a slot are over.
  std::map<std::pair<Operation *, int64_t>, double> products;
  double storesRead = 0;
};

/// Runs the roles of one cell with loops of at most `cap` iterations.
class Timeline {
public:
  Timeline(const ScheduleInfo &info, const RolePrograms &programs,
           const KernelWork &work, double tensorRate, int64_t cap)
      : info(info), programs(programs), work(work), tensorRate(tensorRate),
        cap(cap), rings(info.rings.size()) {
    for (unsigned role = 0; role < info.roles.size(); ++role)
      for (int64_t i = 0; i < info.roles[role].getInstances(); ++i)
        addAgent(role, i);
  }

  CellTime run();
  /// Iterations of innermost loops.
  double getSteps() const { return steps; }

private:
  void addAgent(unsigned role, int64_t instance);
  void unroll(const RoleCode &code, int64_t instance, Agent &agent,
              llvm::DenseMap<Operation *, int64_t> &bases);
  int64_t getCount(Operation *loop) const;
  bool canRun(const Agent &agent);
  void execute(Agent &agent);
  void executeOp(Agent &agent, const Event &event);
  double getLatency(Operation *load) const {
    return work.isReread(load->getOperand(0)) ? costs::sharedCache
                                              : costs::memory;
  }
  /// When the bytes of an access have left or entered the multiprocessor.
  double transfer(double now, Operation *op) {
    return port.serve(now, double(work.getBytes(op)) / costs::memoryBytes);
  }
  int64_t getFills(unsigned ring) const;
  int64_t getReleases(unsigned ring) const;

  const ScheduleInfo &info;
  const RolePrograms &programs;
  const KernelWork &work;
  const double tensorRate;
  const int64_t cap;
  std::vector<Agent> agents;
  std::vector<RingTimes> rings;
  Resource tensor, shared, port;
  double issue = 0, steps = 0;
};

} // namespace

int64_t Timeline::getCount(Operation *loop) const {
  auto forOp = dyn_cast<scf::ForOp>(loop);
  if (!forOp)
    return 1;
  double trips = std::ceil(work.getIterations(forOp));
  return std::min<int64_t>(cap, int64_t(trips));
}

void Timeline::addAgent(unsigned role, int64_t instance) {
  const RoleCode *code = programs.getCode(role, info.getKernel());
  if (!code)
    return;
  Agent agent;
  agent.role = role;
  llvm::DenseMap<Operation *, int64_t> bases;
  unroll(*code, instance, agent, bases);
  agents.push_back(std::move(agent));
}

/// Step t runs an instruction of stage s for iteration t - s. An instance that
/// alternates has every n-th iteration.
void Timeline::unroll(const RoleCode &code, int64_t instance, Agent &agent,
                      llvm::DenseMap<Operation *, int64_t> &bases) {
  int64_t all = getCount(code.loop), base = bases.lookup(code.loop);
  const RoleInfo &role = info.roles[agent.role];
  int64_t apart = role.over == code.loop ? role.getInstances() : 1;
  int64_t first = apart > 1 ? instance : 0;
  int64_t mine = all > first ? (all - first + apart - 1) / apart : 0;
  for (int64_t step = 0; step < mine + code.stages; ++step)
    for (const Instruction &instruction : code.derived) {
      int64_t own = step - instruction.at.stage;
      if (own < 0 || own >= mine)
        continue;
      if (instruction.kind == InstructionKind::Loop)
        unroll(*instruction.body, instance, agent, bases);
      else
        agent.events.push_back({&instruction, base + first + own * apart});
    }
  bases[code.loop] = base + all;
  if (agents.empty() && isa<scf::ForOp>(code.loop) &&
      !info.hasInnerLoop(code.loop))
    steps += double(all);
}

/// Instances that write a push by themselves, and that release it.
int64_t Timeline::getFills(unsigned ring) const {
  const RingInfo &r = info.rings[ring];
  return r.countsBytes ? 1 : info.getMultiplicity(r.producer, r.loop);
}

int64_t Timeline::getReleases(unsigned ring) const {
  int64_t releases = 0;
  for (unsigned consumer : info.rings[ring].consumers)
    releases += info.getMultiplicity(consumer, info.rings[ring].loop);
  return releases;
}

bool Timeline::canRun(const Agent &agent) {
  const Event &event = agent.events[agent.next];
  int ring = event.instruction->ring;
  if (event.instruction->kind == InstructionKind::WaitFull)
    return rings[ring].at(event.count).filled >= getFills(ring);
  if (event.instruction->kind == InstructionKind::WaitEmpty) {
    int64_t before = event.count - info.rings[ring].getDepth();
    return before < 0 || rings[ring].at(before).released >= getReleases(ring);
  }
  return true;
}

void Timeline::execute(Agent &agent) {
  const Event &event = agent.events[agent.next++];
  const Instruction &instruction = *event.instruction;
  int ring = instruction.ring;
  double cluster = ring >= 0 && info.rings[ring].multicast ? costs::cluster : 0;
  switch (instruction.kind) {
  case InstructionKind::Op:
    return executeOp(agent, event);
  case InstructionKind::WaitMma: {
    auto found = agent.products.find({instruction.op, event.count});
    if (found != agent.products.end())
      agent.now = std::max(agent.now, found->second);
    agent.now += costs::instruction;
    return;
  }
  case InstructionKind::WaitFull:
    agent.now =
        std::max(agent.now, rings[ring].at(event.count).full) + costs::wait;
    return;
  case InstructionKind::WaitEmpty: {
    int64_t before = event.count - info.rings[ring].getDepth();
    if (before >= 0)
      agent.now = std::max(agent.now, rings[ring].at(before).empty);
    agent.now += costs::wait;
    return;
  }
  case InstructionKind::ArriveFull: {
    RingTimes::Push &push = rings[ring].at(event.count);
    agent.now += costs::instruction;
    push.full = std::max(push.full, agent.now + costs::arrive);
    ++push.filled;
    return;
  }
  case InstructionKind::ArriveEmpty: {
    RingTimes::Push &push = rings[ring].at(event.count);
    agent.now += costs::instruction;
    push.empty = std::max(push.empty, agent.now + costs::arrive + cluster);
    ++push.released;
    return;
  }
  case InstructionKind::Fence:
    agent.now += costs::fence;
    return;
  case InstructionKind::WaitStores:
    agent.now = std::max(agent.now, agent.storesRead) + costs::instruction;
    return;
  case InstructionKind::Expect:
  case InstructionKind::TurnBegin:
  case InstructionKind::TurnEnd:
    agent.now += costs::instruction;
    return;
  case InstructionKind::Loop:
    llvm_unreachable("loops are unrolled");
  }
}

void Timeline::executeOp(Agent &agent, const Event &event) {
  Operation *op = event.instruction->op;
  const ScheduledOp &scheduled = info.ops.find(op)->second;
  double threads = 32.0 * info.roles[agent.role].attr.getWarps();
  double instructions = costs::countInstructions(op, threads);
  issue += instructions * threads / costs::lanes;
  double bytes = costs::getSharedBytes(op);
  switch (scheduled.kind) {
  case OpClass::Load: {
    RingTimes::Push &push = rings[scheduled.ring].at(event.count);
    agent.now += costs::bulkCopy;
    double arrived = transfer(agent.now, op) + getLatency(op);
    push.full =
        std::max(push.full, shared.serve(arrived, bytes / costs::sharedBytes));
    push.filled = 1;
    return;
  }
  case OpClass::Gather:
  case OpClass::LoadFragment:
    agent.now = transfer(agent.now + instructions, op) + getLatency(op);
    return;
  case OpClass::Store:
    agent.now = transfer(agent.now + instructions, op);
    return;
  case OpClass::StoreSlot:
    agent.now += costs::bulkCopy;
    agent.storesRead =
        shared.serve(agent.now + costs::bulkCopy, bytes / costs::sharedBytes);
    return;
  case OpClass::Read:
  case OpClass::Put:
    agent.now = std::max(agent.now + instructions,
                         shared.serve(agent.now, bytes / costs::sharedBytes)) +
                costs::sharedLatency;
    return;
  case OpClass::Fragment:
    agent.now += instructions;
    return;
  case OpClass::Mma: {
    agent.now += instructions;
    double cycles = costs::getTensorCycles(op, tensorRate);
    double over = tensor.serve(agent.now, cycles);
    over =
        std::max(over, shared.serve(over - cycles, bytes / costs::sharedBytes));
    agent.products[{op, event.count}] = over + costs::productLatency;
    return;
  }
  }
}

/// The instance that is behind goes first, so that resources serve requests in
/// the order of time.
CellTime Timeline::run() {
  while (true) {
    Agent *earliest = nullptr;
    for (Agent &agent : agents)
      if (agent.next < agent.events.size() && canRun(agent) &&
          (!earliest || agent.now < earliest->now))
        earliest = &agent;
    if (!earliest)
      break;
    execute(*earliest);
  }
  CellTime time;
  for (const Agent &agent : agents)
    time.cycles = std::max(time.cycles, agent.now);
  time.tensor = tensor.getBusy();
  time.shared = shared.getBusy();
  time.issue = issue;
  return time;
}

/// Iterations that are run to see how long one takes: with the pipeline full.
static constexpr int64_t fewSteps = 32, moreSteps = 96;

CellTime mmx::tile::timeRoles(const ScheduleInfo &info,
                              const RolePrograms &programs,
                              const KernelWork &work, double tensorRate) {
  double steps = 0;
  for (Operation *loop : info.loops)
    if (auto forOp = dyn_cast<scf::ForOp>(loop);
        forOp && !info.hasInnerLoop(loop))
      steps += work.getRuns(forOp) * work.getIterations(forOp);
  Timeline few(info, programs, work, tensorRate, fewSteps);
  Timeline more(info, programs, work, tensorRate, moreSteps);
  CellTime before = few.run(), time = more.run();
  double seen = more.getSteps() - few.getSteps();
  if (seen <= 0)
    return time;
  double rest = (steps - more.getSteps()) / seen;
  auto extend = [&](double &value, double earlier) {
    value += rest * (value - earlier);
  };
  extend(time.cycles, before.cycles);
  extend(time.tensor, before.tensor);
  extend(time.shared, before.shared);
  extend(time.issue, before.issue);
  return time;
}
