//===- SharedPlan.cpp - Slots and barriers in shared memory ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::hopper;

static constexpr int64_t tileAlignment = 1024;
static constexpr int64_t barrierBytes = 8;
static constexpr int64_t scratchAlignment = 16;

SharedPlan::SharedPlan(const tile::ScheduleInfo &info,
                       const FragmentLayout &layout) {
  for (const tile::RingInfo &ring : info.rings) {
    int64_t slot = 0;
    for (Operation *push : ring.pushes) {
      fields[push] = slot;
      slot += llvm::alignTo(tile::getTileBytes(push->getResult(0).getType()),
                            tileAlignment);
    }
    // Instances of a role do not see each other's slots.
    int64_t copies = ring.local ? info.roles[ring.producer].getInstances() : 1;
    rings.push_back({bytes, slot, 0, 0});
    bytes += slot * ring.getDepth() * copies;
  }
  for (auto [number, ring] : llvm::enumerate(info.rings)) {
    if (ring.local)
      continue;
    rings[number].full = bytes;
    rings[number].empty = bytes + ring.getDepth() * barrierBytes;
    bytes += 2 * ring.getDepth() * barrierBytes;
  }
  for (unsigned role = 0; role < info.roles.size(); ++role) {
    int64_t each = 0;
    for (auto &[op, scheduled] : info.ops) {
      auto reduce = dyn_cast<tile::ReduceOp>(op);
      if (!reduce || scheduled.role != role || !layout.isAcrossWarps(reduce))
        continue;
      Type element = cast<tile::FragType>(reduce.getType(0)).getElementType();
      each = std::max(each, info.roles[role].attr.getWarps() *
                                layout.getShape(reduce.getTile()).second *
                                element.getIntOrFloatBitWidth() / 8);
    }
    each = llvm::alignTo(each, scratchAlignment);
    bytes = llvm::alignTo(bytes, scratchAlignment);
    scratch.push_back({bytes, each});
    bytes += each * info.roles[role].getInstances();
  }
}
