//===- Fuse.cpp - Groups ops into kernels ---------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mmx/Dialect/MMX/MMXOps.h"
#include "mmx/Transforms/MMXPasses.h"
#include "llvm/ADT/SetVector.h"

namespace mmx {
#define GEN_PASS_DEF_MMXFUSE
#include "mmx/Transforms/MMXPasses.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

static std::optional<FusionKind> getKind(Operation *op) {
  if (auto fusible = dyn_cast_or_null<FusionInterface>(op))
    return fusible.getFusionKind();
  return std::nullopt;
}

static bool sameShape(Value a, Value b) {
  auto x = dyn_cast<RankedTensorType>(a.getType());
  auto y = dyn_cast<RankedTensorType>(b.getType());
  return x && y && x.getShape() == y.getShape();
}

namespace {
/// Groups of the ops of one block. Every op that computes is in exactly one.
class Grouping {
public:
  explicit Grouping(Block &block);

  struct Group {
    SmallVector<Operation *> ops; ///< in program order
    bool hasAnchor = false;
    bool isIsolated = false;
  };

  /// Groups with their ops, each in program order.
  SmallVector<Group> take();

  unsigned numFollowers = 0;

private:
  void place(Operation *op);
  void join(Operation *op, unsigned group);
  void absorbProducers();
  bool canJoin(Operation *op, unsigned group);
  bool reaches(Operation *op, unsigned group);
  bool feedsOnly(unsigned group, unsigned reader);

  llvm::DenseMap<Operation *, unsigned> order, groupOf;
  SmallVector<Group> groups;
};
} // namespace

Grouping::Grouping(Block &block) {
  unsigned number = 0;
  for (Operation &op : block)
    order[&op] = number++;
  for (Operation &op : block) {
    std::optional<FusionKind> kind = getKind(&op);
    if (kind && kind != FusionKind::Reindex)
      place(&op);
  }
  absorbProducers();
}

void Grouping::join(Operation *op, unsigned group) {
  groupOf[op] = group;
  groups[group].ops.push_back(op);
}

/// Puts an anchor into a group of its own, and an elementwise op into the
/// group that computes one of its operands on the same elements: the latest
/// one, so that nothing else waits for it.
void Grouping::place(Operation *op) {
  bool isAnchor = getKind(op) != FusionKind::Elementwise;
  std::optional<unsigned> best;
  unsigned bestOrder = 0;
  if (!isAnchor)
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      auto it = groupOf.find(producer);
      if (it == groupOf.end() || !canJoin(op, it->second) ||
          !sameShape(operand, op->getResult(0)))
        continue;
      unsigned place = order[groups[it->second].ops.back()];
      if (!best || place > bestOrder) {
        best = it->second;
        bestOrder = place;
      }
    }
  if (best) {
    join(op, *best);
    numFollowers += groups[*best].hasAnchor;
    return;
  }
  Group &group = groups.emplace_back();
  group.hasAnchor = isAnchor;
  group.isIsolated = getKind(op) == FusionKind::Isolated;
  join(op, groups.size() - 1);
}

/// Whether `op` depends on a member of `group`, itself included. Groups are
/// executed as a whole, so the search goes on from all members of a group.
bool Grouping::reaches(Operation *op, unsigned group) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> work{op};
  while (!work.empty()) {
    Operation *next = work.pop_back_val();
    if (!next || !order.contains(next) || !seen.insert(next).second)
      continue;
    auto it = groupOf.find(next);
    if (it != groupOf.end() && it->second == group)
      return true;
    if (it != groupOf.end())
      llvm::append_range(work, groups[it->second].ops);
    for (Value operand : next->getOperands())
      work.push_back(operand.getDefiningOp());
  }
  return false;
}

/// Whether no operand of `op` from outside of `group` depends on it: they have
/// to be computed before the kernel starts.
bool Grouping::canJoin(Operation *op, unsigned group) {
  if (groups[group].isIsolated)
    return false;
  return llvm::none_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    if (!producer)
      return false;
    auto it = groupOf.find(producer);
    return (it == groupOf.end() || it->second != group) &&
           reaches(producer, group);
  });
}

/// Whether every reader of `group` is in `reader` and reads it in place.
bool Grouping::feedsOnly(unsigned group, unsigned reader) {
  for (Operation *op : groups[group].ops)
    for (OpOperand &use : op->getUses()) {
      auto it = groupOf.find(use.getOwner());
      if (it == groupOf.end() ||
          (it->second != reader && it->second != group) ||
          getKind(use.getOwner()) != FusionKind::Elementwise ||
          !sameShape(use.get(), use.getOwner()->getResult(0)))
        return false;
    }
  return true;
}

/// Merges groups without an anchor into the group that alone reads them.
void Grouping::absorbProducers() {
  for (unsigned i = groups.size(); i-- > 0;) {
    if (groups[i].hasAnchor)
      continue;
    Operation *last = groups[i].ops.back();
    if (last->use_empty())
      continue;
    auto it = groupOf.find(*last->getUsers().begin());
    if (it == groupOf.end() || it->second == i || !feedsOnly(i, it->second))
      continue;
    unsigned reader = it->second;
    // What this group reads must not wait for the reader.
    bool cycle = llvm::any_of(groups[i].ops, [&](Operation *op) {
      return llvm::any_of(op->getOperands(), [&](Value operand) {
        Operation *producer = operand.getDefiningOp();
        return producer && groupOf.lookup_or(producer, ~0u) != i &&
               reaches(producer, reader);
      });
    });
    if (cycle)
      continue;
    numFollowers += groups[reader].hasAnchor ? groups[i].ops.size() : 0;
    for (Operation *op : groups[i].ops)
      join(op, reader);
    groups[i].ops.clear();
    llvm::sort(groups[reader].ops,
               [&](Operation *a, Operation *b) { return order[a] < order[b]; });
  }
}

SmallVector<Grouping::Group> Grouping::take() {
  llvm::erase_if(groups, [](const Group &group) { return group.ops.empty(); });
  return std::move(groups);
}

//===----------------------------------------------------------------------===//
// Outlining
//===----------------------------------------------------------------------===//

/// A name for people: the weight that the kernel reads, without its last
/// part, or else nothing.
static StringAttr getLabel(MLIRContext *context, ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (auto weight = operand.getDefiningOp<WeightOp>())
        return StringAttr::get(context, weight.getGlobal());
  for (Operation *op : ops)
    if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
      return name.getName();
  return nullptr;
}

namespace {
/// Moves one group into an `mmx.kernel`.
class Outliner {
public:
  Outliner(OpBuilder &builder, ArrayRef<Operation *> ops)
      : builder(builder), ops(ops), members(ops.begin(), ops.end()) {}
  void run();

private:
  void addOperand(Value value);
  Value mapped(Value value);

  OpBuilder &builder;
  ArrayRef<Operation *> ops;
  llvm::SmallPtrSet<Operation *, 8> members;
  llvm::SetVector<Value> inputs;
  IRMapping mapping;
};
} // namespace

void Outliner::addOperand(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && members.contains(op))
    return;
  if (getKind(op) == FusionKind::Reindex)
    return addOperand(op->getOperand(0));
  inputs.insert(value);
}

/// The value in the kernel that stands for `value`, reindexing ops cloned.
Value Outliner::mapped(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    mapped(operand);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

void Outliner::run() {
  SmallVector<Value> outputs;
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      addOperand(operand);
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !members.contains(user);
          }))
        outputs.push_back(result);
  }
  if (outputs.empty()) {
    for (Operation *op : llvm::reverse(ops))
      op->erase();
    return;
  }
  Location loc = ops.front()->getLoc();
  builder.setInsertionPoint(ops.back());
  auto kernel = KernelOp::create(builder, loc, ValueRange(outputs).getTypes(),
                                 inputs.getArrayRef(), TileSizesAttr(),
                                 getLabel(builder.getContext(), ops));
  Block *body = builder.createBlock(&kernel.getBody());
  for (Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), loc));
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      mapped(operand);
    builder.clone(*op, mapping);
  }
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(mapping.lookup(output));
  YieldOp::create(builder, loc, yielded);
  for (auto [output, result] : llvm::zip_equal(outputs, kernel.getOutputs()))
    output.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

namespace {
struct Fuse : mmx::impl::MMXFuseBase<Fuse> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    for (Block &block : getOperation().getBody()) {
      Grouping grouping(block);
      numFollowers += grouping.numFollowers;
      for (const Grouping::Group &group : grouping.take()) {
        Outliner(builder, group.ops).run();
        ++numKernels;
      }
      // A group stands where its last op stood; its readers may stand before.
      if (!sortTopologically(&block)) {
        getOperation()->emitError("expected fusion groups without a cycle");
        return signalPassFailure();
      }
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (getKind(&op) == FusionKind::Reindex && op.use_empty())
          op.erase();
    }
  }
};
} // namespace
