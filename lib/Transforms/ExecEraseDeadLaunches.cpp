//===- ExecEraseDeadLaunches.cpp - Launches nobody needs ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mmx/Dialect/Exec/ExecOps.h"
#include "mmx/Transforms/ExecPasses.h"
#include "llvm/ADT/DenseSet.h"

namespace mmx::exec {
#define GEN_PASS_DEF_EXECERASEDEADLAUNCHES
#include "mmx/Transforms/ExecPasses.h.inc"
} // namespace mmx::exec

using namespace mlir;
using namespace mmx::exec;

namespace {
struct EraseDeadLaunches
    : mmx::exec::impl::ExecEraseDeadLaunchesBase<EraseDeadLaunches> {
  void runOnOperation() override {
    Block &body = getOperation().getBody().front();
    // Backwards, with the temporaries that later launches take. One that is
    // written twice stays needed before the last write: it may be updated.
    DenseSet<Value> needed;
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
      auto launch = dyn_cast<LaunchOp>(op);
      if (!launch) {
        if (isOpTriviallyDead(&op))
          op.erase();
        continue;
      }
      bool isNeeded = llvm::any_of(launch.getWrites(), [&](int64_t i) {
        Value buffer = launch.getBuffers()[i];
        return !buffer.getDefiningOp<TempOp>() || needed.contains(buffer);
      });
      if (isNeeded) {
        needed.insert_range(launch.getBuffers());
        continue;
      }
      op.erase();
      ++numErased;
    }
  }
};
} // namespace
