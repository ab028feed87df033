//===- RelativeError.h - How far two results are apart ----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_UNITTESTS_MODEL_RELATIVEERROR_H
#define MMX_UNITTESTS_MODEL_RELATIVEERROR_H

#include <cmath>
#include <limits>
#include <span>

namespace mmx::test {

/// |got - expected| / |expected|, infinite where the sizes differ.
inline double relativeError(std::span<const float> got,
                            std::span<const float> expected) {
  if (got.size() != expected.size())
    return std::numeric_limits<double>::infinity();
  double difference = 0, norm = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    double delta = double(got[i]) - double(expected[i]);
    difference += delta * delta;
    norm += double(expected[i]) * double(expected[i]);
  }
  return std::sqrt(difference / norm);
}

} // namespace mmx::test

#endif // MMX_UNITTESTS_MODEL_RELATIVEERROR_H
