//===- CheckedTensors.cpp - Tensors that hold finite numbers --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/CheckedTensors.h"

#include "runtime/package/Element.h"
#include "runtime/support/Error.h"

#include <algorithm>
#include <cstring>

using namespace mmx;
using namespace mmx::runtime;

/// The index of the first element, of type Bits, whose exponent, the bits of
/// `mask`, is all ones: infinities and NaN. `count` if there is none.
template <typename Bits>
static int64_t findNotFinite(const std::byte *bytes, int64_t count, Bits mask) {
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, bytes + i * sizeof(Bits), sizeof(Bits));
    if ((bits & mask) == mask)
      return i;
  }
  return count;
}

void CheckedTensors::refuse(const TensorInfo &tensor, int64_t element,
                            float value) const {
  std::vector<int64_t> index;
  for (auto extent = tensor.shape.rbegin(); extent != tensor.shape.rend();
       ++extent) {
    index.insert(index.begin(), element % *extent);
    element /= *extent;
  }
  fail(describe(tensor.name), ": expected finite numbers, but element ",
       listText(index), " is ", value);
}

void CheckedTensors::read(const TensorInfo &tensor, int64_t first,
                          int64_t count, package::Element element,
                          std::byte *out) const {
  source->read(tensor, first, count, element, out);
  bool narrow = element == package::Element::BF16;
  int64_t place = narrow ? findNotFinite<uint16_t>(out, count, 0x7f80)
                         : findNotFinite<uint32_t>(out, count, 0x7f800000);
  if (place == count)
    return;
  // As it is stored: a large number may have been rounded to infinity.
  float value;
  source->read(tensor, first + place, 1, package::Element::F32,
               reinterpret_cast<std::byte *>(&value));
  refuse(tensor, first + place, value);
}

const void *CheckedTensors::data(const TensorInfo &tensor) const {
  const void *result = source->data(tensor);
  if (tensor.element != "F32" && tensor.element != "BF16" &&
      tensor.element != "F16")
    return result;
  int64_t total = 1;
  for (int64_t extent : tensor.shape)
    total *= extent;
  std::vector<std::byte> block(4096 * sizeof(float));
  for (int64_t first = 0; first < total; first += 4096)
    read(tensor, first, std::min<int64_t>(4096, total - first),
         package::Element::F32, block.data());
  return result;
}
