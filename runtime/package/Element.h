//===- Element.h - Element types of the runtime -----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pure functions on values.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_PACKAGE_ELEMENT_H
#define MMX_RUNTIME_PACKAGE_ELEMENT_H

#include "mmx/package_generated.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <span>

namespace mmx::runtime {

constexpr int64_t elementSize(package::Element element) {
  switch (element) {
  case package::Element::I8:
    return 1;
  case package::Element::BF16:
    return 2;
  case package::Element::F64:
    return 8;
  default:
    return 4;
  }
}

inline float floatFromBf16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

/// Rounds to nearest, ties to even; NaN stays NaN.
inline uint16_t bf16FromFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// The product of the extents; nothing if one is negative or the product
/// exceeds 2^60.
inline std::optional<int64_t> checkedProduct(std::span<const int64_t> shape) {
  int64_t product = 1;
  for (int64_t extent : shape)
    if (extent < 0 || extent > (int64_t(1) << 60) ||
        __builtin_mul_overflow(product, extent, &product) ||
        product > (int64_t(1) << 60))
      return std::nullopt;
  return product;
}

} // namespace mmx::runtime

#endif // MMX_RUNTIME_PACKAGE_ELEMENT_H
