//===- ExecCheckPlan.cpp - Checks a buffer plan at sampled sizes ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/Exec/ExecShapes.h"
#include "mmx/Dialect/MMX/MMXInterfaces.h"
#include "mmx/Transforms/ExecLiveness.h"
#include "mmx/Transforms/ExecPasses.h"
#include <array>
#include <random>
#include <tuple>

namespace mmx::exec {
#define GEN_PASS_DEF_EXECCHECKPLAN
#include "mmx/Transforms/ExecPasses.h.inc"
} // namespace mmx::exec

using namespace mlir;
using namespace mmx;
using namespace mmx::exec;

using Symbols = std::array<int64_t, numStepSymbols>;

namespace {
/// A temporary with numbers for its place.
struct Place {
  const LiveRange *range;
  int64_t begin, end;
};

struct CheckPlan : exec::impl::ExecCheckPlanBase<CheckPlan> {
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (!program.getArena()) {
      program.emitOpError("expected a buffer plan, run exec-plan-buffers");
      return signalPassFailure();
    }
    ranges = getLiveRanges(program);
    for (const Symbols &symbols : drawSymbols())
      if (failed(check(symbols)))
        return signalPassFailure();
  }

private:
  /// Nothing, one of each, a block more or less, a long prompt, and values
  /// between 0 and 2^k for drawn k.
  SmallVector<Symbols> drawSymbols() const {
    SmallVector<Symbols> list = {
        {0, 0, 0, 0, 0, 0},     {1, 1, 1, 1, 1, 1},
        {15, 3, 1, 2, 64, 1},   {63, 1, 1, 8, 64, 1},
        {65, 2, 65, 8, 128, 2}, {1000000, 1, 1, 1, 1000000, 15625}};
    std::mt19937_64 random(seed);
    for (unsigned i = 0; i < samples; ++i) {
      Symbols symbols;
      for (int64_t &symbol : symbols)
        symbol = random() % (uint64_t(1) << (random() % 20));
      list.push_back(symbols);
    }
    return list;
  }

  LogicalResult check(const Symbols &symbols);
  LogicalResult checkPlace(const Place &place, int64_t arena,
                           const Symbols &symbols);

  SmallVector<LiveRange> ranges;
};
} // namespace

static std::string describe(const Symbols &symbols) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "(";
  llvm::interleaveComma(symbols, os);
  os << ")";
  return text;
}

LogicalResult CheckPlan::checkPlace(const Place &place, int64_t arena,
                                    const Symbols &symbols) {
  TempOp temp = place.range->temp;
  if (place.begin % 64 != 0)
    return temp.emitOpError("expected an offset divisible by 64, but got ")
           << place.begin << " at " << describe(symbols);
  if (place.begin < 0 || place.end > arena)
    return temp.emitOpError("expected a place within ")
           << arena << " bytes of arena, but got bytes " << place.begin
           << " to " << place.end << " at " << describe(symbols);
  return success();
}

LogicalResult CheckPlan::check(const Symbols &symbols) {
  int64_t arena = evaluate(getOperation().getArena()->getResult(0), symbols);
  SmallVector<Place> places;
  for (const LiveRange &range : ranges) {
    TempOp temp = range.temp;
    AffineExpr size = getSizeInBytes(temp);
    if (!size)
      return temp.emitOpError("expected a size that is affine in the symbols");
    int64_t begin = evaluate(temp.getOffset()->getResult(0), symbols);
    places.push_back({&range, begin, begin + evaluate(size, symbols)});
    if (failed(checkPlace(places.back(), arena, symbols)))
      return failure();
  }
  llvm::stable_sort(
      places, [](const Place &a, const Place &b) { return a.begin < b.begin; });
  for (auto [i, place] : llvm::enumerate(places)) {
    for (const Place &other : llvm::drop_begin(places, i + 1)) {
      if (other.begin >= place.end)
        break;
      if (other.begin == other.end || !place.range->overlaps(*other.range))
        continue;
      TempOp temp = place.range->temp, second = other.range->temp;
      InFlightDiagnostic diag =
          temp.emitOpError("expected bytes of its own, but shares ")
          << other.begin << " to " << std::min(place.end, other.end) << " at "
          << describe(symbols);
      diag.attachNote(second.getLoc()) << "with this one";
      return diag;
    }
  }
  return success();
}
