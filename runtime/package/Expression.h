//===- Expression.h - Integer expressions of a package ----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs for a stack machine (schema/package.fbs): shapes, offsets, extents
// and grids in the symbols of a step. An Expression views code that the
// package owns. Threads: const.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_PACKAGE_EXPRESSION_H
#define MMX_RUNTIME_PACKAGE_EXPRESSION_H

#include "mmx/package_generated.h"

#include <cstdint>
#include <span>

namespace mmx::runtime {

/// The numbers of a vector in place. Throws if they stand misaligned, which
/// the FlatBuffers verifier lets pass.
std::span<const int64_t> longs(const flatbuffers::Vector<int64_t> &vector);

class Expression {
public:
  static constexpr int64_t maxDepth = 64;

  explicit Expression(std::span<const int64_t> code) : code(code) {}
  explicit Expression(const package::Expression &expression)
      : code(longs(*expression.code())) {}

  /// Throws unless the program leaves one value, never pops from an empty
  /// stack, and names symbols below `symbols` only.
  void check(int64_t symbols) const;

  /// The value, of a program that passed check with at most
  /// `symbols.size()` symbols. Division rounds down and Modulo is not
  /// negative. Throws on overflow and on a divisor below 1.
  int64_t evaluate(std::span<const int64_t> symbols) const;

private:
  std::span<const int64_t> code;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_PACKAGE_EXPRESSION_H
