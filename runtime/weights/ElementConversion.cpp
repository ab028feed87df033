//===- ElementConversion.cpp - Stored elements to f32 and bf16 ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/ElementConversion.h"

#include "runtime/package/Element.h"
#include "runtime/support/Error.h"

#include <cmath>
#include <cstring>

using namespace mmx;
using namespace mmx::runtime;

float mmx::runtime::floatFromF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 0) {
    float magnitude = std::ldexp(float(fraction), -24);
    return sign ? -magnitude : magnitude;
  }
  uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

/// Reads Stored elements as floats and writes them as `to`.
template <typename Stored, typename Widen>
static void convert(const void *source, int64_t count, package::Element to,
                    std::byte *out, Widen widen) {
  auto *bytes = static_cast<const std::byte *>(source);
  auto load = [&](int64_t i) {
    Stored stored;
    std::memcpy(&stored, bytes + i * sizeof(Stored), sizeof(Stored));
    return widen(stored);
  };
  if (to == package::Element::F32) {
    for (int64_t i = 0; i < count; ++i) {
      float value = load(i);
      std::memcpy(out + i * 4, &value, 4);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint16_t value = bf16FromFloat(load(i));
    std::memcpy(out + i * 2, &value, 2);
  }
}

void mmx::runtime::convertElements(const void *source, std::string_view from,
                                   int64_t count, package::Element to,
                                   std::byte *out) {
  if (to != package::Element::F32 && to != package::Element::BF16)
    fail("expected F32 or BF16 in memory, but got ",
         package::EnumNameElement(to));
  if ((from == "F32" && to == package::Element::F32) ||
      (from == "BF16" && to == package::Element::BF16))
    std::memcpy(out, source, count * elementSize(to));
  else if (from == "F32")
    convert<float>(source, count, to, out, [](float value) { return value; });
  else if (from == "BF16")
    convert<uint16_t>(source, count, to, out, floatFromBf16);
  else if (from == "F16")
    convert<uint16_t>(source, count, to, out, floatFromF16);
  else
    fail("expected stored elements F32, BF16 or F16, but got ", from);
}
