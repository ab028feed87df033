//===- Tensor.cpp - Host tensors of the reference interpreters ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/Tensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <cassert>
#include <cmath>

using namespace mlir;
using namespace mmx::reference;

int64_t mmx::reference::countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

Tensor Tensor::floats(ArrayRef<int64_t> shape, double value) {
  return floats(shape, std::vector<double>(countElements(shape), value));
}

Tensor Tensor::ints(ArrayRef<int64_t> shape, int32_t value) {
  return ints(shape, std::vector<int32_t>(countElements(shape), value));
}

Tensor Tensor::floats(ArrayRef<int64_t> shape, std::vector<double> elements) {
  assert(countElements(shape) == static_cast<int64_t>(elements.size()));
  Tensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.doubles = std::make_shared<std::vector<double>>(std::move(elements));
  return tensor;
}

Tensor Tensor::ints(ArrayRef<int64_t> shape, std::vector<int32_t> elements) {
  assert(countElements(shape) == static_cast<int64_t>(elements.size()));
  Tensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.integers = std::make_shared<std::vector<int32_t>>(std::move(elements));
  return tensor;
}

llvm::Expected<Tensor> Tensor::fromAttribute(DenseElementsAttr attr) {
  auto shape = attr.getType().getShape();
  if (isa<FloatType>(attr.getElementType())) {
    std::vector<double> elements;
    elements.reserve(attr.getNumElements());
    for (APFloat value : attr.getValues<APFloat>()) {
      bool inexact = false;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &inexact);
      elements.push_back(value.convertToDouble());
    }
    return floats(shape, std::move(elements));
  }
  if (attr.getElementType().isInteger(32)) {
    auto values = attr.getValues<int32_t>();
    return ints(shape, std::vector<int32_t>(values.begin(), values.end()));
  }
  return llvm::createStringError(
      "expected a constant of floats or of i32, but got another element type");
}

int64_t Tensor::getNumElements() const { return countElements(shape); }

int64_t Tensor::getRowSize() const {
  return countElements(ArrayRef(shape).drop_front());
}

MutableArrayRef<double> Tensor::getMutableFloats() {
  if (doubles.use_count() > 1)
    doubles = std::make_shared<std::vector<double>>(*doubles);
  return *doubles;
}

MutableArrayRef<int32_t> Tensor::getMutableInts() {
  if (integers.use_count() > 1)
    integers = std::make_shared<std::vector<int32_t>>(*integers);
  return *integers;
}

Tensor Tensor::reshape(ArrayRef<int64_t> newShape) const {
  assert(countElements(newShape) == getNumElements());
  Tensor tensor = *this;
  tensor.shape.assign(newShape.begin(), newShape.end());
  return tensor;
}

Tensor Tensor::rows(int64_t first, int64_t count) const {
  SmallVector<int64_t> newShape(shape);
  newShape[0] = count;
  int64_t size = getRowSize();
  if (isFloat()) {
    auto slice = getFloats().slice(first * size, count * size);
    return floats(newShape, std::vector<double>(slice.begin(), slice.end()));
  }
  auto slice = getInts().slice(first * size, count * size);
  return ints(newShape, std::vector<int32_t>(slice.begin(), slice.end()));
}

bool Tensor::matches(RankedTensorType type) const {
  if (isFloat() != isa<FloatType>(type.getElementType()))
    return false;
  if (getRank() != type.getRank())
    return false;
  return llvm::all_of(llvm::zip(shape, type.getShape()), [](auto pair) {
    auto [actual, expected] = pair;
    return ShapedType::isDynamic(expected) || actual == expected;
  });
}

double mmx::reference::roundToType(double value, Type type) {
  if (type.isF32())
    return static_cast<float>(value);
  if (!type.isBF16() || std::isnan(value))
    return value;
  uint32_t bits = llvm::bit_cast<uint32_t>(static_cast<float>(value));
  // To the nearest, ties to even, on the upper half of the word.
  bits += 0x7fff + ((bits >> 16) & 1);
  return llvm::bit_cast<float>(bits & 0xffff0000u);
}

void Tensor::roundTo(Type type) {
  if (!isFloat() || type.isF64())
    return;
  for (double &value : getMutableFloats())
    value = roundToType(value, type);
}
