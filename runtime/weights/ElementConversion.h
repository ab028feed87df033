//===- ElementConversion.h - Stored elements to f32 and bf16 ----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pure functions. Widening is exact; narrowing rounds to nearest, ties to
// even. Source addresses need no alignment.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_WEIGHTS_ELEMENTCONVERSION_H
#define MMX_RUNTIME_WEIGHTS_ELEMENTCONVERSION_H

#include "mmx/package_generated.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mmx::runtime {

float floatFromF16(uint16_t bits);

/// Converts `count` elements of type `from` ("F32", "BF16", "F16") to `to`
/// (F32, BF16). Throws on other types.
void convertElements(const void *source, std::string_view from, int64_t count,
                     package::Element to, std::byte *out);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_WEIGHTS_ELEMENTCONVERSION_H
