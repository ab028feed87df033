//===- TileMachineScalars.cpp - Uniform scalars of an agent ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every role recomputes the scalars it needs, for the iteration of each loop
// that an instruction belongs to. They are evaluated on demand.
//
//===----------------------------------------------------------------------===//

#include "TileMachineState.h"

using namespace mlir;
using namespace mmx::tile;
using namespace mmx::tile::machine;

Cell ScalarContext::evaluate(Value value) {
  if (auto it = locals.find(value); it != locals.end())
    return it->second;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return evaluateArgument(argument);
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (context.info.isScheduledLoop(loop))
      return evaluateCarried(loop, number, getTripCount(loop));
    return evaluateScalarLoop(loop, number);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Region &region = evaluate(branch.getCondition()).i ? branch.getThenRegion()
                                                       : branch.getElseRegion();
    return evaluate(region.front().getTerminator()->getOperand(number));
  }
  return evaluateOp(op);
}

int64_t ScalarContext::getTripCount(scf::ForOp loop) {
  int64_t lower = getInt(loop.getLowerBound());
  int64_t upper = getInt(loop.getUpperBound());
  int64_t step = getInt(loop.getStep());
  return upper <= lower ? 0 : (upper - lower + step - 1) / step;
}

Cell ScalarContext::evaluateArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop) {
    auto kernel = cast<KernelOp>(parent);
    unsigned params = kernel.getParams().size();
    if (argument.getArgNumber() >= params)
      return Cell{.i = ids[argument.getArgNumber() - params]};
    return machine.arguments.lookup(argument).scalar;
  }
  int64_t iteration = iterations[loop].global;
  if (argument.getArgNumber() == 0)
    return Cell{.i = getInt(loop.getLowerBound()) +
                     iteration * getInt(loop.getStep())};
  return evaluateCarried(loop, argument.getArgNumber() - 1, iteration);
}

/// A carried scalar before `iteration`, by going back to the initial value.
Cell ScalarContext::evaluateCarried(scf::ForOp loop, unsigned number,
                                    int64_t iteration) {
  if (iteration <= 0)
    return evaluate(loop.getInitArgs()[number]);
  Iteration saved = iterations[loop];
  iterations[loop].global = iteration - 1;
  Cell result = evaluate(loop.getYieldedValues()[number]);
  iterations[loop] = saved;
  return result;
}

/// Result `number` of a loop around scalars alone.
Cell ScalarContext::evaluateScalarLoop(scf::ForOp loop, unsigned number) {
  int64_t lower = getInt(loop.getLowerBound()), step = getInt(loop.getStep());
  SmallVector<Cell> carried;
  for (Value init : loop.getInitArgs())
    carried.push_back(evaluate(init));
  for (int64_t i = 0, e = getTripCount(loop); i < e; ++i) {
    locals[loop.getInductionVar()] = Cell{.i = lower + i * step};
    for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), carried))
      locals[argument] = value;
    for (auto [value, yielded] : llvm::zip(carried, loop.getYieldedValues()))
      value = evaluate(yielded);
  }
  locals.erase(loop.getInductionVar());
  for (Value argument : loop.getRegionIterArgs())
    locals.erase(argument);
  return carried[number];
}

Cell ScalarContext::evaluateTable(TableOp table) {
  const HostArray &array = *machine.arguments.lookup(table.getView()).array;
  SmallVector<int64_t, 4> indices;
  for (Value index : table.getIndices())
    indices.push_back(getInt(index));
  int64_t offset = array.getOffset(indices);
  if (offset >= 0)
    return array.load(offset);
  machine.fail("index of a table out of range");
  return Cell{.i = 0};
}

Cell ScalarContext::evaluateOp(Operation *op) {
  if (auto table = dyn_cast<TableOp>(op))
    return evaluateTable(table);
  if (auto dim = dyn_cast<DimOp>(op))
    return Cell{.i = machine.arguments.lookup(dim.getView())
                         .array->getShape()[dim.getDim()]};
  auto found = context.scalars.find(op);
  if (found == context.scalars.end()) {
    FailureOr<ScalarInstruction> instruction = decodeScalarOp(op);
    if (failed(instruction)) {
      machine.fail("a scalar that cannot be evaluated");
      return Cell{.i = 0};
    }
    found = context.scalars.try_emplace(op, std::move(*instruction)).first;
  }
  SmallVector<Cell, 4> cells;
  for (Value operand : op->getOperands())
    cells.push_back(evaluate(operand));
  // Evaluation of the operands may have moved the instructions.
  found = context.scalars.find(op);
  SmallVector<const Cell *, 4> operands;
  for (const Cell &cell : cells)
    operands.push_back(&cell);
  Cell result = {.i = 0};
  if (failed(evaluateScalar(found->second, 1, operands, &result)))
    machine.fail("a scalar that has no value");
  return result;
}
