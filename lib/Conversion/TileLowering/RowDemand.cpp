//===- RowDemand.cpp - How many rows of a tile anybody needs --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowDemand.h"

#include "ScratchPlan.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::lowering;

/// A maximum over more bounds costs more than it saves.
static constexpr unsigned maxBounds = 4;

RowDemand::RowDemand(tile::KernelOp kernel) : dominance(kernel) {
  while (visitBlock(kernel.getBody().front())) {
  }
}

bool RowDemand::need(Value tile, const Demand &demand) {
  if (!isTile(tile.getType()))
    return false;
  if (demand.all)
    return needAll(tile);
  Demand &mine = demands[tile];
  if (mine.all)
    return false;
  bool changed = false;
  for (const RowBound &bound : demand.bounds)
    if (!llvm::is_contained(mine.bounds, bound)) {
      mine.bounds.push_back(bound);
      changed = true;
    }
  if (mine.bounds.size() > maxBounds)
    return needAll(tile);
  return changed;
}

bool RowDemand::needAll(Value tile) {
  if (!isTile(tile.getType()))
    return false;
  Demand &mine = demands[tile];
  if (mine.all)
    return false;
  mine.all = true;
  mine.bounds.clear();
  return true;
}

bool RowDemand::visit(Operation *op) {
  auto demandOf = [&](Value value) { return demands.lookup(value); };
  if (auto store = dyn_cast<tile::StoreOp>(op)) {
    RowBound bound;
    bound.rows = store.getRows();
    if (!store.getIds()) {
      bound.view = store.getView();
      bound.dim = store.getDims()[0];
      bound.start = store.getIndices()[bound.dim];
    }
    TileShape shape = getTileShape(store.getTile().getType());
    if ((!bound.rows && !bound.view) || shape.along == 1)
      return needAll(store.getTile());
    return need(store.getTile(), {false, {bound}});
  }
  if (isa<tile::ReadOp, tile::PutOp>(op))
    return need(op->getOperand(0), demandOf(op->getResult(0)));
  if (auto mma = dyn_cast<tile::MmaOp>(op)) {
    Demand demand = demandOf(mma.getResult());
    bool changed = needAll(mma.getB());
    changed |=
        mma.getTransposeA() ? needAll(mma.getA()) : need(mma.getA(), demand);
    return (mma.getAcc() && need(mma.getAcc(), demand)) | changed;
  }
  if (auto map = dyn_cast<tile::MapOp>(op)) {
    bool changed = false;
    for (Value operand : map.getOperands_())
      for (Value result : map.getResults())
        changed |= getTileShape(operand.getType()).along == 1
                       ? needAll(operand)
                       : need(operand, demandOf(result));
    return changed;
  }
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    if (reduce.getDim() == 0)
      return needAll(reduce.getTile());
    bool changed = need(reduce.getTile(), demandOf(reduce.getResult()));
    if (Value index = reduce.getIndex())
      changed |= need(reduce.getTile(), demandOf(index));
    return changed;
  }
  if (auto scan = dyn_cast<tile::ScanOp>(op))
    return need(scan.getTile(), demandOf(scan.getResult()));
  return false;
}

bool RowDemand::visitBlock(Block &block) {
  bool changed = false;
  for (Operation &op : llvm::reverse(block)) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop) {
      changed |= visit(&op);
      continue;
    }
    for (auto [arg, init, yielded, result] :
         llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(),
                   loop.getYieldedValues(), loop.getResults())) {
      changed |= need(arg, demands.lookup(result));
      changed |= need(init, demands.lookup(arg));
      // The next iteration has bounds of its own.
      Demand next = demands.lookup(arg);
      for (const RowBound &bound : next.bounds)
        for (Value value : {bound.rows, bound.start})
          next.all |= value && !loop.isDefinedOutsideOfLoop(value);
      changed |= need(yielded, next);
    }
    changed |= visitBlock(*loop.getBody());
  }
  return changed;
}

ArrayRef<RowBound> RowDemand::getBounds(Value tile, Operation *at) const {
  auto found = demands.find(tile);
  if (found == demands.end())
    return {};
  for (const RowBound &bound : found->second.bounds)
    for (Value value : {bound.rows, bound.start})
      if (value && !dominance.properlyDominates(value, at))
        return {};
  return found->second.bounds;
}

void mmx::lowering::hoistScalars(tile::KernelOp kernel) {
  kernel.walk([](Block *block) {
    if (isa<tile::MapOp>(block->getParentOp()))
      return;
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      if (op.getNumRegions() != 0 || op.hasTrait<OpTrait::IsTerminator>() ||
          op.getNumResults() == 0 ||
          llvm::any_of(op.getResultTypes(), isTile) ||
          llvm::any_of(op.getOperandTypes(), isTile))
        continue;
      Operation *last = nullptr;
      for (Value operand : op.getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (def && def->getBlock() == block &&
            (!last || last->isBeforeInBlock(def)))
          last = def;
      }
      if (last)
        op.moveAfter(last);
      else
        op.moveBefore(block, block->begin());
    }
  });
}
