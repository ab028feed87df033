//===- TileSplits.cpp - Which part of a tile an instance has --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows the dimension that the instances of a role split (R3). A fragment of
// the role is split along tile dimension 0 or 1, or every instance has all of
// it. Products are split as the role says; their operands follow.
//
//===----------------------------------------------------------------------===//

#include "mmx/Transforms/TileRoleCode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx::tile;

/// Every instance has the whole tile.
static constexpr int64_t whole = -1;

namespace {
class SplitSolver {
public:
  SplitSolver(const ScheduleInfo &info, unsigned role)
      : info(info), role(role) {
    for (auto &[op, scheduled] : info.ops)
      if (scheduled.role == role)
        ops.push_back(op);
  }

  LogicalResult solve(llvm::DenseMap<Value, int64_t> &result);

private:
  LogicalResult visit(Operation *op);
  LogicalResult visitMma(MmaOp mma);
  LogicalResult visitLoops();
  LogicalResult set(Operation *op, Value value, int64_t dim);
  /// Makes the dims of two values the same.
  LogicalResult unify(Operation *op, Value a, Value b);
  LogicalResult propagate();

  const ScheduleInfo &info;
  unsigned role;
  SmallVector<Operation *> ops;
  llvm::DenseMap<Value, int64_t> dims;
  bool changed = false;
};
} // namespace

LogicalResult SplitSolver::set(Operation *op, Value value, int64_t dim) {
  auto frag = dyn_cast<FragType>(value.getType());
  if (!frag)
    return success();
  // A rank-1 fragment along the other dimension is with every instance.
  if (frag.getShape().size() == 1 && frag.getAlong() != dim)
    dim = whole;
  auto [it, isNew] = dims.try_emplace(value, dim);
  changed |= isNew;
  if (it->second == dim)
    return success();
  auto name = [](int64_t dim) {
    return dim == whole ? std::string("not at all")
                        : "along " + std::to_string(dim);
  };
  return op->emitOpError("needs a tile split ")
         << name(dim) << " by role @" << info.roles[role].getName()
         << ", but it is split " << name(it->second);
}

LogicalResult SplitSolver::unify(Operation *op, Value a, Value b) {
  // What a rank-1 fragment is split along says nothing where it is whole.
  auto known = [&](Value value) {
    auto it = dims.find(value);
    auto frag = dyn_cast<FragType>(value.getType());
    return frag && it != dims.end() &&
           (frag.getShape().size() == 2 || it->second != whole);
  };
  if (known(a) && failed(set(op, b, dims[a])))
    return failure();
  return known(b) ? set(op, a, dims[b]) : success();
}

LogicalResult SplitSolver::visitMma(MmaOp mma) {
  int64_t dim = info.roles[role].attr.getDim();
  if (failed(set(mma, mma.getResult(), dim)))
    return failure();
  if (mma.getAcc() && failed(set(mma, mma.getAcc(), dim)))
    return failure();
  int64_t freeA = mma.getTransposeA() ? 1 : 0;
  int64_t freeB = mma.getTransposeB() ? 0 : 1;
  return failure(failed(set(mma, mma.getA(), dim == 0 ? freeA : whole)) ||
                 failed(set(mma, mma.getB(), dim == 1 ? freeB : whole)));
}

LogicalResult SplitSolver::visit(Operation *op) {
  if (auto mma = dyn_cast<MmaOp>(op))
    return visitMma(mma);
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    auto it = dims.find(reduce.getTile());
    if (it != dims.end() && it->second == static_cast<int64_t>(reduce.getDim()))
      return op->emitOpError("reduces over the split dimension ")
             << it->second << " of role @" << info.roles[role].getName();
    for (Value result : op->getResults())
      if (failed(unify(op, reduce.getTile(), result)))
        return failure();
    return success();
  }
  if (auto scan = dyn_cast<ScanOp>(op)) {
    auto it = dims.find(scan.getTile());
    if (it != dims.end() && it->second == static_cast<int64_t>(scan.getDim()))
      return op->emitOpError("scans over the split dimension ")
             << it->second << " of role @" << info.roles[role].getName();
    return unify(op, scan.getTile(), scan.getResult());
  }
  auto map = dyn_cast<MapOp>(op);
  if (!map)
    return success();
  SmallVector<Value> values = llvm::to_vector(map.getOperands_());
  llvm::append_range(values, map.getResults());
  for (Value a : values)
    for (Value b : values)
      if (failed(unify(op, a, b)))
        return failure();
  return success();
}

/// Initial values, arguments and results of a loop are split alike.
LogicalResult SplitSolver::visitLoops() {
  for (Operation *op : info.loops) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    for (auto [init, arg, yielded, result] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                   loop.getYieldedValues(), loop.getResults()))
      for (Value a : {Value(init), Value(yielded), Value(result)})
        if (failed(unify(op, a, arg)))
          return failure();
  }
  return success();
}

LogicalResult SplitSolver::propagate() {
  do {
    changed = false;
    for (Operation *op : ops)
      if (failed(visit(op)))
        return failure();
    if (failed(visitLoops()))
      return failure();
  } while (changed);
  return success();
}

LogicalResult SplitSolver::solve(llvm::DenseMap<Value, int64_t> &result) {
  if (failed(propagate()))
    return failure();
  // What no product ties down is split as the products would be.
  for (Operation *op : ops)
    for (Value value : op->getResults())
      if (isa<FragType>(value.getType()) && !dims.contains(value))
        if (failed(set(op, value, info.roles[role].attr.getDim())) ||
            failed(propagate()))
          return failure();
  for (auto [value, dim] : dims)
    result[value] = dim;
  for (Operation *op : ops) {
    if (isa<ScanOp, ReduceOp, MapOp, MmaOp, ReadOp, LoadOp, GatherOp>(op))
      continue;
    Value tile = op->getOperand(0);
    int64_t dim = result.lookup_or(tile, whole);
    if (isa<FragType>(tile.getType()) && dim != whole) {
      int64_t extent =
          cast<FragType>(tile.getType())
              .getShape()[cast<FragType>(tile.getType()).getShape().size() == 1
                              ? 0
                              : dim];
      if (extent % info.roles[role].getInstances())
        return op->emitOpError("splits an extent of ")
               << extent << " among " << info.roles[role].getInstances()
               << " instances";
    }
  }
  return success();
}

FailureOr<llvm::DenseMap<Value, int64_t>>
mmx::tile::computeSplits(const ScheduleInfo &info) {
  llvm::DenseMap<Value, int64_t> result;
  for (unsigned role = 0; role < info.roles.size(); ++role)
    if (info.roles[role].isSplit() &&
        failed(SplitSolver(info, role).solve(result)))
      return failure();
  return result;
}
