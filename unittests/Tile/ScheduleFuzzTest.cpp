//===- ScheduleFuzzTest.cpp - Random schedules ----------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random stages, orders, depths and inflights on every program. Whatever the
// verifier accepts must give the sequential result in every run. Refused
// schedules run too, to see how many refusals were needed.
//
// MMX_FUZZ_SCHEDULES sets the number of schedules, MMX_FUZZ_SEED the first one.
//
//===----------------------------------------------------------------------===//

#include "ScheduledProgram.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <random>

using namespace mlir;
using namespace mmx::tile;

namespace {
class Mutator {
public:
  explicit Mutator(uint64_t seed) : random(seed) {}

  /// Changes the schedule of `kernel`; true if an op was moved.
  bool mutate(KernelOp kernel) {
    changeDepths(kernel);
    bool moved = false;
    kernel.walk([&](Operation *op) {
      if (auto at = op->getAttrOfType<AtAttr>("at"))
        moved |= move(op, at);
      else if (auto loop = op->getAttrOfType<LoopAttr>("at"))
        op->setAttr("at",
                    LoopAttr::get(op->getContext(), loop.getName(),
                                  loop.getOrder() * scale, loop.getTurn()));
    });
    return moved;
  }

private:
  /// Leaves room between the orders of the text.
  static constexpr int64_t scale = 100;

  int64_t pick(ArrayRef<int64_t> values) {
    return values[random() % values.size()];
  }
  bool happens(unsigned percent) { return random() % 100 < percent; }

  void changeDepths(KernelOp kernel) {
    SmallVector<RingAttr> rings;
    for (RingAttr ring : kernel.getScheduleAttr().getRings())
      rings.push_back(RingAttr::get(ring.getContext(), ring.getName(),
                                    pick({1, 2, 2, 3, 4, 4})));
    kernel.setScheduleAttr(ScheduleAttr::get(
        kernel.getContext(), kernel.getScheduleAttr().getRoles(), rings));
  }

  bool move(Operation *op, AtAttr at) {
    auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
    bool inner = loop && loop.getBody()->getOps<scf::ForOp>().empty();
    int64_t order = at.getOrder() * scale, stage = at.getStage();
    int64_t inflight = at.getInflight();
    bool moved = false;
    if (inner && happens(12)) {
      stage = pick({0, 1, 2});
      moved = true;
    }
    if (inner && happens(20)) {
      order = static_cast<int64_t>(random() % 9000) - 1000;
      moved = true;
    }
    if (at.hasInflight())
      inflight = pick({0, 1, 2});
    op->setAttr("at", AtAttr::get(op->getContext(), at.getRole(), order, stage,
                                  at.getRing(), at.getField(), inflight,
                                  at.getMulticast(), at.getTurn()));
    return moved;
  }

  std::mt19937_64 random;
};

struct Program {
  std::string file;
  std::vector<int64_t> extents;
};
} // namespace

static int64_t getNumber(const char *variable, int64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::atoll(text) : otherwise;
}

static std::string classify(const std::string &rejection) {
  auto has = [&](const char *text) {
    return rejection.find(text) != std::string::npos;
  };
  if (has("cyclic wait"))
    return "cyclic wait";
  if (has("alternating"))
    return "alternation";
  if (has("uses a value before"))
    return "order";
  if (has("write of iteration"))
    return "own ring";
  return "other";
}

TEST(ScheduleFuzz, AcceptedSchedulesHold) {
  const std::vector<Program> programs = {
      {"lightning.mlir", {26, 26, 26, 26}},
      {"attention.mlir", {24, 24, 24, 24}},
      {"gemm.mlir", {20, 12, 12, 20, 20}},
      {"gemm-bias.mlir", {20, 12, 12, 20, 20}},
      {"grouped.mlir", {}},
      {"decode.mlir", {5, 5}}};
  int64_t count = getNumber("MMX_FUZZ_SCHEDULES", 10000);
  int64_t first = getNumber("MMX_FUZZ_SEED", 1);
  std::map<std::string, int64_t> statistics;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t seed = first * 1000003 + i;
    const Program &program = programs[seed % programs.size()];
    ScheduledProgram scheduled(program.file, program.extents);
    bool moved = Mutator(seed).mutate(scheduled.getKernel());
    Outcomes outcomes = scheduled.run(4);
    if (!outcomes.isRejected()) {
      EXPECT_TRUE(outcomes.allEqual())
          << program.file << " seed " << seed << ": " << outcomes;
      ++statistics[moved ? "accepted, ops moved" : "accepted, depths only"];
      continue;
    }
    std::string kind = classify(outcomes.rejection);
    if (kind == "cyclic wait" || kind == "alternation") {
      ScheduleFaults faults;
      faults.skipVerifier = true;
      Outcomes unverified = scheduled.run(12, faults);
      kind += unverified.allEqual() ? ", no fault seen" : ", faults when run";
    }
    ++statistics["refused: " + kind];
  }
  for (auto &[kind, number] : statistics) {
    std::cout << "  " << kind << ": " << number << "\n";
    RecordProperty(kind, std::to_string(number));
  }
  // The generator must keep finding schedules of interest.
  EXPECT_GT(statistics["accepted, ops moved"], count / 50);
}
