//===- ScheduleTest.cpp - Schedules that hold and schedules that break ----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduledProgram.h"
#include "gtest/gtest.h"

using namespace mmx::tile;
using Edits = ScheduledProgram::Edits;

static constexpr int seeds = 200;

static std::vector<int64_t> tokens(int64_t n) { return {n, n, n, n}; }

/// Rows and columns of the operands of a product of `tiles` tiles.
static std::vector<int64_t> product(int64_t tiles, int64_t blocks) {
  return {4 * tiles, 4 * blocks, 4 * blocks, 4 * tiles, 4 * tiles};
}

static Edits blocks(const std::string &counts, int tiles) {
  return {
      {"dense<[3, 3, 3, 3, 3]> : tensor<5xi32>",
       "dense<" + counts + "> : tensor<" + std::to_string(tiles) + "xi32>"}};
}

static Edits operator+(Edits a, const Edits &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

static Edits depths(const std::string &ring, int from, int to) {
  auto text = [&](int depth) {
    return "@" + ring + "<depth = " + std::to_string(depth) + ">";
  };
  return {{text(from), text(to)}};
}

static void expectHolds(const std::string &file,
                        const std::vector<int64_t> &extents,
                        const Edits &edits = {}) {
  Outcomes outcomes = ScheduledProgram(file, extents, edits).run(seeds);
  EXPECT_TRUE(outcomes.allEqual()) << outcomes;
}

//===----------------------------------------------------------------------===//
// Schedules that must hold
//===----------------------------------------------------------------------===//

TEST(ScheduleHolds, Lightning) {
  for (int64_t n : {0, 3, 8, 26})
    expectHolds("lightning.mlir", tokens(n));
}

// Packed sequences, one of them empty and one of a single token.
TEST(ScheduleHolds, LightningPacked) {
  expectHolds("lightning-packed.mlir", {5, 23, 23});
  expectHolds("lightning-packed.mlir", {5, 23, 23},
              depths("kv", 4, 2) + depths("q", 4, 2));
}

TEST(ScheduleHolds, LightningDepths) {
  expectHolds("lightning.mlir", tokens(52),
              depths("kv", 4, 2) + depths("q", 4, 2));
  expectHolds("lightning.mlir", tokens(26),
              Edits{{", alternate = 2 over @i", ""}} + depths("kv", 4, 3) +
                  depths("q", 4, 3));
}

TEST(ScheduleHolds, Attention) {
  expectHolds("attention.mlir", tokens(24));
  expectHolds("attention.mlir", tokens(24), {{"order = 80", "order = 65"}});
  expectHolds("attention.mlir", tokens(24), {{", turn = @t", ""}});
  expectHolds("attention.mlir", tokens(24), depths("k", 2, 3));
  expectHolds("attention.mlir", tokens(24),
              depths("k", 2, 1) + depths("v", 2, 1));
}

TEST(ScheduleHolds, Gemm) {
  expectHolds("gemm.mlir", product(5, 3));
  expectHolds("gemm.mlir", product(5, 3), depths("ab", 4, 3));
  expectHolds("gemm.mlir", product(5, 7),
              depths("ab", 4, 5) + blocks("[7, 7, 7, 7, 7]", 5));
  expectHolds("gemm.mlir", product(5, 1),
              depths("ab", 4, 2) + blocks("[1, 1, 1, 1, 1]", 5));
  expectHolds("gemm.mlir", product(7, 4), blocks("[3, 1, 4, 0, 2, 3, 1]", 7));
  expectHolds("gemm-bias.mlir", product(5, 3));
}

TEST(ScheduleHolds, Grouped) {
  expectHolds("grouped.mlir", {});
  expectHolds("grouped.mlir", {}, depths("w", 2, 1));
  expectHolds("grouped.mlir", {0},
              {{",\n                     dense<[[0, 0, 4], [0, 4, 1], [1, 5, "
                "3], [2, 8, 4]]> : tensor<4x3xi32>",
                ", \"zero\""}});
}

// Fewer iterations than stages, and as many: two stages, guarded steps.
TEST(ScheduleHolds, ShortTrips) {
  for (const char *length : {"0", "4", "8"})
    expectHolds("grouped.mlir", {},
                {{"%c12 = arith.constant 12 :",
                  std::string("%c12 = arith.constant ") + length + " :"}});
}

TEST(ScheduleHolds, Decode) {
  expectHolds("decode.mlir", {5, 5});
  expectHolds("decode.mlir", {5, 5}, depths("st", 2, 4));
}

//===----------------------------------------------------------------------===//
// Schedules that break: refused, and seen by the machine when they are not
//===----------------------------------------------------------------------===//

namespace {
struct Broken {
  std::string file;
  std::vector<int64_t> extents;
  Edits edits = {};
  ScheduleFaults faults = {};
};
} // namespace

/// The verifier refuses it with a message that has `message` in it.
static void expectRejected(const Broken &broken, const std::string &message) {
  Outcomes outcomes =
      ScheduledProgram(broken.file, broken.extents, broken.edits)
          .run(1, broken.faults);
  EXPECT_NE(outcomes.rejection.find(message), std::string::npos) << outcomes;
}

/// Without the verifier at least `least` of 200 runs fail, some with `outcome`.
static void expectSeen(Broken broken, const std::string &outcome, int least,
                       bool ghostPhases = true) {
  broken.faults.skipVerifier = true;
  Outcomes outcomes =
      ScheduledProgram(broken.file, broken.extents, broken.edits)
          .run(seeds, broken.faults, ghostPhases);
  EXPECT_FALSE(outcomes.isRejected()) << outcomes;
  EXPECT_GE(outcomes.getNumFailed(), least) << outcomes;
  EXPECT_GT(outcomes.count(outcome), 0) << outcomes;
}

static ScheduleFaults wrongCount(const std::string &ring, int64_t count) {
  ScheduleFaults faults;
  faults.emptyCount[ring] = count;
  return faults;
}

static ScheduleFaults release(const std::string &ring, const std::string &role,
                              Position at) {
  ScheduleFaults faults;
  faults.releases.push_back({ring, role, at});
  return faults;
}

static ScheduleFaults copies(const std::string &role,
                             const std::vector<int64_t> &orders,
                             int64_t count) {
  ScheduleFaults faults;
  for (int64_t order : orders)
    faults.copies.push_back({role, order, count});
  return faults;
}

TEST(ScheduleBreaks, RingDepthOfAlternatingReaders) {
  Broken broken{"lightning.mlir", tokens(26),
                depths("kv", 4, 3) + depths("q", 4, 3)};
  expectRejected(broken, "role @out has 2 instances alternating over @i and "
                         "depth 3 is not divisible by 2");
  // More blocks than the ring must go round for the parity to alias. Without
  // ghost phases the other rings keep the instances in step.
  broken.extents = tokens(100);
  expectSeen(broken, "parity alias", 1);
}

TEST(ScheduleBreaks, AlternateOuterLoopNeedsTurn) {
  Broken broken{"gemm.mlir", product(5, 3), {{", turn = @m", ""}}};
  expectRejected(broken, "it is filled in the inner loop @k; change the depth "
                         "or put its waits in a turn");
  expectSeen(broken, "parity alias", 10);
  expectSeen(broken, "wrong", 10, /*ghostPhases=*/false);
}

TEST(ScheduleBreaks, AlternatingWriter) {
  // Only the producer alternates over the loop that fills the ring.
  Edits writers{{"@ld<warps = 1>", "@ld<warps = 1, alternate = 2 over @b>"},
                {"@up<warps = 4, alternate = 2 over @b>", "@up<warps = 4>"}};
  Broken broken{"decode.mlir", {5, 5}, writers + depths("st", 2, 3)};
  expectRejected(broken, "role @ld has 2 instances alternating over @b and "
                         "depth 3 is not divisible by 2");
  expectHolds("decode.mlir", {5, 5}, writers + depths("st", 2, 4));
  expectHolds(
      "decode.mlir", {5, 5},
      Edits{{"@ld<warps = 1>", "@ld<warps = 1, alternate = 2 over @b>"}});
}

TEST(ScheduleBreaks, ReleaseBeforeLastRead) {
  Broken broken{
      "lightning.mlir", tokens(26), {}, release("kv", "out", {0, 10, 60})};
  expectRejected(broken, "role @out releases the slot at (stage 0, order 10) "
                         "before its last read ends at (stage 0, order 60)");
  expectSeen(broken, "wrong", 150);
}

TEST(ScheduleBreaks, ReleaseBeforeReadIsOver) {
  Broken broken{
      "lightning.mlir", tokens(26), {}, release("q", "out", {0, 0, -100})};
  expectRejected(broken, "ring @q: role @out releases the slot");
  expectSeen(broken, "wrong", 150);
  // After the copy to registers was issued, before anything consumed it.
  broken.faults = release("q", "out", {0, 0, 60});
  expectRejected(broken, "ring @q: role @out releases the slot");
  expectSeen(broken, "wrong", 100);
}

TEST(ScheduleBreaks, Fences) {
  Broken broken{"lightning.mlir", tokens(26)};
  broken.faults.arriveBeforeFence = "s";
  expectRejected(broken, "ring @s: no proxy fence between the write by @state "
                         "and its arrive");
  expectSeen(broken, "wrong", 100);
  broken.faults = ScheduleFaults();
  broken.faults.noFence = "s";
  expectRejected(broken, "ring @s: no proxy fence");
  expectSeen(broken, "wrong", 150);
  broken.faults.noFence = "ost";
  expectRejected(broken, "no proxy fence before the store of its slot");
  expectSeen(broken, "wrong", 150);
}

TEST(ScheduleBreaks, EmptyCounts) {
  Broken broken{"lightning.mlir", tokens(26), {}, wrongCount("kv", 8)};
  expectRejected(broken, "ring @kv: empty barrier counts 8, schedule needs 16");
  expectSeen(broken, "over-arrival", 150);
  broken.faults = wrongCount("kv", 17);
  expectSeen(broken, "deadlock", 150);
  broken.faults = wrongCount("q", 4);
  expectRejected(broken, "ring @q: empty barrier counts 4, schedule needs 8");
  expectSeen(broken, "over-arrival", 100);
  Broken split{"attention.mlir", tokens(24), {}, wrongCount("k", 4)};
  expectRejected(split, "ring @k: empty barrier counts 4, schedule needs 8");
  expectSeen(split, "deadlock", seeds);
}

TEST(ScheduleBreaks, CyclicWaits) {
  Broken skew{"lightning.mlir", tokens(26),
              Edits{{", alternate = 2 over @i", ""}} + depths("kv", 4, 1) +
                  depths("q", 4, 1)};
  expectRejected(skew, "cyclic wait in loop @i");
  expectSeen(skew, "deadlock", seeds);
  Broken inner{"gemm.mlir", product(5, 3), depths("ab", 4, 1)};
  expectRejected(inner, "cyclic wait in loop @k");
  expectSeen(inner, "deadlock", seeds);
  Broken gathered{"grouped.mlir", {}, depths("x", 2, 1)};
  expectRejected(gathered, "cyclic wait in loop @k");
  expectSeen(gathered, "deadlock", seeds);
  // The bias is loaded after the main loop and read before it.
  Broken outer{"gemm-bias.mlir", product(5, 7),
               Edits{{"@ld, order = -10", "@ld, order = 20"}} +
                   blocks("[7, 7, 7, 7, 7]", 5)};
  expectRejected(outer, "cyclic wait in loop @t");
  expectSeen(outer, "deadlock", seeds);
}

TEST(ScheduleBreaks, MissingInflight) {
  expectRejected({"gemm.mlir", product(5, 3), {{", inflight = 1", ""}}},
                 "reads a slot but is never waited for inside its loop; give "
                 "it inflight = n");
}

TEST(ScheduleBreaks, RegisterCopies) {
  expectSeen({"lightning.mlir", tokens(26), {}, copies("state", {40}, 1)},
             "wrong", 50);
  expectSeen({"attention.mlir",
              tokens(24),
              {{"order = 80", "order = 65"}},
              copies("mm", {65}, 1)},
             "wrong", 80);
  expectSeen({"grouped.mlir", {}, {}, copies("mm", {40}, 1)}, "wrong", 80);
}

TEST(ScheduleBreaks, SteadyWaitCountsInPrologue) {
  Broken broken{"attention.mlir", tokens(24)};
  broken.faults.steadyWaitCounts = true;
  expectSeen(broken, "accumulator read before its wait", 50);
}

TEST(ScheduleBreaks, InplaceSlotListedTwice) {
  Edits write{{"inplace", "write"}};
  expectRejected({"decode.mlir", {5, 5}, write},
                 "may overtake 'tile.load' of the same view");
  write.push_back({"[3, 0, 4, 1, 5]", "[3, 0, 3, 0, 3]"});
  expectSeen({"decode.mlir", {5, 5}, write}, "wrong", 50);
}

TEST(ScheduleBreaks, SkewedRescale) {
  // The rescaled accumulator must be ready one stage before its product.
  expectRejected({"attention.mlir",
                  tokens(24),
                  {{"{at = #tile.at<@mm, order = 70>}",
                    "{at = #tile.at<@mm, order = 5>}"}}},
                 "'tile.map' op at (stage 0, order 5) uses a value before");
}

TEST(ScheduleBreaks, LocalRing) {
  // Depths 1 and 2 with alternating instances that count their own iterations.
  expectHolds("lightning.mlir", tokens(26), depths("ost", 1, 2));
  expectRejected({"lightning.mlir",
                  tokens(26),
                  {{"{at = #tile.at<@out, order = 80>}",
                    "{at = #tile.at<@out, order = 5, stage = 1>}"}}},
                 "");
  expectHolds("lightning.mlir", tokens(26),
              depths("ost", 1, 2) +
                  Edits{{"{at = #tile.at<@out, order = 80>}",
                         "{at = #tile.at<@out, order = 65, stage = 1>}"}});
  expectRejected({"lightning.mlir",
                  tokens(26),
                  {{"{at = #tile.at<@out, order = 80>}",
                    "{at = #tile.at<@out, order = 75, stage = 1>}"}}},
                 "it comes after the write of iteration + 1 into its slot");
}
