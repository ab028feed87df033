//===- TileBlockTime.cpp - Kernels of a block of threads in time ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Transforms/TileTimeline.h"

#include "TileCosts.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx::tile;

/// The loops of convert-tile-to-simt: one iteration of a thread, which does not
/// overlap with the next one. An access to global memory stands behind a test
/// of its bounds.
static constexpr double accessLatency = 300, productLatency = 36,
                        elementLatency = 60, barrier = 40;
/// Instructions of an iteration: addresses, loads, stores and the loop.
static constexpr double accessInstructions = 25, productInstructions = 16,
                        elementInstructions = 12;
/// Rows that a thread multiplies together.
static constexpr double rowsTogether = 4;

namespace {
/// Iterations of the loop of a thread, what one takes, and what it issues.
struct Loop {
  double elements = 0, latency = 0, instructions = 0;
};
} // namespace

static double countElements(const KernelWork &work, Value tile) {
  ArrayRef<int64_t> shape = getTileExtents(tile);
  if (shape.size() == 1)
    return double(shape[0]);
  return double(work.getRows(tile) * shape[1]);
}

static Loop getLoop(Operation *op, const KernelWork &work) {
  return llvm::TypeSwitch<Operation *, Loop>(op)
      .Case<LoadOp, GatherOp>([&](Operation *load) {
        return Loop{countElements(work, load->getResult(0)), accessLatency,
                    accessInstructions};
      })
      .Case([&](StoreOp store) {
        // Nobody waits for a store.
        return Loop{countElements(work, store.getTile()), elementLatency,
                    accessInstructions};
      })
      .Case([&](MmaOp mma) {
        double depth = double(getProductDepth(mma));
        double rows = double(work.getRows(mma.getResult()));
        double cols = double(getTileExtents(mma.getResult())[1]);
        return Loop{std::ceil(rows / rowsTogether) * cols,
                    depth * productLatency, depth * productInstructions};
      })
      .Case([&](MapOp map) {
        if (map.getNumResults() == 0)
          return Loop();
        double body =
            costs::countElementInstructions(map, /*ofOperands=*/false);
        double operands = double(map.getOperands_().size());
        return Loop{countElements(work, map.getResult(0)),
                    elementLatency + 4 * body,
                    elementInstructions + 4 * operands + body};
      })
      .Case([&](ReduceOp reduce) {
        return Loop{2 * countElements(work, reduce.getTile()), elementLatency,
                    elementInstructions};
      })
      .Case([&](ScanOp scan) {
        // A thread runs along a whole line.
        return Loop{countElements(work, scan->getOperand(0)), elementLatency,
                    elementInstructions};
      })
      .Default([](Operation *) { return Loop(); });
}

CellTime mmx::tile::timeBlock(KernelOp kernel, const KernelWork &work,
                              int64_t threads) {
  CellTime time;
  kernel.walk([&](Operation *op) {
    Loop loop = getLoop(op, work);
    if (loop.elements == 0)
      return;
    double runs = work.getRuns(op);
    double iterations = std::ceil(loop.elements / double(threads));
    time.issue += runs * loop.elements * loop.instructions / costs::lanes;
    time.cycles += runs * (iterations * loop.latency + barrier);
  });
  time.cycles = std::max(time.cycles, time.issue);
  return time;
}
