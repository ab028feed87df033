//===- Sha256.h - The SHA-256 digest ----------------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FIPS 180-4. Objects are plain values and shared by no threads.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_SUPPORT_SHA256_H
#define MMX_RUNTIME_SUPPORT_SHA256_H

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mmx::runtime {

class Sha256 {
public:
  using Digest = std::array<uint8_t, 32>;

  void update(std::span<const uint8_t> bytes);
  void update(std::string_view text);
  /// The digest of all that was given to update; ends the use of the object.
  Digest finish();

  static Digest of(std::span<const uint8_t> bytes);

private:
  void compress(const uint8_t *block);

  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                   0xa54ff53a, 0x510e527f, 0x9b05688c,
                                   0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending = {};
  uint64_t length = 0;
};

/// 64 lower-case hexadecimal digits.
std::string toHex(const Sha256::Digest &digest);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_SUPPORT_SHA256_H
