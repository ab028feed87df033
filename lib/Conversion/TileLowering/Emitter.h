//===- Emitter.h - Short forms for scalar and vector code -------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A builder for the code that tile ops become: i64 index arithmetic that folds
// constants, element pointers, vector registers of `width` lanes and loops.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILELOWERING_EMITTER_H
#define MMX_LIB_CONVERSION_TILELOWERING_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mmx::lowering {

/// What stands in memory for an element: i64 for an index, i8 for an i1.
mlir::Type getMemoryType(mlir::Type type);

/// Bytes of one element in memory.
int64_t getElementBytes(mlir::Type type);

/// The type in which elements of `from` are copied to elements of `to`: bits
/// where the two agree.
mlir::Type getCopyType(mlir::Type from, mlir::Type to);

class Emitter : public mlir::ImplicitLocOpBuilder {
public:
  Emitter(mlir::Location loc, mlir::OpBuilder builder, int64_t width)
      : ImplicitLocOpBuilder(loc, builder), width(width) {}

  /// Lanes of a vector register.
  const int64_t width;

  int64_t padToWidth(int64_t n) const {
    return (n + width - 1) / width * width;
  }
  int64_t countVectors(int64_t n) const { return (n + width - 1) / width; }

  // Index arithmetic on i64.
  mlir::Value i64(int64_t value);
  mlir::Value toI64(mlir::Value index);
  mlir::Value toIndex(mlir::Value value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, int64_t b);
  mlir::Value rem(mlir::Value a, int64_t b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b);
  /// a <= b
  mlir::Value le(mlir::Value a, mlir::Value b);
  /// a < b
  mlir::Value lt(mlir::Value a, mlir::Value b);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value truth(bool value);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  // Memory. Offsets count elements of `type`.
  mlir::Value at(mlir::Value pointer, mlir::Value offset, mlir::Type type);
  mlir::Value at(mlir::Value pointer, int64_t offset, mlir::Type type);
  mlir::Value load(mlir::Type type, mlir::Value pointer);
  mlir::Value loadVector(mlir::Type type, mlir::Value pointer);
  /// Stores a scalar or a vector.
  void store(mlir::Value value, mlir::Value pointer);

  // Values.
  mlir::VectorType vectorOf(mlir::Type type);
  mlir::Value splat(mlir::Value scalar);
  /// `value` as an element of `type` if it is a scalar or vector of one.
  mlir::Value constant(mlir::Type type, double value);
  /// `value` as an element of `type` in memory: bits for a bf16.
  mlir::Value bitsOf(mlir::Type type, double value);
  /// 0, 1, .. on the lanes, as index elements.
  mlir::Value iota();
  /// Converts numbers of one kind, scalar or vector, to elements of `type`.
  mlir::Value convert(mlir::Value value, mlir::Type type);

  // Control flow.
  using Body = llvm::function_ref<void(mlir::Value)>;
  using CarryingBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value, mlir::ValueRange)>;
  void forEach(mlir::Value from, mlir::Value to, int64_t step, Body body);
  llvm::SmallVector<mlir::Value> forEach(mlir::Value from, mlir::Value to,
                                         int64_t step, mlir::ValueRange inits,
                                         CarryingBody body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> then);
  void ifElse(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);
};

/// The constant that an i64 or index value is known to be.
std::optional<int64_t> getConstant(mlir::Value value);

} // namespace mmx::lowering

#endif // MMX_LIB_CONVERSION_TILELOWERING_EMITTER_H
