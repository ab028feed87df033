//===- WeightLoader.h - Fills the weights of a package ----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A weight is cut into pieces: bytes of the weight that one part of one tensor
// fills, small enough for several threads to share the work. A piece is read
// (converted, and brought into panels where the weight has them) by one thread
// into memory that the caller owns; pieces of one weight do not overlap and
// together cover it. Mapped pages are given back after each piece, so memory
// beyond the weights stays within a few megabytes.
//
// Errors name the file, the tensor, and what was expected and found.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_WEIGHTS_WEIGHTLOADER_H
#define MMX_RUNTIME_WEIGHTS_WEIGHTLOADER_H

#include "runtime/weights/TensorSource.h"

namespace mmx::runtime {

/// Bytes of a weight in its layout, padding included.
int64_t weightBytes(const package::Weight &weight);

struct WeightPiece {
  int64_t weight;           ///< number in Package.weights
  int64_t offset;           ///< of its first byte in the weight
  int64_t bytes;            ///< that it fills
  const TensorInfo *tensor; ///< in the source it was planned for
  int64_t first;            ///< element of the tensor it starts at
  int64_t count;            ///< elements it reads
  package::Element element; ///< in memory
  int64_t inner;            ///< elements after the panel dimension; panels only
  int64_t panel;            ///< 0: row-major
};

/// The pieces of all weights in order. Throws if `source` lacks a tensor or
/// has it in another shape.
std::vector<WeightPiece> planWeights(const package::Package &package,
                                     const TensorSource &source);

/// Writes the bytes of `piece` to `out`.
void readPiece(const WeightPiece &piece, const TensorSource &source,
               std::byte *out);

/// Ids whose row of the output matrix is zero: no token stands behind them.
/// `vocab` rows of "lm_head.weight", or of "model.embed_tokens.weight" where
/// the two are tied.
std::vector<int32_t> tokenlessIds(const TensorSource &source, int64_t vocab);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_WEIGHTS_WEIGHTLOADER_H
