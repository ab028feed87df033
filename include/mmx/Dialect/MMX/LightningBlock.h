//===- LightningBlock.h - The block form of lightning attention -*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recognises the one loop that `mmx-block-lightning` and `mmx-fuse-lightning`
// make of lightning attention, and nothing that computes more or less.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_MMX_LIGHTNINGBLOCK_H
#define MMX_DIALECT_MMX_LIGHTNINGBLOCK_H

#include "mmx/Dialect/MMX/MMXOps.h"

namespace mmx {

/// What a block loop reads and writes that computes, for every block of m
/// tokens,
///
///   O = query_decay(Q S) + decay_mask(Q K^T) V,
///   S <- exp(-rate m) S + K^T key_decay(V).
struct LightningBlock {
  ForBlocksOp loop;
  mlir::Value query, key, value; ///< operands of the loop
  mlir::Value result, newStates; ///< results of the loop
  DecayAttr decay;

  static std::optional<LightningBlock> match(ForBlocksOp loop);
  /// The only op of a fusion group that computes, if it is such a loop.
  static std::optional<LightningBlock> match(KernelOp kernel);

  mlir::Value getStates() { return loop.getCarry().front(); }
  int64_t getHeads() const;
  int64_t getDim() const;
  /// Warp groups can run it: products of bf16 in tiles that tensor cores and
  /// bulk copies take, and decays whose inverse over a block is finite.
  bool fitsWarpGroups() const;
};

} // namespace mmx

#endif // MMX_DIALECT_MMX_LIGHTNINGBLOCK_H
