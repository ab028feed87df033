//===- ScratchPlan.cpp - Where the tiles of a kernel stand ----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScratchPlan.h"

#include "Emitter.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::lowering;

/// Places start at cache lines.
static constexpr int64_t placeAlignment = 64;

bool mmx::lowering::isTile(Type type) {
  return isa<tile::SramType, tile::FragType>(type);
}

TileShape mmx::lowering::getTileShape(Type type) {
  ArrayRef<int64_t> shape;
  Type element;
  int64_t along = -1;
  if (auto frag = dyn_cast<tile::FragType>(type)) {
    shape = frag.getShape();
    element = frag.getElementType();
    along = frag.getAlong();
  } else {
    auto sram = cast<tile::SramType>(type);
    shape = sram.getShape();
    element = sram.getElementType();
  }
  if (shape.size() == 1)
    return {1, shape[0], element, 1, along};
  return {shape[0], shape[1], element, 2, -1};
}

bool mmx::lowering::loadsPanels(tile::LoadOp load) {
  tile::ViewType view = load.getView().getType();
  return view.getPanel() == panelRows && load.getDims().size() == 2 &&
         load.getDims()[0] == view.getAlong();
}

int64_t TileLayout::getRowStride(const TileShape &shape) const {
  int64_t size = getElementBytes(shape.element);
  if (!oddWords || shape.rank == 1 || size > 4)
    return llvm::alignTo(shape.cols, width);
  return (llvm::divideCeil(shape.cols * size, 4) | 1) * 4 / size;
}

ScratchPlan::ScratchPlan(tile::KernelOp kernel, TileLayout layout)
    : layout(layout) {
  Block &body = kernel.getBody().front();
  numberOps(body);
  findForms(body);
  addPlaces(body);
  shareForced(body);
  shareLoops(body);
  shareElementwise(body);
  assignOffsets();
}

void ScratchPlan::numberOps(Block &block) {
  for (Operation &op : block) {
    positions[&op] = nextPosition++;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      numberOps(*loop.getBody());
    ends[&op] = nextPosition - 1;
  }
}

/// The form in which a use wants its tile.
static bool wantsPanels(OpOperand &use) {
  auto mma = dyn_cast<tile::MmaOp>(use.getOwner());
  return mma && mma.getTransposeB() && &use == &mma.getBMutable();
}

// Ops are visited after their users, so that an alias passes on its forms.
void ScratchPlan::findForms(Block &block) {
  auto visit = [&](Value value, bool fromPanels) {
    if (!isTile(value.getType()))
      return;
    bool rows = !fromPanels, panels = false;
    for (OpOperand &use : value.getUses()) {
      if (isa<tile::ReadOp, tile::PutOp>(use.getOwner())) {
        rows |= needsRows(use.getOwner()->getResult(0));
        panels |= needsPanels(use.getOwner()->getResult(0));
      } else {
        (layout.panels && wantsPanels(use) ? panels : rows) = true;
      }
    }
    if (rows)
      rowUsers.insert(value);
    if (panels)
      panelUsers.insert(value);
  };
  for (Operation &op : llvm::reverse(block)) {
    auto load = dyn_cast<tile::LoadOp>(op);
    bool alias = isa<tile::ReadOp, tile::PutOp>(op);
    for (Value result : op.getResults())
      visit(result, alias || (layout.panels && load && loadsPanels(load)));
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      findForms(*loop.getBody());
      for (Value arg : loop.getRegionIterArgs())
        visit(arg, /*fromPanels=*/false);
    }
  }
}

//===----------------------------------------------------------------------===//
// Live ranges
//===----------------------------------------------------------------------===//

int64_t ScratchPlan::getDefinition(Value value) const {
  // Carried fragments are written while those that follow them are read.
  if (Operation *op = value.getDefiningOp())
    return 2 * ends.lookup(op) + !isa<scf::ForOp>(op);
  return 2 * positions.lookup(value.getParentBlock()->getParentOp()) + 1;
}

/// True if results of `map` may take the place of `operand`.
static bool isElementwise(tile::MapOp map, Value operand) {
  return map.getNumResults() != 0 &&
         getElementBytes(getTileShape(operand.getType()).element) ==
             getElementBytes(getTileShape(map.getType(0)).element) &&
         getTileShape(operand.getType()).rank ==
             getTileShape(map.getType(0)).rank;
}

int64_t ScratchPlan::getUse(OpOperand &use) const {
  Operation *owner = use.getOwner();
  Operation *ancestor =
      use.get().getParentBlock()->findAncestorOpInBlock(*owner);
  // A loop needs the values from around it until it ends.
  if (ancestor != owner)
    return 2 * ends.lookup(ancestor) + 1;
  int64_t read = 2 * positions.lookup(owner);
  if (isa<scf::ForOp, scf::YieldOp>(owner))
    return read;
  if (auto mma = dyn_cast<tile::MmaOp>(owner))
    return read + (use.get() != mma.getAcc() || &use == &mma.getAMutable() ||
                   &use == &mma.getBMutable());
  if (auto map = dyn_cast<tile::MapOp>(owner))
    return read + !isElementwise(map, use.get());
  return read + 1;
}

int64_t ScratchPlan::getLastUse(Value value) const {
  int64_t last = getDefinition(value);
  for (OpOperand &use : value.getUses())
    last = std::max(last, getUse(use));
  return last;
}

void ScratchPlan::addTile(Value tile) {
  if (!isTile(tile.getType()))
    return;
  TileShape shape = getTileShape(tile.getType());
  int64_t size = getElementBytes(shape.element);
  Range range = {getDefinition(tile), getLastUse(tile)};
  auto add = [&](int64_t bytes) {
    leaders.push_back(places.size());
    places.push_back({bytes, {range}});
    return places.size() - 1;
  };
  int64_t cols = layout.getRowStride(shape);
  // Rows that are not needed still stand for the fragments that share them.
  rowPlaces[tile] = add(needsRows(tile) ? shape.rows * cols * size : 0);
  if (needsPanels(tile))
    panelPlaces[tile] = add(llvm::alignTo(shape.rows, panelRows) * cols * size);
}

void ScratchPlan::addPlaces(Block &block) {
  for (Operation &op : block) {
    for (Value result : op.getResults())
      addTile(result);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (Value arg : loop.getRegionIterArgs())
        addTile(arg);
      addPlaces(*loop.getBody());
    }
    auto reduce = dyn_cast<tile::ReduceOp>(op);
    if (!reduce)
      continue;
    // Partial results, and their positions if asked for.
    TileShape shape = getTileShape(reduce.getTile().getType());
    int64_t elements = shape.rows * layout.getRowStride(shape);
    int64_t position = positions[&op];
    temporaries[&op] = places.size();
    leaders.push_back(places.size());
    places.push_back({elements * getElementBytes(shape.element) +
                          (reduce.getIndex() ? elements * 4 : 0),
                      {{2 * position, 2 * position + 1}}});
  }
}

//===----------------------------------------------------------------------===//
// Sharing
//===----------------------------------------------------------------------===//

unsigned ScratchPlan::find(unsigned place) const {
  while (leaders[place] != place)
    place = leaders[place];
  return place;
}

void ScratchPlan::unite(unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  if (a == b)
    return;
  leaders[b] = a;
  places[a].bytes = std::max(places[a].bytes, places[b].bytes);
  places[a].ranges.append(places[b].ranges);
}

void ScratchPlan::tryShare(Value a, Value b, int64_t meet) {
  TileShape first = getTileShape(a.getType()),
            second = getTileShape(b.getType());
  if (first.rows != second.rows || first.cols != second.cols ||
      getElementBytes(first.element) != getElementBytes(second.element))
    return;
  unsigned placeA = find(rowPlaces[a]), placeB = find(rowPlaces[b]);
  for (Range x : places[placeA].ranges)
    for (Range y : places[placeB].ranges)
      if (int64_t first = std::max(x.first, y.first),
          last = std::min(x.last, y.last);
          first <= last && !(first == meet && last == meet))
        return;
  unite(placeA, placeB);
}

// An alias is its operand; the result of a loop is its carried fragment.
void ScratchPlan::shareForced(Block &block) {
  for (Operation &op : block) {
    if (isa<tile::ReadOp, tile::PutOp>(op)) {
      unite(rowPlaces[op.getOperand(0)], rowPlaces[op.getResult(0)]);
      if (needsPanels(op.getResult(0)))
        unite(panelPlaces[op.getOperand(0)], panelPlaces[op.getResult(0)]);
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    for (auto [arg, result] :
         llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
      if (isTile(arg.getType()))
        unite(rowPlaces[arg], rowPlaces[result]);
    shareForced(*loop.getBody());
  }
}

void ScratchPlan::shareLoops(Block &block) {
  for (auto loop : block.getOps<scf::ForOp>()) {
    for (auto [arg, init, yielded] :
         llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(),
                   loop.getYieldedValues())) {
      if (!isTile(arg.getType()))
        continue;
      tryShare(arg, yielded, 2 * ends[loop]);
      tryShare(arg, init);
    }
    shareLoops(*loop.getBody());
  }
}

void ScratchPlan::shareElementwise(Block &block) {
  for (Operation &op : block) {
    if (auto mma = dyn_cast<tile::MmaOp>(op)) {
      if (mma.getAcc())
        tryShare(mma.getAcc(), mma.getResult());
    } else if (auto map = dyn_cast<tile::MapOp>(op)) {
      for (Value result : map.getResults())
        for (Value operand : map.getOperands_())
          if (!sharePlace(operand, result))
            tryShare(operand, result);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      shareElementwise(*loop.getBody());
    }
  }
}

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

/// Largest first, each at the lowest offset that no live place covers.
void ScratchPlan::assignOffsets() {
  SmallVector<unsigned> order, placed;
  for (unsigned i = 0; i < places.size(); ++i)
    if (find(i) == i && places[i].bytes != 0)
      order.push_back(i);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-places[a].bytes, a) < std::pair(-places[b].bytes, b);
  });
  auto conflict = [&](const Place &a, const Place &b) {
    for (Range x : a.ranges)
      for (Range y : b.ranges)
        if (x.first <= (y.last | 1) && y.first <= (x.last | 1))
          return true;
    return false;
  };
  for (unsigned index : order) {
    Place &place = places[index];
    llvm::sort(placed, [&](unsigned a, unsigned b) {
      return places[a].offset < places[b].offset;
    });
    place.offset = 0;
    for (unsigned other : placed) {
      const Place &taken = places[other];
      if (conflict(place, taken) && place.offset < taken.offset + taken.bytes &&
          taken.offset < place.offset + place.bytes)
        place.offset =
            llvm::alignTo(taken.offset + taken.bytes, placeAlignment);
    }
    placed.push_back(index);
    bytes = std::max<int64_t>(
        bytes, llvm::alignTo(place.offset + place.bytes, placeAlignment));
  }
}

int64_t ScratchPlan::getRowsOffset(Value tile) const {
  return places[find(rowPlaces.lookup(tile))].offset;
}

int64_t ScratchPlan::getPanelsOffset(Value tile) const {
  return places[find(panelPlaces.lookup(tile))].offset;
}

int64_t ScratchPlan::getTemporaryOffset(Operation *op) const {
  return places[find(temporaries.lookup(op))].offset;
}

bool ScratchPlan::sharePlace(Value a, Value b) const {
  return find(rowPlaces.lookup(a)) == find(rowPlaces.lookup(b));
}
