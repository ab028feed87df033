//===- CompareModules.cpp - Whether two modules mean the same -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/CompareModules.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mmx/Reference/MMXInterpreter.h"
#include "mmx/Reference/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mmx;
using namespace mmx::reference;

namespace mmx::reference {
#define GEN_PASS_DEF_CHECKMEANINGPASS
#include "mmx/Reference/Passes.h.inc"
} // namespace mmx::reference

/// Compares one result; `name` says which.
static llvm::Error compareTensors(const std::string &name, const Tensor &before,
                                  const Tensor &after, double tolerance) {
  if (before.getShape() != after.getShape() ||
      before.isFloat() != after.isFloat())
    return llvm::createStringError(name + " has another shape or type");
  auto element = [](const Tensor &tensor, int64_t i) {
    return tensor.isFloat() ? tensor.getFloats()[i]
                            : static_cast<double>(tensor.getInts()[i]);
  };
  double scale = 1, worst = 0;
  int64_t where = 0;
  for (int64_t i = 0; i < before.getNumElements(); ++i) {
    double expected = element(before, i);
    if (std::isnan(expected))
      continue;
    scale = std::max(scale, std::abs(expected));
    double difference = std::abs(element(after, i) - expected);
    // Also true for NaN.
    if (!(difference <= worst)) {
      worst = std::isnan(difference) ? INFINITY : difference;
      where = i;
    }
  }
  if (worst <= tolerance * scale)
    return llvm::Error::success();
  std::string message =
      llvm::formatv("{0} differs by {1}: expected element {2} to be {3}, but "
                    "got {4}",
                    name, worst, where, element(before, where),
                    element(after, where))
          .str();
  return llvm::createStringError(message);
}

llvm::Error mmx::reference::compareModules(ModuleOp before, ModuleOp after,
                                           uint64_t seed, double tolerance,
                                           StepSizes sizes, unsigned *count) {
  RandomInputs inputs(seed, sizes);
  InterpreterOptions options;
  options.weights = [&](GlobalOp global) -> llvm::Expected<Tensor> {
    return inputs.getWeight(global);
  };
  Interpreter first(before, options), second(after, options);
  unsigned numRun = 0;
  for (auto function : before.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    auto arguments = inputs.getArguments(function);
    if (!arguments)
      return arguments.takeError();
    auto expected = first.run(function, *arguments);
    if (!expected)
      return expected.takeError();
    auto actual = second.run(function.getSymName(), std::move(*arguments));
    if (!actual)
      return actual.takeError();
    if (expected->size() != actual->size())
      return llvm::createStringError("@" + function.getSymName() +
                                     " has another number of results");
    for (auto [index, left, right] : llvm::enumerate(*expected, *actual)) {
      std::string name =
          ("@" + function.getSymName() + " result " + Twine(index)).str();
      if (llvm::Error error = compareTensors(name, left, right, tolerance))
        return error;
    }
    ++numRun;
  }
  if (count)
    *count = numRun;
  return llvm::Error::success();
}

namespace {
struct CheckMeaning : mmx::reference::impl::CheckMeaningPassBase<CheckMeaning> {
  using CheckMeaningPassBase::CheckMeaningPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    // What the checked passes may create has to be loaded before threads run.
    OpPassManager manager(ModuleOp::getOperationName());
    if (succeeded(parsePassPipeline(passes, manager, llvm::nulls())))
      manager.getDependentDialects(registry);
  }

  void runOnOperation() override {
    auto sizes = StepSizes::parse(this->sizes);
    if (!sizes)
      return fail(sizes.takeError());
    PassManager manager(&getContext());
    if (failed(parsePassPipeline(passes, manager, llvm::errs())))
      return signalPassFailure();
    OwningOpRef<ModuleOp> after = getOperation().clone();
    if (failed(manager.run(*after)))
      return signalPassFailure();
    unsigned count = 0;
    for (uint64_t run = 0; run < runs; ++run)
      if (llvm::Error error = compareModules(getOperation(), *after, seed + run,
                                             tolerance, *sizes, &count))
        return fail(llvm::createStringError("with seed " + Twine(seed + run) +
                                            ": " +
                                            llvm::toString(std::move(error))));
    llvm::outs() << passes << ": " << count << " functions mean the same in "
                 << runs << " runs\n";
    llvm::outs().flush();
    markAllAnalysesPreserved();
  }

  void fail(llvm::Error error) {
    getOperation().emitError(llvm::toString(std::move(error)));
    signalPassFailure();
  }
};
} // namespace
