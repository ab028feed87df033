//===- InterpretPass.cpp - Runs functions and prints their results --------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/MMXInterpreter.h"
#include "mmx/Reference/Passes.h"
#include "mmx/Reference/RandomInputs.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mmx;
using namespace mmx::reference;

namespace mmx::reference {
#define GEN_PASS_DEF_INTERPRETPASS
#include "mmx/Reference/Passes.h.inc"
} // namespace mmx::reference

/// "[1, 2]: a b c" for every innermost row.
static void printRows(raw_ostream &os, const Tensor &tensor) {
  int64_t width = tensor.getRank() ? tensor.getShape().back() : 1;
  for (int64_t first = 0; first < tensor.getNumElements(); first += width) {
    SmallVector<int64_t> position;
    int64_t row = first / width;
    for (int64_t dim = tensor.getRank() - 2; dim >= 0; --dim) {
      position.insert(position.begin(), row % tensor.getDim(dim));
      row /= tensor.getDim(dim);
    }
    os << "  [";
    llvm::interleaveComma(position, os);
    os << "]:";
    for (int64_t i = first; i < first + width; ++i) {
      if (tensor.isFloat())
        os << llvm::format(" %.7g", tensor.getFloats()[i]);
      else
        os << ' ' << tensor.getInts()[i];
    }
    os << '\n';
  }
}

static void printSummary(raw_ostream &os, const Tensor &tensor) {
  double sum = 0, squares = 0, least = INFINITY, largest = -INFINITY;
  int64_t count = tensor.getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    double x = tensor.isFloat() ? tensor.getFloats()[i] : tensor.getInts()[i];
    sum += x;
    squares += x * x;
    least = std::min(least, x);
    largest = std::max(largest, x);
  }
  os << llvm::format("  mean %.7g, root mean square %.7g, least %.7g, "
                     "largest %.7g\n",
                     sum / count, std::sqrt(squares / count), least, largest);
}

namespace {
struct Interpret : mmx::reference::impl::InterpretPassBase<Interpret> {
  using InterpretPassBase::InterpretPassBase;

  void runOnOperation() override {
    llvm::Expected<StepSizes> parsed = StepSizes::parse(sizes);
    if (!parsed)
      return fail(getOperation(), parsed.takeError());
    RandomInputs inputs(seed, *parsed);
    InterpreterOptions options;
    options.roundResults = roundResults;
    if (seed)
      options.weights = [&](GlobalOp global) -> llvm::Expected<Tensor> {
        return inputs.getWeight(global);
      };
    Interpreter interpreter(getOperation(), options);
    bool found = false;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      bool wanted = entry.empty()
                        ? !function.isExternal() &&
                              (seed || function.getNumArguments() == 0)
                        : function.getSymName() == entry;
      if (!wanted)
        continue;
      found = true;
      if (llvm::Error error = runFunction(interpreter, inputs, function))
        return fail(function, std::move(error));
    }
    if (!found)
      return fail(getOperation(),
                  llvm::createStringError("found no function to run"));
    markAllAnalysesPreserved();
  }

  llvm::Error runFunction(Interpreter &interpreter, const RandomInputs &inputs,
                          func::FuncOp function) {
    SmallVector<Tensor> arguments;
    if (function.getNumArguments()) {
      if (!seed)
        return llvm::createStringError(
            "expected a seed for the arguments of @" + function.getSymName());
      auto random = inputs.getArguments(function);
      if (!random)
        return random.takeError();
      arguments = std::move(*random);
    }
    auto results = interpreter.run(function, std::move(arguments));
    if (!results)
      return results.takeError();
    raw_ostream &os = llvm::outs();
    for (auto [index, result] : llvm::enumerate(*results)) {
      os << '@' << function.getSymName() << " result " << index << ": ";
      llvm::interleave(result.getShape(), os, "x");
      os << '\n';
      if (result.getNumElements() <= maxElements)
        printRows(os, result);
      else
        printSummary(os, result);
    }
    os.flush();
    return llvm::Error::success();
  }

  void fail(Operation *op, llvm::Error error) {
    op->emitError(llvm::toString(std::move(error)));
    signalPassFailure();
  }
};
} // namespace
