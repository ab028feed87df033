//===- Expression.cpp - Integer expressions of a package ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/package/Expression.h"

#include "runtime/support/Error.h"

using namespace mmx;
using namespace mmx::runtime;

std::span<const int64_t>
mmx::runtime::longs(const flatbuffers::Vector<int64_t> &vector) {
  if (reinterpret_cast<uintptr_t>(vector.Data()) % alignof(int64_t) != 0)
    fail("holds misaligned numbers");
  return {vector.data(), vector.size()};
}

void Expression::check(int64_t symbols) const {
  if (code.empty() || code.size() % 2 != 0)
    fail("expected pairs of opcode and operand, but got ", code.size(),
         " numbers");
  int64_t depth = 0;
  for (size_t i = 0; i < code.size(); i += 2) {
    int64_t opcode = code[i], operand = code[i + 1];
    if (opcode < int64_t(package::Opcode::MIN) ||
        opcode > int64_t(package::Opcode::MAX))
      fail("unknown opcode ", opcode);
    if (opcode == int64_t(package::Opcode::Symbol) &&
        (operand < 0 || operand >= symbols))
      fail("expected a symbol below ", symbols, ", but got ", operand);
    if (opcode <= int64_t(package::Opcode::Symbol)) {
      if (++depth > maxDepth)
        fail("needs a stack deeper than ", maxDepth);
      continue;
    }
    if (--depth < 1)
      fail("pops from an empty stack");
  }
  if (depth != 1)
    fail("expected one value, but ", depth, " are left");
}

static int64_t apply(package::Opcode opcode, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  switch (opcode) {
  case package::Opcode::Add:
    overflow = __builtin_add_overflow(a, b, &result);
    break;
  case package::Opcode::Multiply:
    overflow = __builtin_mul_overflow(a, b, &result);
    break;
  default:
    if (b < 1)
      fail("division by ", b);
    int64_t quotient = a / b, remainder = a % b;
    if (remainder < 0)
      quotient -= 1, remainder += b;
    if (opcode == package::Opcode::FloorDivide)
      return quotient;
    if (opcode == package::Opcode::CeilDivide)
      return quotient + (remainder != 0);
    return remainder;
  }
  if (overflow)
    fail("64-bit overflow");
  return result;
}

int64_t Expression::evaluate(std::span<const int64_t> symbols) const {
  int64_t stack[maxDepth];
  int64_t depth = 0;
  for (size_t i = 0; i < code.size(); i += 2) {
    auto opcode = package::Opcode(code[i]);
    if (opcode == package::Opcode::Constant) {
      stack[depth++] = code[i + 1];
    } else if (opcode == package::Opcode::Symbol) {
      stack[depth++] = symbols[code[i + 1]];
    } else {
      --depth;
      stack[depth - 1] = apply(opcode, stack[depth - 1], stack[depth]);
    }
  }
  return stack[0];
}
