//===- ExecLiveness.h - Live ranges of temporaries --------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TRANSFORMS_EXECLIVENESS_H
#define MMX_TRANSFORMS_EXECLIVENESS_H

#include "mmx/Dialect/Exec/ExecOps.h"

namespace mmx::exec {

/// A temporary and the first and last launch that take it, numbered from 0 in
/// the order of the program.
struct LiveRange {
  TempOp temp;
  int64_t first, last;

  bool overlaps(const LiveRange &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// The ranges of all temporaries with a launch, in the order of the program.
llvm::SmallVector<LiveRange> getLiveRanges(ProgramOp program);

} // namespace mmx::exec

#endif // MMX_TRANSFORMS_EXECLIVENESS_H
