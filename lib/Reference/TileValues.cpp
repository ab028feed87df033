//===- TileValues.cpp - Scalars, tiles and arrays of interpreters ---------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/TileValues.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mmx/Dialect/Tile/TileDialect.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>
#include <numeric>

using namespace mlir;
using namespace mmx::tile;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

std::optional<ElementKind> mmx::tile::getElementKind(Type type) {
  if (type.isF32())
    return ElementKind::F32;
  if (type.isF64())
    return ElementKind::F64;
  if (type.isBF16())
    return ElementKind::BF16;
  if (type.isIndex())
    return ElementKind::Index;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !integer.isSignless())
    return std::nullopt;
  switch (integer.getWidth()) {
  case 1:
    return ElementKind::I1;
  case 8:
    return ElementKind::I8;
  case 32:
    return ElementKind::I32;
  case 64:
    return ElementKind::I64;
  default:
    return std::nullopt;
  }
}

bool mmx::tile::isFloatKind(ElementKind kind) {
  return kind == ElementKind::F32 || kind == ElementKind::F64 ||
         kind == ElementKind::BF16;
}

unsigned mmx::tile::getByteSize(ElementKind kind) {
  switch (kind) {
  case ElementKind::I1:
  case ElementKind::I8:
    return 1;
  case ElementKind::BF16:
    return 2;
  case ElementKind::F32:
  case ElementKind::I32:
    return 4;
  default:
    return 8;
  }
}

unsigned mmx::tile::getBitWidth(ElementKind kind) {
  return kind == ElementKind::I1 ? 1 : 8 * getByteSize(kind);
}

float mmx::tile::roundToBF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return llvm::bit_cast<float>((bits | 0x00400000u) & 0xffff0000u);
  bits += 0x7fffu + ((bits >> 16) & 1);
  return llvm::bit_cast<float>(bits & 0xffff0000u);
}

int64_t mmx::tile::wrapInteger(int64_t value, ElementKind kind) {
  unsigned width = getBitWidth(kind);
  if (width == 1)
    return value & 1;
  return llvm::SignExtend64(value, width);
}

bool mmx::tile::equalBits(Cell lhs, Cell rhs, ElementKind kind) {
  if (kind == ElementKind::F32 || kind == ElementKind::BF16)
    return llvm::bit_cast<uint32_t>(lhs.f) == llvm::bit_cast<uint32_t>(rhs.f);
  return lhs.i == rhs.i;
}

//===----------------------------------------------------------------------===//
// TileValue
//===----------------------------------------------------------------------===//

TileValue::TileValue(ArrayRef<int64_t> shape, ElementKind kind, int64_t along)
    : shape(shape), along(along), kind(kind) {
  int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                  std::multiplies<int64_t>());
  cells.resize(count, Cell{.i = 0});
}

TileValue::TileValue(Type type) {
  if (auto frag = dyn_cast<FragType>(type))
    *this = TileValue(frag.getShape(), *getElementKind(frag.getElementType()),
                      frag.getAlong());
  else if (auto sram = dyn_cast<SramType>(type))
    *this = TileValue(sram.getShape(), *getElementKind(sram.getElementType()));
}

int64_t TileValue::getRows() const {
  return shape.size() == 1 && along == 1 ? 1 : shape[0];
}

int64_t TileValue::getColumns() const {
  if (shape.size() == 2)
    return shape[1];
  return along == 1 ? shape[0] : 1;
}

bool mmx::tile::equalBits(const TileValue &lhs, const TileValue &rhs) {
  if (lhs.shape != rhs.shape || lhs.kind != rhs.kind || lhs.along != rhs.along)
    return false;
  for (size_t i = 0, e = lhs.cells.size(); i < e; ++i)
    if (!equalBits(lhs.cells[i], rhs.cells[i], lhs.kind))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// HostArray
//===----------------------------------------------------------------------===//

HostArray::HostArray(ArrayRef<int64_t> shape, ElementKind kind, int64_t panel,
                     int64_t along)
    : shape(shape), kind(kind), panel(panel), along(along) {
  computeLayout();
  owned.resize(getStorageSize());
  data = owned.data();
}

HostArray::HostArray(void *data, ArrayRef<int64_t> shape, ElementKind kind,
                     int64_t panel, int64_t along)
    : shape(shape), kind(kind), panel(panel), along(along),
      data(static_cast<uint8_t *>(data)) {
  computeLayout();
}

void HostArray::computeLayout() {
  strides.resize(shape.size());
  int64_t stride = panel ? panel : 1;
  for (int64_t d = shape.size() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *=
        panel && d == along ? llvm::divideCeil(shape[d], panel) : shape[d];
  }
  numStored = stride;
}

HostArray HostArray::clone() const {
  HostArray copy(shape, kind, panel, along);
  if (int64_t size = getStorageSize())
    std::memcpy(copy.data, data, size);
  return copy;
}

int64_t HostArray::getNumElements() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

int64_t HostArray::getOffset(ArrayRef<int64_t> indices) const {
  int64_t offset = 0;
  for (auto [d, index] : llvm::enumerate(indices)) {
    if (index < 0 || index >= shape[d])
      return -1;
    if (panel && int64_t(d) == along)
      offset += index / panel * strides[d] + index % panel;
    else
      offset += index * strides[d];
  }
  return offset;
}

SmallVector<int64_t> HostArray::getIndices(int64_t offset) const {
  SmallVector<int64_t> indices(shape.size());
  int64_t lane = panel ? offset % panel : 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    indices[d] = offset / strides[d];
    offset %= strides[d];
    if (panel && int64_t(d) == along)
      indices[d] = indices[d] * panel + lane;
  }
  return indices;
}

Cell HostArray::load(int64_t offset) const {
  const uint8_t *source = data + offset * getByteSize(kind);
  auto read = [&]<typename T>(T value) {
    std::memcpy(&value, source, sizeof(T));
    return value;
  };
  switch (kind) {
  case ElementKind::F32:
    return {.f = read(float())};
  case ElementKind::F64:
    return {.d = read(double())};
  case ElementKind::BF16:
    return {.f = llvm::bit_cast<float>(uint32_t(read(uint16_t())) << 16)};
  case ElementKind::I1:
    return {.i = read(uint8_t()) & 1};
  case ElementKind::I8:
    return {.i = read(int8_t())};
  case ElementKind::I32:
    return {.i = read(int32_t())};
  default:
    return {.i = read(int64_t())};
  }
}

void HostArray::store(int64_t offset, Cell value, ElementKind from) {
  uint8_t *target = data + offset * getByteSize(kind);
  auto write = [&](auto element) {
    std::memcpy(target, &element, sizeof(element));
  };
  double wide = from == ElementKind::F64 ? value.d : value.f;
  switch (kind) {
  case ElementKind::F32:
    return write(from == ElementKind::F64 ? float(value.d) : value.f);
  case ElementKind::F64:
    return write(wide);
  case ElementKind::BF16:
    return write(
        uint16_t(llvm::bit_cast<uint32_t>(roundToBF16(float(wide))) >> 16));
  case ElementKind::I1:
  case ElementKind::I8:
    return write(int8_t(value.i));
  case ElementKind::I32:
    return write(int32_t(value.i));
  default:
    return write(value.i);
  }
}

void HostArray::fillBytes(uint8_t byte) {
  if (int64_t size = getStorageSize())
    std::memset(data, byte, size);
}
