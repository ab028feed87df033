//===- Tensor.h - Host tensors of the reference interpreters ----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_TENSOR_H
#define MMX_REFERENCE_TENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace mmx::reference {

/// A row-major tensor of doubles or of 32-bit integers, whatever the element
/// type it has in the IR.
///
/// A value: copies share their elements until one of them is written to
/// (copy on write), so a tensor may be passed by value. Reading from several
/// threads is safe; `getMutable...` must be called on one thread, the array
/// that it returns may be filled by many.
class Tensor {
public:
  Tensor() = default;

  /// A tensor of doubles, all `value`.
  static Tensor floats(llvm::ArrayRef<int64_t> shape, double value = 0);
  /// A tensor of integers, all `value`.
  static Tensor ints(llvm::ArrayRef<int64_t> shape, int32_t value = 0);
  /// Takes the elements; their number is that of the shape.
  static Tensor floats(llvm::ArrayRef<int64_t> shape,
                       std::vector<double> elements);
  static Tensor ints(llvm::ArrayRef<int64_t> shape,
                     std::vector<int32_t> elements);

  /// The elements of a constant of element type f64, f32, bf16, f16 or i32.
  static llvm::Expected<Tensor> fromAttribute(mlir::DenseElementsAttr attr);

  /// False for the empty value made by the default constructor.
  explicit operator bool() const { return doubles || integers; }
  bool isFloat() const { return doubles != nullptr; }

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t getDim(int64_t dim) const { return shape[dim]; }
  int64_t getNumElements() const;
  /// Elements of one row: the product of all extents but the first.
  int64_t getRowSize() const;

  llvm::ArrayRef<double> getFloats() const { return *doubles; }
  llvm::ArrayRef<int32_t> getInts() const { return *integers; }
  llvm::MutableArrayRef<double> getMutableFloats();
  llvm::MutableArrayRef<int32_t> getMutableInts();

  /// The same elements with another shape of as many elements.
  Tensor reshape(llvm::ArrayRef<int64_t> newShape) const;
  /// Rows [first, first + count), copied.
  Tensor rows(int64_t first, int64_t count) const;

  /// Whether this can be a value of type `type`: floats or integers, rank and
  /// static extents.
  bool matches(mlir::RankedTensorType type) const;

  /// Rounds every element to `type` (f64: no change; f32; bf16 by way of
  /// f32, as compiled code does).
  void roundTo(mlir::Type type);

private:
  llvm::SmallVector<int64_t> shape;
  std::shared_ptr<std::vector<double>> doubles;
  std::shared_ptr<std::vector<int32_t>> integers;
};

/// The product of the extents.
int64_t countElements(llvm::ArrayRef<int64_t> shape);

/// `value` rounded to `type`, as `Tensor::roundTo` does.
double roundToType(double value, mlir::Type type);

} // namespace mmx::reference

#endif // MMX_REFERENCE_TENSOR_H
