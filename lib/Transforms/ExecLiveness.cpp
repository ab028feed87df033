//===- ExecLiveness.cpp - Live ranges of temporaries ----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Transforms/ExecLiveness.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mmx::exec;

SmallVector<LiveRange> mmx::exec::getLiveRanges(ProgramOp program) {
  llvm::MapVector<Value, LiveRange> ranges;
  int64_t number = 0;
  for (LaunchOp launch : program.getBody().getOps<LaunchOp>()) {
    for (Value buffer : launch.getBuffers()) {
      auto temp = buffer.getDefiningOp<TempOp>();
      if (!temp)
        continue;
      auto [it, isNew] = ranges.try_emplace(buffer, temp, number, number);
      it->second.last = number;
    }
    ++number;
  }
  SmallVector<LiveRange> result;
  for (auto temp : program.getBody().getOps<TempOp>())
    if (auto it = ranges.find(temp.getResult()); it != ranges.end())
      result.push_back(it->second);
  return result;
}
