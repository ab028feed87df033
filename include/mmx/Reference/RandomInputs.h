//===- RandomInputs.h - Random but valid inputs of functions ----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_RANDOMINPUTS_H
#define MMX_REFERENCE_RANDOMINPUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mmx/Dialect/MMX/MMXInterfaces.h"
#include "mmx/Dialect/MMX/MMXOps.h"
#include "mmx/Reference/Tensor.h"
#include <array>
#include <optional>

namespace mmx::reference {

/// The numbers that vary from step to step, by `StepSymbol`; what is not set
/// is chosen.
struct StepSizes {
  std::array<std::optional<int64_t>, numStepSymbols> values;

  std::optional<int64_t> &operator[](StepSymbol symbol) {
    return values[static_cast<unsigned>(symbol)];
  }

  /// Reads "tokens:5,sequences:2": names are tokens, sequences, outputs,
  /// slots, cache_rows, page_columns; values are positive.
  static llvm::Expected<StepSizes> parse(llvm::StringRef text);
};

/// A small generator with the same numbers on every platform.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next();
  /// Uniform in [0, count), `count` > 0.
  int64_t below(int64_t count);
  /// Standard normal.
  double normal();

private:
  uint64_t state;
};

/// Random arguments of functions, and weights. Floats are normal (weights
/// scaled so that products keep their size), rounded to their element type.
/// Integers hold what they stand for, which `mmx.role` says or the ops that
/// use them: one consistent step of packed sequences, some of them possibly
/// empty, with a past in a paged cache. The same seed gives the same values.
class RandomInputs {
public:
  explicit RandomInputs(uint64_t seed, StepSizes sizes = {})
      : seed(seed), sizes(sizes) {}

  /// Arguments for one run. A function of phase "decode", or with a
  /// `lightning_step`, gets one token a sequence. Errors: an integer argument
  /// whose meaning is not known; sizes that contradict each other or a type.
  llvm::Expected<llvm::SmallVector<Tensor>>
  getArguments(mlir::func::FuncOp function) const;

  /// The value of a weight, which depends on its name and type alone.
  Tensor getWeight(GlobalOp global) const;

private:
  uint64_t seed;
  StepSizes sizes;
};

} // namespace mmx::reference

#endif // MMX_REFERENCE_RANDOMINPUTS_H
