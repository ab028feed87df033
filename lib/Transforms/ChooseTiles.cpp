//===- ChooseTiles.cpp - Tile sizes from a roofline model -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/MMX/LightningBlock.h"
#include "mmx/Transforms/MMXPasses.h"
#include "targets.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

namespace mmx {
#define GEN_PASS_DEF_MMXCHOOSETILES
#include "mmx/Transforms/MMXPasses.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// The roofline of a kernel
//===----------------------------------------------------------------------===//

namespace {
/// What a kernel moves and computes, as a constant and a part for each token.
/// Tokens of other sequences that attention reads are not in it.
struct Work {
  double fixedBytes = 0, bytesPerToken = 0, flopsPerToken = 0;

  double getMemoryTime(const Target &target, double tokens) const {
    double rate = target.bandwidth * (target.isCPU() ? 1 : copyShare);
    return (fixedBytes + bytesPerToken * tokens) / rate;
  }
  double getComputeTime(const Target &target, double tokens) const {
    return flopsPerToken * tokens / target.matrixRate;
  }
};
} // namespace

/// Bytes of a tensor, or of one row of it where its leading extent is dynamic.
static void addBytes(Work &work, Value value) {
  RankedTensorType type = typeOf(value);
  double bytes = type.getElementTypeBitWidth() / 8.0;
  bool isDynamic = false;
  for (int64_t extent : type.getShape()) {
    isDynamic |= ShapedType::isDynamic(extent);
    bytes *= ShapedType::isDynamic(extent) ? 1 : extent;
  }
  (isDynamic ? work.bytesPerToken : work.fixedBytes) += bytes;
}

/// Multiplications and additions of products, for each token. Experts count
/// for each choice.
static double countFlops(Operation *op, int64_t block) {
  auto size = [](Value value, int64_t dim) {
    return static_cast<double>(typeOf(value).getDimSize(dim));
  };
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([&](LinearOp linear) {
        return 2 * size(linear.getWeight(), 0) * size(linear.getWeight(), 1);
      })
      .Case([&](ExpertsUpOp up) {
        return 4 * size(up.getW1(), 1) * size(up.getW1(), 2);
      })
      .Case([&](ExpertsDownOp down) {
        return 2 * size(down.getW2(), 1) * size(down.getW2(), 2);
      })
      .Case([&](BlockScoresOp scores) {
        return 2 * block * size(scores.getKey(), 1) * size(scores.getKey(), 2);
      })
      .Case([&](BlockValuesOp values) {
        return 2 * block * size(values.getValue(), 1) *
               size(values.getValue(), 2);
      })
      .Case<BlockReadoutOp, BlockOuterOp>([&](Operation *product) {
        double width = size(product->getOperand(0), 2);
        return 2 * size(product->getOperand(0), 1) * width * width;
      })
      .Case([&](LightningStepOp step) {
        double width = size(step.getQuery(), 2);
        return 5 * size(step.getQuery(), 1) * width * width;
      })
      .Default([](Operation *) { return 0.0; });
}

static Work measure(KernelOp kernel) {
  Work work;
  for (Value input : kernel.getInputs())
    addBytes(work, input);
  for (Value output : kernel.getOutputs())
    addBytes(work, output);
  kernel.getBody().walk([&](Operation *op) {
    int64_t block = 0;
    if (auto loop = op->getParentOfType<ForBlocksOp>())
      block = loop.getBlock();
    work.flopsPerToken += countFlops(op, block);
  });
  return work;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// The largest multiple of `unit` up to `most` that divides `extent`, if it is
/// not much smaller; else `most` itself, and the last tile has a tail.
static int64_t chooseDivisor(int64_t extent, int64_t most, int64_t unit) {
  if (extent <= most)
    return static_cast<int64_t>(llvm::alignTo(extent, unit));
  for (int64_t size = most; size * 2 >= most; size -= unit)
    if (extent % size == 0)
      return size;
  return most;
}

namespace {
/// Picks sizes for one kernel.
class TileChooser {
public:
  TileChooser(const Target &target, bool isDecode)
      : target(target), isDecode(isDecode) {}

  struct Choice {
    int64_t rows, cols, depth;
    const char *reason;
    int64_t groups = 0;
  };
  Choice choose(KernelOp kernel) const;

private:
  Choice chooseProduct(int64_t width, int64_t depth) const;
  Choice chooseRows(int64_t width, bool wholeRows) const;
  Choice chooseBlocks(ForBlocksOp loop) const;
  Choice chooseOther(Operation *anchor) const;
  bool canSchedule(KernelOp kernel) const;

  const Target &target;
  bool isDecode;
};
} // namespace

/// A tile of a product: on the CPU operands must stay in the cache of a core
/// while a panel of weights is used by all rows; on a GPU the tile is what
/// keeps the tensor cores busy.
TileChooser::Choice TileChooser::chooseProduct(int64_t width,
                                               int64_t depth) const {
  int64_t rows = isDecode ? 16 : target.isCPU() ? 64 : 128;
  int64_t cols = chooseDivisor(width, target.isCPU() ? 64 : 128, 16);
  // In whole where that fits, else in steps; a step divides the depth so that
  // no product with padding is computed.
  int64_t most = target.isCPU() ? 512 : 64;
  int64_t step = depth;
  if (depth > most) {
    step = chooseDivisor(depth, most, 16);
    for (int64_t size = most; depth % step != 0 && size >= 16; --size)
      if (depth % size == 0)
        step = size;
  }
  return {rows, cols, step,
          isDecode ? "few rows: weights are streamed once"
                   : "weights are read once for each tile of rows"};
}

/// Rows of ops without a product: enough to spread over the cores.
TileChooser::Choice TileChooser::chooseRows(int64_t width,
                                            bool wholeRows) const {
  int64_t cols = chooseDivisor(width, wholeRows ? 512 : 256, 1);
  return {isDecode ? 1 : 8, cols, 1, "moves each byte once"};
}

/// Whether warp groups can share the work of a kernel. Every GPU of the table
/// is a Hopper.
bool TileChooser::canSchedule(KernelOp kernel) const {
  auto block = LightningBlock::match(kernel);
  return !target.isCPU() && block && block->fitsWarpGroups();
}

TileChooser::Choice TileChooser::chooseBlocks(ForBlocksOp loop) const {
  auto type = loop.getTokens().empty() ? typeOf(loop.getCarry().front())
                                       : typeOf(loop.getTokens().front());
  int64_t block = loop.getBlock();
  if (canSchedule(loop->getParentOfType<KernelOp>()))
    return {block, /*cols=*/64, block,
            "warp groups load, carry the state and make outputs", /*groups=*/4};
  return {block, type.getShape().back(), block,
          "the state stays on chip over all blocks of a sequence"};
}

TileChooser::Choice TileChooser::chooseOther(Operation *anchor) const {
  auto result = typeOf(anchor->getResult(0));
  int64_t width = result.getShape().back();
  if (isa<RouteOp>(anchor))
    return {isDecode ? 1 : 16, typeOf(anchor->getOperand(0)).getDimSize(1), 1,
            "a row a token"};
  if (auto attend = dyn_cast<AttendOp>(anchor))
    return {isDecode ? result.getDimSize(1) /
                           typeOf(attend.getKeyCache()).getDimSize(1)
                     : 64,
            width, static_cast<int64_t>(attend.getPage()),
            isDecode ? "the query heads of a key-value head share its keys"
                     : "keys are read once for each tile of queries"};
  int64_t rows = isDecode ? 1 : 16;
  return {rows, ShapedType::isDynamic(width) ? 1 : width, 1,
          "moves each byte once"};
}

/// The op that sets the tile: the anchor, or else the first op that computes.
static Operation *getAnchor(KernelOp kernel) {
  Operation *first = nullptr, *anchor = nullptr;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    FusionKind kind = cast<FusionInterface>(op).getFusionKind();
    if (kind == FusionKind::Anchor || kind == FusionKind::Isolated)
      anchor = &op;
    if (!first && kind != FusionKind::Reindex)
      first = &op;
  }
  if (!anchor)
    anchor = first;
  return anchor ? anchor : &kernel.getBody().front().front();
}

TileChooser::Choice TileChooser::choose(KernelOp kernel) const {
  Operation *anchor = getAnchor(kernel);
  auto size = [](Value value, int64_t dim) {
    return typeOf(value).getDimSize(dim);
  };
  return llvm::TypeSwitch<Operation *, Choice>(anchor)
      .Case([&](LinearOp linear) {
        return chooseProduct(size(linear.getWeight(), 0),
                             size(linear.getWeight(), 1));
      })
      .Case([&](ExpertsUpOp up) {
        return chooseProduct(size(up.getW1(), 1), size(up.getW1(), 2));
      })
      .Case([&](ExpertsDownOp down) {
        return chooseProduct(size(down.getW2(), 1), size(down.getW2(), 2));
      })
      .Case([&](ForBlocksOp loop) { return chooseBlocks(loop); })
      .Case<RMSNormOp, SumSquaresOp>([&](Operation *norm) {
        return chooseRows(size(norm->getOperand(0), 1), true);
      })
      .Case<EmbeddingOp, TakeRowsOp, CombineOp, NormalizeOp, SiluOp, GateOp,
            SwigluOp, ResidualOp, MixOp, ConvertOp>([&](Operation *rows) {
        return chooseRows(typeOf(rows->getResult(0)).getShape().back(), false);
      })
      .Default([&](Operation *other) { return chooseOther(other); });
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Tokens for which the floors are printed.
static constexpr double prefillTokens = 4096, decodeTokens = 1;

static void emitReasons(KernelOp kernel, const TileChooser::Choice &choice,
                        const Target &target, double tokens) {
  Work work = measure(kernel);
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::format("%.0f tokens move %.3g MB and take %.3g MFLOP: "
                         "%.3g us of memory, %.3g us of arithmetic; ",
                         tokens,
                         (work.fixedBytes + work.bytesPerToken * tokens) / 1e6,
                         work.flopsPerToken * tokens / 1e6,
                         work.getMemoryTime(target, tokens) * 1e6,
                         work.getComputeTime(target, tokens) * 1e6);
  stream << "rows = " << choice.rows << ", cols = " << choice.cols
         << ", depth = " << choice.depth;
  if (choice.groups)
    stream << ", groups = " << choice.groups;
  stream << ": " << choice.reason;
  kernel.emitRemark(text);
}

namespace {
struct ChooseTiles : mmx::impl::MMXChooseTilesBase<ChooseTiles> {
  using MMXChooseTilesBase::MMXChooseTilesBase;

  void runOnOperation() override {
    const Target *machine = findTarget(target);
    if (!machine) {
      getOperation()->emitError(
          "expected target cpu, h20, h800, h100 or h200, but got ")
          << target;
      return signalPassFailure();
    }
    auto phase = getOperation()->getAttrOfType<StringAttr>("mmx.phase");
    bool isDecode = phase && phase.getValue() == "decode";
    TileChooser chooser(*machine, isDecode);
    getOperation().walk([&](KernelOp kernel) {
      TileChooser::Choice choice = chooser.choose(kernel);
      kernel.setTilesAttr(TileSizesAttr::get(&getContext(), choice.rows,
                                             choice.cols, choice.depth,
                                             choice.groups));
      ++numKernels;
      if (explain)
        emitReasons(kernel, choice, *machine,
                    isDecode ? decodeTokens : prefillTokens);
    });
  }
};
} // namespace
