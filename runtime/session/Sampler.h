//===- Sampler.h - Draws the next id ----------------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is drawn depends on the logits, the options and the position only: not
// on what was drawn before, on other sequences, or on how a prompt was cut. One
// thread at a time. Throws if a logit is NaN or no id is left.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_SESSION_SAMPLER_H
#define MMX_RUNTIME_SESSION_SAMPLER_H

#include <cstdint>
#include <span>
#include <vector>

namespace mmx::runtime {

class Sampler {
public:
  struct Options {
    double temperature = 0; ///< divides the logits; 0: always the best id
    double topP = 1; ///< the likeliest ids that hold this share are kept,
                     ///< of those that topK leaves
    uint64_t seed = 1;
    /// Only so many of the likeliest ids are kept; 0: all.
    int64_t topK = 0;
    /// Sequences with different numbers draw differently.
    uint64_t sequence = 0;
  };
  explicit Sampler(const Options &options) : options(options) {}

  /// Draws the id at `position` of the sequence. The ids in `masked`
  /// (ascending) are never drawn.
  int32_t next(std::span<const float> logits, std::span<const int32_t> masked,
               int64_t position);

private:
  Options options;
  std::vector<int32_t> ids;   ///< by logit, falling
  std::vector<double> shares; ///< of the ids, not normalised
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_SESSION_SAMPLER_H
