//===- Greedy.h - The most likely id ----------------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pure functions. Ties go to the lowest id. Throws if a logit is NaN or no id
// is left.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_SESSION_GREEDY_H
#define MMX_RUNTIME_SESSION_GREEDY_H

#include <cstdint>
#include <span>

namespace mmx::runtime {

/// The id with the largest logit, the ids in `masked` (ascending) left out.
int32_t bestId(std::span<const float> logits, std::span<const int32_t> masked);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_SESSION_GREEDY_H
