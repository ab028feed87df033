//===- CompareLoweringPass.cpp - Runs a module before and after passes ----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mmx/Reference/LaunchInterpreter.h"
#include "mmx/Reference/LoweringPasses.h"
#include "mmx/Reference/RandomInputs.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

namespace mmx::reference {
#define GEN_PASS_DEF_COMPARELOWERINGPASS
#include "mmx/Reference/LoweringPasses.h.inc"
} // namespace mmx::reference

using namespace mlir;
using namespace mmx;
using namespace mmx::reference;

/// The largest difference, relative to the largest magnitude of `expected`;
/// infinite where shapes, integers or finiteness differ.
static double getDifference(const Tensor &expected, const Tensor &actual) {
  if (expected.getShape() != actual.getShape() ||
      expected.isFloat() != actual.isFloat())
    return INFINITY;
  if (!expected.isFloat())
    return expected.getInts() == actual.getInts() ? 0.0 : INFINITY;
  double largest = 0.0, difference = 0.0;
  for (auto [x, y] :
       llvm::zip_equal(expected.getFloats(), actual.getFloats())) {
    if (std::isnan(x - y))
      return INFINITY;
    largest = std::max(largest, std::abs(x));
    difference = std::max(difference, std::abs(x - y));
  }
  return largest > 0.0 ? difference / largest : difference;
}

namespace {
struct CompareLowering
    : mmx::reference::impl::CompareLoweringPassBase<CompareLowering> {
  using CompareLoweringPassBase::CompareLoweringPassBase;

  /// The passes of the pipeline make what they make of the copy.
  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager passes(ModuleOp::getOperationName());
    if (succeeded(parsePassPipeline(pipeline, passes, llvm::nulls())))
      passes.getDependentDialects(registry);
  }

  void runOnOperation() override {
    llvm::Expected<StepSizes> parsed = StepSizes::parse(sizes);
    if (!parsed)
      return fail(getOperation(), parsed.takeError());
    PassManager passes(&getContext(), ModuleOp::getOperationName());
    OwningOpRef<ModuleOp> lowered(getOperation().clone());
    if (failed(parsePassPipeline(pipeline, passes)) ||
        failed(passes.run(*lowered)))
      return signalPassFailure();
    for (int64_t run = 0; run < runs; ++run) {
      RandomInputs inputs(seed + run, *parsed);
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (llvm::Error error = compare(function, *lowered, inputs))
          return fail(function, std::move(error));
    }
    markAllAnalysesPreserved();
  }

  llvm::Error compare(func::FuncOp function, ModuleOp lowered,
                      const RandomInputs &inputs) {
    InterpreterOptions options;
    options.weights = [&](GlobalOp global) -> llvm::Expected<Tensor> {
      return inputs.getWeight(global);
    };
    auto arguments = inputs.getArguments(function);
    if (!arguments)
      return arguments.takeError();
    auto expected =
        Interpreter(getOperation(), options).run(function, *arguments);
    if (!expected)
      return expected.takeError();
    auto other = lowered.lookupSymbol<func::FuncOp>(function.getSymNameAttr());
    bool hasLaunches = !other.getOps<LaunchOp>().empty();
    auto actual = hasLaunches
                      ? interpretLaunches(other, *arguments, options.weights)
                      : Interpreter(lowered, options).run(other, *arguments);
    if (!actual)
      return actual.takeError();
    return report(function, *expected, *actual);
  }

  llvm::Error report(func::FuncOp function, ArrayRef<Tensor> expected,
                     ArrayRef<Tensor> actual) {
    for (unsigned i = 0; i < expected.size(); ++i) {
      double difference = getDifference(expected[i], actual[i]);
      llvm::outs() << '@' << function.getSymName() << " result " << i
                   << llvm::format(": %.2g\n", difference);
      if (!(difference <= tolerance))
        return llvm::createStringError(
            llvm::formatv("expected result {0} to differ by no more than "
                          "{1:e}, but got {2:e}",
                          i, tolerance.getValue(), difference)
                .str());
    }
    return llvm::Error::success();
  }

  void fail(Operation *op, llvm::Error error) {
    op->emitError(llvm::toString(std::move(error)));
    signalPassFailure();
  }
};
} // namespace
