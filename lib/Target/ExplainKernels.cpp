//===- ExplainKernels.cpp - Predicted times of kernels --------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEstimate.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "mmx/Conversion/Passes.h"
#include "mmx/Dialect/Exec/ExecOps.h"
#include "mmx/Target/CPUCodegen.h"
#include "mmx/Target/Passes.h"
#include "targets.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace mmx {
#define GEN_PASS_DEF_TILEEXPLAIN
#include "mmx/Target/Passes.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

/// Rows of a page of a cache.
static constexpr int64_t pageRows = 64;

namespace {

struct TileExplain : mmx::impl::TileExplainBase<TileExplain> {
  using TileExplainBase::TileExplainBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerCodegenDialects(registry);
    createConvertTileToSIMT()->getDependentDialects(registry);
    createConvertTileToHopper()->getDependentDialects(registry);
  }

  void runOnOperation() override {
    const Target *machine = findTarget(target.getValue());
    if (!machine || machine->isCPU()) {
      getOperation().emitError("expected target h20, h800, h100 or h200, but "
                               "got ")
          << target;
      return signalPassFailure();
    }
    markAllAnalysesPreserved();
    auto programs = getOperation().getOps<exec::ProgramOp>();
    for (auto program : programs)
      if (failed(explain(program, *machine)))
        return signalPassFailure();
    if (!programs.empty())
      return;
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      FailureOr<KernelEstimate> result = estimate(kernel, extents, *machine);
      if (failed(result))
        return signalPassFailure();
      kernel.emitRemark(result->describe(kernel, *machine));
    }
  }

private:
  FailureOr<KernelEstimate> estimate(tile::KernelOp kernel,
                                     ArrayRef<int64_t> given,
                                     const Target &machine) {
    auto [it, isNew] = needs.try_emplace(kernel);
    if (isNew)
      it->second = findKernelNeeds(kernel);
    if (failed(it->second))
      return failure();
    return estimateKernel(kernel, given, *it->second, machine);
  }

  LogicalResult explain(exec::ProgramOp program, const Target &machine);
  SmallVector<Attribute> getStep(bool isDecode);

  llvm::DenseMap<tile::KernelOp, FailureOr<KernelNeeds>> needs;
};

} // namespace

/// Tokens, sequences, outputs, slots, cache rows and page columns of a step.
SmallVector<Attribute> TileExplain::getStep(bool isDecode) {
  int64_t columns = (tokens + pageRows - 1) / pageRows;
  int64_t step[] = {isDecode ? sequences : tokens * sequences,
                    sequences,
                    sequences,
                    sequences,
                    columns * pageRows * sequences,
                    columns};
  Builder builder(&getContext());
  return llvm::map_to_vector(
      step, [&](int64_t n) -> Attribute { return builder.getIndexAttr(n); });
}

LogicalResult TileExplain::explain(exec::ProgramOp program,
                                   const Target &machine) {
  SmallVector<Attribute> step = getStep(program.getSymName() == "decode");
  SymbolTable symbols(getOperation());
  struct Launches {
    tile::KernelOp kernel;
    SmallVector<int64_t> extents;
    int64_t count = 0;
  };
  llvm::MapVector<std::pair<Attribute, Attribute>, Launches> all;
  for (auto launch : program.getBody().getOps<exec::LaunchOp>()) {
    Launches &entry = all[{launch.getKernelAttr(), launch.getExtentsAttr()}];
    if (entry.count++)
      continue;
    entry.kernel = symbols.lookup<tile::KernelOp>(launch.getKernel());
    SmallVector<Attribute> sizes;
    if (!entry.kernel || failed(launch.getExtents().constantFold(step, sizes)))
      return launch.emitOpError("expected a kernel, and extents of a step");
    for (Attribute size : sizes)
      entry.extents.push_back(cast<IntegerAttr>(size).getInt());
  }
  double total = 0;
  for (auto &[key, entry] : all) {
    FailureOr<KernelEstimate> result =
        estimate(entry.kernel, entry.extents, machine);
    if (failed(result))
      return failure();
    total += result->total * double(entry.count);
    entry.kernel.emitRemark()
        << "@" << program.getSymName() << " " << entry.count << " times "
        << result->describe(entry.kernel, machine);
  }
  program.emitRemark() << llvm::formatv("@{0} predicted {1:f3} ms",
                                        program.getSymName(), total * 1e3)
                              .str()
                       << " for " << sequences.getValue() << " x "
                       << tokens.getValue() << " tokens";
  return success();
}
