//===- TileRunRolesPass.cpp - Roles in many interleavings -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mmx/Reference/TileInputs.h"
#include "mmx/Reference/TileMachine.h"
#include "mmx/Reference/TilePasses.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

namespace mmx::tile {
#define GEN_PASS_DEF_TILERUNROLES
#include "mmx/Reference/TilePasses.h.inc"
} // namespace mmx::tile

using namespace mlir;
using namespace mmx::tile;

static bool equalArrays(const KernelInputs &a, const KernelInputs &b) {
  for (auto [left, right] : llvm::zip_equal(a.arrays, b.arrays)) {
    size_t size = left.getStorageSize();
    if (size && std::memcmp(left.getData(), right.getData(), size) != 0)
      return false;
  }
  return true;
}

namespace {
struct TileRunRoles : mmx::tile::impl::TileRunRolesBase<TileRunRoles> {
  using TileRunRolesBase::TileRunRolesBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (kernel.getScheduleAttr() && failed(run(kernel)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  LogicalResult run(KernelOp kernel) {
    ScheduleFaults none;
    FailureOr<ScheduleInfo> info = ScheduleInfo::create(kernel);
    if (failed(info))
      return failure();
    FailureOr<RolePrograms> programs = RolePrograms::derive(*info, none);
    if (failed(programs))
      return failure();
    FailureOr<TileMachine> machine =
        TileMachine::create(*info, *programs, none);
    FailureOr<KernelInputs> inputs = makeKernelInputs(kernel, extents, 1);
    if (failed(machine) || failed(inputs))
      return failure();
    KernelInputs expected = inputs->clone();
    if (failed(interpretKernel(kernel, expected.arguments)))
      return failure();
    for (unsigned seed = 0; seed < seeds; ++seed) {
      KernelInputs actual = inputs->clone();
      TileMachineOptions options;
      options.seed = seed;
      std::string fault = machine->run(actual.arguments, options);
      if (fault.empty() && !equalArrays(expected, actual))
        fault = "the result is not that of the program without its schedule";
      if (!fault.empty())
        return kernel.emitError("interleaving ") << seed << ": " << fault;
    }
    llvm::outs() << "@" << kernel.getSymName() << ": " << seeds
                 << " interleavings\n";
    return success();
  }
};
} // namespace
