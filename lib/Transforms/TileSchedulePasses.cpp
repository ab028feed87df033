//===- TileSchedulePasses.cpp - Passes that check schedules --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mmx/Dialect/Tile/TileRoleOps.h"
#include "mmx/Transforms/TilePasses.h"
#include "mmx/Transforms/TileRoleCode.h"

namespace mmx::tile {
#define GEN_PASS_DEF_TILECHECKROLES
#define GEN_PASS_DEF_TILEVERIFYSCHEDULE
#include "mmx/Transforms/TilePasses.h.inc"
} // namespace mmx::tile

using namespace mlir;
using namespace mmx::tile;

namespace {
class TileVerifySchedule
    : public mmx::tile::impl::TileVerifyScheduleBase<TileVerifySchedule> {
  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      if (!kernel.getScheduleAttr())
        return;
      ++numKernels;
      FailureOr<ScheduleInfo> info = ScheduleInfo::create(kernel);
      if (failed(info) || failed(RolePrograms::derive(*info)))
        return signalPassFailure();
      numRings += llvm::count_if(
          info->rings, [](const RingInfo &ring) { return !ring.local; });
    });
    markAllAnalysesPreserved();
  }
};

class TileCheckRoles
    : public mmx::tile::impl::TileCheckRolesBase<TileCheckRoles> {
  void runOnOperation() override {
    for (auto roles : getOperation().getOps<RolesOp>()) {
      auto kernel = getOperation().lookupSymbol<KernelOp>(roles.getKernel());
      if (!kernel) {
        roles.emitOpError("expected the kernel ") << roles.getKernelAttr();
        return signalPassFailure();
      }
      ++numListings;
      if (failed(verifyListing(kernel, roles)))
        return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
