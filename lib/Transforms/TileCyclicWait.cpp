//===- TileCyclicWait.cpp - Roles that wait for each other ----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One graph per loop. Nodes are the instructions of the steady step of every
// role and instance; an edge u -> v of distance d says that v of iteration i +
// d waits for u of iteration i. A cycle whose distances sum to 0 or less can
// never start (B9). Conservative for trip counts shorter than a ring.
//
//===----------------------------------------------------------------------===//

#include "mmx/Transforms/TileRoleCode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;
using namespace mmx::tile;

namespace {
class WaitGraph {
public:
  WaitGraph(const ScheduleInfo &info, const RolePrograms &programs,
            Operation *loop)
      : info(info), loop(loop) {
    for (unsigned role = 0; role < info.roles.size(); ++role)
      if (const RoleCode *code = programs.getCode(role, loop))
        addRole(role, *code);
    for (unsigned ring = 0; ring < info.rings.size(); ++ring)
      if (!info.rings[ring].local)
        addRing(ring);
    addTurns();
  }

  LogicalResult verify();

private:
  /// An instruction of one instance; an inner loop has a node for its begin and
  /// one for its end.
  struct Node {
    unsigned role;
    const Instruction *instruction;
  };
  struct Edge {
    unsigned from, to;
    int64_t distance;
  };
  using Key = std::pair<InstructionKind, int>;

  void addRole(unsigned role, const RoleCode &code);
  void addInstance(unsigned role, const RoleCode &code, int64_t iterations);
  void addRing(unsigned ring);
  void addTurns();
  void connect(ArrayRef<unsigned> from, ArrayRef<unsigned> to,
               int64_t distance);
  void recordNode(unsigned node, unsigned role, const Instruction &instruction);
  LogicalResult reportCycle(unsigned node, ArrayRef<int64_t> previous);

  const ScheduleInfo &info;
  Operation *loop;
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  /// Nodes by kind of instruction and ring.
  std::map<Key, SmallVector<unsigned, 4>> events;
  std::map<std::pair<Operation *, unsigned>, SmallVector<unsigned, 4>> begins,
      ends;
  /// Begins and ends of a role's turn.
  llvm::MapVector<std::pair<unsigned, StringAttr>,
                  std::pair<SmallVector<unsigned>, SmallVector<unsigned>>>
      turns;
};
} // namespace

void WaitGraph::connect(ArrayRef<unsigned> from, ArrayRef<unsigned> to,
                        int64_t distance) {
  for (unsigned u : from)
    for (unsigned v : to)
      edges.push_back({u, v, distance});
}

void WaitGraph::addRole(unsigned role, const RoleCode &code) {
  const RoleInfo &info = this->info.roles[role];
  // Instances that alternate over this loop advance together; one node stands
  // for all, n iterations apart.
  int64_t iterations = info.over == loop ? info.getInstances() : 1;
  for (int64_t i = 0; i < (info.isSplit() ? info.getInstances() : 1); ++i)
    addInstance(role, code, iterations);
}

void WaitGraph::addInstance(unsigned role, const RoleCode &code,
                            int64_t iterations) {
  std::optional<std::pair<unsigned, int64_t>> first, previous;
  for (const Instruction &instruction : code.steady) {
    bool isLoop = instruction.kind == InstructionKind::Loop;
    int64_t stage = instruction.at.stage;
    if (instruction.kind == InstructionKind::TurnBegin ||
        instruction.kind == InstructionKind::TurnEnd)
      stage = 0;
    for (int part = 0; part <= isLoop; ++part) {
      unsigned node = nodes.size();
      nodes.push_back({role, &instruction});
      if (previous)
        edges.push_back(
            {previous->first, node, iterations * (previous->second - stage)});
      else
        first = {node, stage};
      previous = {node, stage};
      if (isLoop)
        (part ? ends : begins)[{instruction.op, role}].push_back(node);
      else
        recordNode(node, role, instruction);
    }
  }
  if (previous)
    edges.push_back({previous->first, first->first,
                     iterations * (1 + previous->second - first->second)});
}

void WaitGraph::recordNode(unsigned node, unsigned role,
                           const Instruction &instruction) {
  switch (instruction.kind) {
  case InstructionKind::Op: {
    // A slot is full when its last field has been loaded, not when the bytes
    // were announced.
    const ScheduledOp &op = info.ops.find(instruction.op)->second;
    if (op.kind == OpClass::Load)
      events[{InstructionKind::Expect, op.ring}].push_back(node);
    break;
  }
  case InstructionKind::WaitFull:
  case InstructionKind::WaitEmpty:
  case InstructionKind::ArriveFull:
  case InstructionKind::ArriveEmpty:
    events[{instruction.kind, instruction.ring}].push_back(node);
    break;
  case InstructionKind::TurnBegin:
    turns[{role, instruction.turn}].first.push_back(node);
    break;
  case InstructionKind::TurnEnd:
    turns[{role, instruction.turn}].second.push_back(node);
    break;
  default:
    break;
  }
}

void WaitGraph::addRing(unsigned index) {
  const RingInfo &ring = info.rings[index];
  int id = static_cast<int>(index);
  if (ring.loop == loop) {
    InstructionKind filled = ring.countsBytes ? InstructionKind::Expect
                                              : InstructionKind::ArriveFull;
    connect(events[{filled, id}], events[{InstructionKind::WaitFull, id}], 0);
    connect(events[{InstructionKind::ArriveEmpty, id}],
            events[{InstructionKind::WaitEmpty, id}], ring.getDepth());
    return;
  }
  // The roles go through an inner loop together.
  for (Operation *inner : info.loops) {
    if (!ScheduleInfo::isInside(ring.loop, inner))
      continue;
    for (unsigned consumer : ring.consumers) {
      connect(begins[{inner, ring.producer}], ends[{inner, consumer}], 0);
      connect(begins[{inner, consumer}], ends[{inner, ring.producer}], 0);
    }
  }
}

void WaitGraph::addTurns() {
  for (auto &[key, nodes] : turns) {
    auto &[begin, end] = nodes;
    for (size_t i = 0; i < end.size(); ++i)
      edges.push_back(
          {end[i], begin[(i + 1) % end.size()], i + 1 == end.size() ? 1 : 0});
  }
}

/// Bellman-Ford on distances scaled so that a cycle of distance 0 is negative.
LogicalResult WaitGraph::verify() {
  int64_t scale = static_cast<int64_t>(edges.size()) + 1;
  std::vector<int64_t> distance(nodes.size(), 0), previous(nodes.size(), -1);
  for (size_t round = 0; round <= nodes.size(); ++round) {
    int64_t changed = -1;
    for (const Edge &edge : edges) {
      int64_t next = distance[edge.from] + edge.distance * scale - 1;
      if (next >= distance[edge.to])
        continue;
      distance[edge.to] = next;
      previous[edge.to] = edge.from;
      changed = edge.to;
    }
    if (changed < 0)
      return success();
    if (round == nodes.size())
      return reportCycle(changed, previous);
  }
  return success();
}

LogicalResult WaitGraph::reportCycle(unsigned node,
                                     ArrayRef<int64_t> previous) {
  for (size_t i = 0; i < nodes.size(); ++i)
    node = previous[node];
  SmallVector<unsigned> cycle{node};
  for (unsigned next = previous[node]; next != node; next = previous[next])
    cycle.push_back(next);
  SmallVector<std::string> names;
  for (unsigned index : llvm::reverse(cycle)) {
    const Node &at = nodes[index];
    InstructionKind kind = at.instruction->kind;
    std::string text = "@" + info.roles[at.role].getName().str();
    if (kind == InstructionKind::WaitFull || kind == InstructionKind::WaitEmpty)
      text += (kind == InstructionKind::WaitFull ? " waits for full @"
                                                 : " waits for empty @") +
              info.rings[at.instruction->ring].getName().str();
    else if (kind == InstructionKind::TurnBegin)
      text += " waits for turn @" + at.instruction->turn.getValue().str();
    else if (kind == InstructionKind::Loop)
      text += " runs loop @" + info.getLoopName(at.instruction->op).str();
    else
      continue;
    if (names.empty() || names.back() != text)
      names.push_back(text);
  }
  InFlightDiagnostic diag = loop->emitOpError("cyclic wait");
  if (isa<scf::ForOp>(loop))
    diag << " in loop @" << info.getLoopName(loop);
  return diag << ": " << llvm::join(names, " -> ");
}

LogicalResult mmx::tile::verifyNoCyclicWait(const ScheduleInfo &info,
                                            const RolePrograms &programs) {
  for (Operation *loop : info.loops)
    if (failed(WaitGraph(info, programs, loop).verify()))
      return failure();
  return success();
}
