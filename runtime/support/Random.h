//===- Random.h - Numbers that depend on a seed only ------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_SUPPORT_RANDOM_H
#define MMX_RUNTIME_SUPPORT_RANDOM_H

#include <array>
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

/// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011): 128 bits that depend
/// on a key and a counter only, so that numbers can be drawn in any order. A
/// pure function, the same on every machine.
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xd2511f53) * counter[0];
    uint64_t b = uint64_t(0xcd9e8d57) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key[0], uint32_t(b),
               uint32_t(a >> 32) ^ counter[3] ^ key[1], uint32_t(a)};
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return counter;
}

/// 0 <= x < 1 for a seed and two numbers.
inline double unitAt(uint64_t seed, uint64_t major, uint64_t minor) {
  auto low = [](uint64_t x) { return uint32_t(x); };
  auto high = [](uint64_t x) { return uint32_t(x >> 32); };
  std::array<uint32_t, 4> bits =
      philox({low(minor), high(minor), low(major), high(major)},
             {low(seed), high(seed)});
  return double((uint64_t(bits[1]) << 32 | bits[0]) >> 11) * 0x1p-53;
}

} // namespace mmx::runtime

#endif // MMX_RUNTIME_SUPPORT_RANDOM_H
