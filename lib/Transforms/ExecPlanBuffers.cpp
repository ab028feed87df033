//===- ExecPlanBuffers.cpp - Places of temporaries in the arena -----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mmx/Dialect/Exec/ExecShapes.h"
#include "mmx/Dialect/MMX/MMXInterfaces.h"
#include "mmx/Transforms/ExecLiveness.h"
#include "mmx/Transforms/ExecPasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mmx::exec {
#define GEN_PASS_DEF_EXECPLANBUFFERS
#include "mmx/Transforms/ExecPasses.h.inc"
} // namespace mmx::exec

using namespace mlir;
using namespace mmx;
using namespace mmx::exec;

static constexpr int64_t alignment = 64;

namespace {
/// A temporary and how many units it takes and where, in its region.
struct Item {
  LiveRange range;
  AffineExpr bytes;
  int64_t units;
  unsigned region = 0;
  int64_t begin = 0;

  int64_t end() const { return begin + units; }
};

/// The temporaries whose size is a multiple of `alignment * unit`.
struct ArenaRegion {
  AffineExpr unit;
  SmallVector<Item *> own;    // to be placed
  SmallVector<Item *> placed; // by rising begin
  int64_t height = 0;         // in units
};

class Planner {
public:
  explicit Planner(ProgramOp program)
      : context(program.getContext()), program(program) {}

  LogicalResult plan();
  void setOffsets();
  void print(raw_ostream &os, ArrayRef<int64_t> symbols);
  ArrayRef<Item> getItems() const { return items; }
  unsigned countShared() const;

private:
  LogicalResult createItems();
  SmallVector<unsigned> orderRegions() const;
  bool placeInGap(Item &item, unsigned region);
  void insert(Item &item, unsigned region, int64_t begin);
  AffineExpr getOffset(const Item &item) const;
  AffineExpr getRegionStart(unsigned region) const;
  AffineExpr sumSizes() const;
  int64_t getMostLive(ArrayRef<int64_t> symbols) const;

  MLIRContext *context;
  ProgramOp program;
  std::vector<Item> items;
  std::vector<ArenaRegion> regions;
};
} // namespace

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// `bytes` as units of `alignment * unit`, `unit` without constant factor.
static std::pair<AffineExpr, int64_t> splitSize(AffineExpr bytes) {
  MLIRContext *context = bytes.getContext();
  if (auto constant = dyn_cast<AffineConstantExpr>(bytes))
    return {getAffineConstantExpr(1, context),
            llvm::divideCeil(constant.getValue(), alignment)};
  int64_t factor = bytes.getLargestKnownDivisor();
  if (factor % alignment == 0)
    return {bytes.floorDiv(factor), factor / alignment};
  int64_t common = std::gcd(factor, alignment);
  return {bytes.floorDiv(common).ceilDiv(alignment / common), 1};
}

LogicalResult Planner::createItems() {
  llvm::MapVector<AffineExpr, unsigned> numbers;
  for (const LiveRange &range : getLiveRanges(program)) {
    TempOp temp = range.temp;
    AffineExpr bytes = getSizeInBytes(temp);
    if (!bytes)
      return temp.emitOpError("expected a size that is affine in the symbols");
    auto [unit, units] = splitSize(bytes);
    auto [it, isNew] = numbers.try_emplace(unit, numbers.size());
    if (isNew)
      regions.push_back({unit, {}, {}});
    items.push_back({range, bytes, units, it->second});
  }
  for (Item &item : items)
    regions[item.region].own.push_back(&item);
  return success();
}

/// Regions with larger units first, so that smaller ones find their gaps.
SmallVector<unsigned> Planner::orderRegions() const {
  SmallVector<unsigned> order;
  SmallVector<unsigned> left =
      llvm::to_vector(llvm::seq<unsigned>(0, regions.size()));
  while (!left.empty()) {
    auto isTop = [&](unsigned candidate) {
      return llvm::none_of(left, [&](unsigned other) {
        return other != candidate &&
               isNeverLarger(regions[candidate].unit, regions[other].unit);
      });
    };
    auto it = llvm::find_if(left, isTop);
    if (it == left.end())
      it = left.begin();
    order.push_back(*it);
    left.erase(it);
  }
  return order;
}

void Planner::insert(Item &item, unsigned number, int64_t begin) {
  ArenaRegion &region = regions[number];
  item.region = number;
  item.begin = begin;
  auto it = llvm::upper_bound(
      region.placed, begin,
      [](int64_t value, const Item *other) { return value < other->begin; });
  region.placed.insert(it, &item);
  region.height = std::max(region.height, item.end());
}

/// Puts the item into the smallest gap between those that are live with it;
/// false if none below the region's height is large enough.
bool Planner::placeInGap(Item &item, unsigned number) {
  const ArenaRegion &region = regions[number];
  int64_t top = 0, best = -1, bestSize = 0;
  auto consider = [&](int64_t end) {
    if (end - top >= item.units && (best < 0 || end - top < bestSize)) {
      best = top;
      bestSize = end - top;
    }
  };
  for (const Item *other : region.placed) {
    if (!other->range.overlaps(item.range))
      continue;
    consider(other->begin);
    top = std::max(top, other->end());
  }
  consider(region.height);
  if (best < 0)
    return false;
  insert(item, number, best);
  return true;
}

/// The first place above everything that is live with the item.
static int64_t getTop(const ArenaRegion &region, const Item &item) {
  int64_t top = 0;
  for (const Item *other : region.placed)
    if (other->range.overlaps(item.range))
      top = std::max(top, other->end());
  return top;
}

LogicalResult Planner::plan() {
  if (failed(createItems()))
    return failure();
  SmallVector<unsigned> done;
  for (unsigned number : orderRegions()) {
    ArenaRegion &region = regions[number];
    llvm::sort(region.own, [](const Item *a, const Item *b) {
      return a->units != b->units ? a->units > b->units : a < b;
    });
    for (Item *item : region.own) {
      bool isPlaced = llvm::any_of(done, [&](unsigned other) {
        return isNeverLarger(region.unit, regions[other].unit) &&
               placeInGap(*item, other);
      });
      if (!isPlaced && !placeInGap(*item, number))
        insert(*item, number, getTop(region, *item));
    }
    done.push_back(number);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

AffineExpr Planner::getRegionStart(unsigned number) const {
  AffineExpr start = getAffineConstantExpr(0, context);
  for (const ArenaRegion &region : ArrayRef(regions).take_front(number))
    start = start + region.unit * (region.height * alignment);
  return start;
}

AffineExpr Planner::getOffset(const Item &item) const {
  return getRegionStart(item.region) +
         regions[item.region].unit * (item.begin * alignment);
}

void Planner::setOffsets() {
  for (Item &item : items)
    item.range.temp.setOffset(getStepMap(getOffset(item), context));
  program.setArena(getStepMap(getRegionStart(regions.size()), context));
}

//===----------------------------------------------------------------------===//
// The plan as text
//===----------------------------------------------------------------------===//

AffineExpr Planner::sumSizes() const {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (const Item &item : items)
    sum = sum + item.bytes;
  return simplifyAffineExpr(sum, /*numDims=*/0, numStepSymbols);
}

/// Bytes that are live during the launch that has most: no plan takes less.
int64_t Planner::getMostLive(ArrayRef<int64_t> symbols) const {
  int64_t most = 0, count = 0;
  for (const Item &item : items)
    count = std::max(count, item.range.last + 1);
  std::vector<int64_t> change(count + 1);
  for (const Item &item : items) {
    int64_t size = evaluate(item.bytes, symbols);
    change[item.range.first] += size;
    change[item.range.last + 1] -= size;
  }
  for (int64_t live = 0; int64_t delta : change)
    most = std::max(most, live += delta);
  return most;
}

unsigned Planner::countShared() const {
  return llvm::count_if(items, [&](const Item &item) {
    return llvm::any_of(items, [&](const Item &other) {
      return &other < &item && other.region == item.region &&
             other.begin < item.end() && item.begin < other.end();
    });
  });
}

void Planner::print(raw_ostream &os, ArrayRef<int64_t> symbols) {
  AffineExpr arena = getRegionStart(regions.size());
  AffineExpr sum = sumSizes();
  os << "plan of @" << program.getSymName() << ": " << items.size()
     << " temporaries, " << countShared() << " of them in reused memory\n"
     << "  arena " << arena << "\n  sum   " << sum << "\n  at (";
  llvm::interleaveComma(symbols, os);
  os << "): arena " << evaluate(arena, symbols) << ", sum "
     << evaluate(sum, symbols) << ", most live at once " << getMostLive(symbols)
     << " bytes\n";
  for (const Item &item : items)
    os << "  launches " << item.range.first << " to " << item.range.last << ": "
       << item.bytes << " bytes at " << getOffset(item) << "\n";
}

namespace {
struct PlanBuffers : exec::impl::ExecPlanBuffersBase<PlanBuffers> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<int64_t> symbols(at.begin(), at.end());
    if (symbols.empty())
      symbols = {512, 4, 4, 8, 4096, 16};
    if (symbols.size() != numStepSymbols) {
      getOperation().emitOpError("expected option 'at' with ")
          << numStepSymbols << " values, but got " << symbols.size();
      return signalPassFailure();
    }
    ProgramOp program = getOperation();
    // Unused temporaries have no range and so no place.
    for (TempOp temp :
         llvm::make_early_inc_range(program.getBody().getOps<TempOp>()))
      if (temp.use_empty())
        temp.erase();
    Planner planner(program);
    if (failed(planner.plan()))
      return signalPassFailure();
    planner.setOffsets();
    numTemporaries += planner.getItems().size();
    numShared += planner.countShared();
    if (printPlan)
      planner.print(llvm::errs(), symbols);
  }
};
} // namespace
