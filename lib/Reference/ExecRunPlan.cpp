//===- ExecRunPlan.cpp - Programs with and without a buffer plan ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mmx/Dialect/MMX/MMXInterfaces.h"
#include "mmx/Reference/ExecInterpreter.h"
#include "mmx/Reference/ExecPasses.h"
#include <cmath>

namespace mmx::exec {
#define GEN_PASS_DEF_EXECRUNPLAN
#include "mmx/Reference/ExecPasses.h.inc"
} // namespace mmx::exec

using namespace mlir;
using namespace mmx;
using namespace mmx::exec;

static bool hasNaN(const tile::HostArray &array) {
  if (array.getKind() == tile::ElementKind::F64)
    return false;
  for (int64_t i = 0; i < array.getNumStored(); ++i)
    if (std::isnan(array.load(i).f))
      return true;
  return false;
}

namespace {
struct RunPlan : exec::impl::ExecRunPlanBase<RunPlan> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (at.size() != numStepSymbols) {
      module.emitOpError("expected option 'at' with ")
          << numStepSymbols << " values, but got " << at.size();
      return signalPassFailure();
    }
    SymbolTable symbols(module);
    for (auto op : module.getOps<ProgramOp>())
      if ((program.empty() || op.getSymName() == program) &&
          failed(compare(op, symbols)))
        return signalPassFailure();
  }

private:
  LogicalResult compare(ProgramOp program, const SymbolTable &kernels) {
    SmallVector<int64_t> symbols(at.begin(), at.end());
    ExecMachine separate(program, symbols), planned(program, symbols);
    fillInputs(separate, program, symbols, seed);
    fillInputs(planned, program, symbols, seed);
    if (failed(separate.run(kernels, TempMemory::Separate)) ||
        failed(planned.run(kernels, TempMemory::Arena)))
      return failure();
    for (InputOp input : program.getBody().getOps<InputOp>()) {
      tile::HostArray &expected = separate.getArray(input);
      tile::HostArray &actual = planned.getArray(input);
      for (int64_t i = 0; i < expected.getNumStored(); ++i)
        if (!tile::equalBits(expected.load(i), actual.load(i),
                             expected.getKind()))
          return input.emitOpError("expected the same '")
                 << input.getRole()
                 << "' with and without the plan, but element " << i
                 << " differs";
      if (input.getKind() != RoleKind::Table && hasNaN(expected))
        return input.emitOpError("expected numbers in '")
               << input.getRole()
               << "', but some are NaN: a launch reads memory that none wrote";
    }
    return success();
  }
};
} // namespace
