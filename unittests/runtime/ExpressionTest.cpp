//===- ExpressionTest.cpp - Tests of package expressions ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/package/Expression.h"
#include "runtime/support/Error.h"

#include <gtest/gtest.h>

#include <vector>

using namespace mmx;
using namespace mmx::runtime;

using Code = std::vector<int64_t>;

static Code operation(int64_t a, package::Opcode opcode, int64_t b) {
  return {0, a, 0, b, int64_t(opcode), 0};
}

static int64_t evaluate(const Code &code,
                        std::span<const int64_t> symbols = {}) {
  Expression expression(code);
  expression.check(symbols.size());
  return expression.evaluate(symbols);
}

TEST(Expression, Operations) {
  EXPECT_EQ(evaluate(operation(7, package::Opcode::Add, 5)), 12);
  EXPECT_EQ(evaluate(operation(7, package::Opcode::Multiply, 5)), 35);
  EXPECT_EQ(evaluate(operation(7, package::Opcode::FloorDivide, 5)), 1);
  EXPECT_EQ(evaluate(operation(7, package::Opcode::CeilDivide, 5)), 2);
  EXPECT_EQ(evaluate(operation(7, package::Opcode::Modulo, 5)), 2);
}

TEST(Expression, DivisionRoundsDown) {
  EXPECT_EQ(evaluate(operation(-7, package::Opcode::FloorDivide, 5)), -2);
  EXPECT_EQ(evaluate(operation(-7, package::Opcode::CeilDivide, 5)), -1);
  EXPECT_EQ(evaluate(operation(-7, package::Opcode::Modulo, 5)), 3);
  EXPECT_EQ(evaluate(operation(-10, package::Opcode::CeilDivide, 5)), -2);
}

TEST(Expression, Symbols) {
  int64_t symbols[] = {3, 4};
  // 3 * 10 + 4.
  EXPECT_EQ(evaluate({1, 0, 0, 10, 3, 0, 1, 1, 2, 0}, symbols), 34);
}

TEST(Expression, RefusesWhatIsNotWellFormed) {
  const Code bad[] = {
      {},                   // no value
      {0},                  // half a pair
      {0, 1, 0, 2},         // two values
      {2, 0},               // pops from an empty stack
      {0, 1, 2, 0},         // pops one too many
      {1, 2},               // symbol out of range
      {1, -1},              // negative symbol
      {7, 0},               // unknown opcode
      {-1, 0},              // unknown opcode
      {INT64_MIN, 0, 0, 0}, // unknown opcode
  };
  for (const Code &code : bad)
    EXPECT_THROW(Expression(code).check(2), Error) << listText(code);
  Code deep;
  for (int64_t i = 0; i <= Expression::maxDepth; ++i)
    deep.insert(deep.end(), {0, 1});
  for (int64_t i = 0; i < Expression::maxDepth; ++i)
    deep.insert(deep.end(), {2, 0});
  EXPECT_THROW(Expression(deep).check(2), Error);
}

TEST(Expression, RefusesOverflowAndDivisionByZero) {
  const Code bad[] = {operation(INT64_MAX, package::Opcode::Add, 1),
                      operation(INT64_MAX, package::Opcode::Multiply, 2),
                      operation(1, package::Opcode::FloorDivide, 0),
                      operation(1, package::Opcode::CeilDivide, -1),
                      operation(INT64_MIN, package::Opcode::FloorDivide, -1),
                      operation(1, package::Opcode::Modulo, 0)};
  for (const Code &code : bad)
    EXPECT_THROW(evaluate(code), Error) << listText(code);
}
