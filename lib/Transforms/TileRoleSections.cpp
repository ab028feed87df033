//===- TileRoleSections.cpp - Prologue, steady state and epilogue ---------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileRoleSteps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mmx::tile;

namespace {
/// Counts the products between a wait and its target, in the instructions of
/// the section in which the wait stands (W3).
class WaitCounter {
public:
  WaitCounter(const Section &step, int64_t stages)
      : step(step), stages(stages) {
    for (const Instruction &instruction : step)
      if (instruction.kind == InstructionKind::Op && isa<MmaOp>(instruction.op))
        products.push_back(&instruction);
    // The first steady steps differ by how they were reached; the least count
    // is safe for all. More iterations bring nothing new.
    for (int64_t n = std::max<int64_t>(stages, 1); n < stages + 4; ++n)
      for (int64_t t = 0; t < n + stages; ++t)
        countStep(n, t);
  }

  /// Steps count from the start in the prologue, from the end of the steady
  /// state in the epilogue; all steady steps are step `stages`.
  int64_t get(int64_t section, const Instruction &wait) const {
    auto it = counts.find({section, &wait});
    return it == counts.end() ? 0 : it->second;
  }

private:
  void countStep(int64_t n, int64_t t) {
    int64_t section = t < stages ? t : t < n ? stages : stages + 1 + t - n;
    for (const Instruction &wait : step) {
      if (wait.kind != InstructionKind::WaitMma)
        continue;
      int64_t iteration = t - wait.at.stage;
      if (iteration < 0 || iteration >= n)
        continue;
      int64_t count = countBetween(wait, iteration, n, t);
      auto [it, isNew] = counts.try_emplace({section, &wait}, count);
      if (!isNew)
        it->second = std::min(it->second, count);
    }
  }

  int64_t countBetween(const Instruction &wait, int64_t iteration, int64_t n,
                       int64_t t) const {
    const Instruction *target = *llvm::find_if(
        products, [&](const Instruction *p) { return p->op == wait.op; });
    int64_t issued = iteration + target->at.stage, count = 0;
    for (int64_t step = issued; step <= t; ++step)
      for (const Instruction *product : products) {
        int64_t other = step - product->at.stage;
        if (other < 0 || other >= n)
          continue;
        bool after = step > issued || product->at.order > target->at.order;
        bool before =
            step < t || std::tie(product->at.order, product->at.phase) <
                            std::tie(wait.at.order, wait.at.phase);
        count += after && before;
      }
    return count;
  }

  const Section &step;
  int64_t stages;
  SmallVector<const Instruction *> products;
  llvm::DenseMap<std::pair<int64_t, const Instruction *>, int64_t> counts;
};
} // namespace

/// Puts every turn around its instructions: begin before the first wait, end
/// after the last issue.
static void insertTurns(Section &section) {
  llvm::SetVector<StringAttr> turns;
  for (const Instruction &instruction : section)
    if (instruction.turn)
      turns.insert(instruction.turn);
  for (StringAttr turn : turns) {
    auto inTurn = [&](const Instruction &i) { return i.turn == turn; };
    size_t first = llvm::find_if(section, inTurn) - section.begin();
    size_t last =
        section.size() - 1 -
        (llvm::find_if(llvm::reverse(section), inTurn) - section.rbegin());
    llvm::SmallVector<int64_t, 2> stages;
    for (const Instruction &instruction : section)
      if (inTurn(instruction) &&
          !llvm::is_contained(stages, instruction.at.stage))
        stages.push_back(instruction.at.stage);
    Instruction begin;
    begin.kind = InstructionKind::TurnBegin;
    begin.turn = turn;
    begin.stages = stages;
    Instruction end = begin;
    end.kind = InstructionKind::TurnEnd;
    section.insert(section.begin() + last + 1, end);
    section.insert(section.begin() + first, begin);
  }
}

void mmx::tile::buildSections(RoleCode &code, const Section &step,
                              const ScheduleFaults &faults) {
  int64_t stages = 0;
  for (const Instruction &instruction : step)
    stages = std::max(stages, instruction.at.stage);
  code.stages = stages;
  WaitCounter counter(step, stages);
  auto build = [&](int64_t number, auto present) {
    Section section;
    for (const Instruction &instruction : step) {
      if (!present(instruction.at.stage))
        continue;
      section.push_back(instruction);
      if (instruction.kind == InstructionKind::WaitMma && number >= 0)
        section.back().pending =
            counter.get(faults.steadyWaitCounts ? stages : number, instruction);
    }
    insertTurns(section);
    return section;
  };
  for (int64_t q = 0; q < stages; ++q)
    code.prologue.push_back(build(q, [&](int64_t s) { return s <= q; }));
  code.steady = build(stages, [](int64_t) { return true; });
  for (int64_t e = 0; e < stages; ++e)
    code.epilogue.push_back(
        build(stages + 1 + e, [&](int64_t s) { return s > e; }));
  code.guarded = build(-1, [](int64_t) { return true; });
}
