//===- Random.h - Numbers that depend on a seed only ------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_SUPPORT_RANDOM_H
#define MMX_RUNTIME_SUPPORT_RANDOM_H

#include <cstdint>

namespace mmx::runtime {

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the same numbers on every
/// machine. One thread.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 .. bound - 1; the bias is below bound / 2^64.
  uint64_t below(uint64_t bound) { return next() % bound; }
  /// 0 <= x < 1.
  double unit() { return double(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_SUPPORT_RANDOM_H
