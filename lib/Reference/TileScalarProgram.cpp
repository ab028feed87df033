//===- TileScalarProgram.cpp - Compiled blocks of scalar code -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mmx/Reference/TileScalars.h"

using namespace mlir;
using namespace mmx::tile;

unsigned ScalarProgram::getRegister(Value value) {
  auto [it, inserted] = registers.try_emplace(value, registers.size());
  if (inserted && !top->getParent()->isAncestor(value.getParentRegion()))
    captures.push_back(value);
  return it->second;
}

LogicalResult
ScalarProgram::compileBlock(Block &block,
                            std::vector<ScalarInstruction> &code) {
  for (Operation &op : block.without_terminator()) {
    ScalarInstruction instruction;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      instruction.form = ScalarInstruction::Form::For;
      instruction.op = loop;
      for (BlockArgument argument : loop.getBody()->getArguments())
        instruction.blockArguments.push_back(getRegister(argument));
      if (failed(compileBlock(*loop.getBody(), instruction.body)))
        return failure();
      for (Value value : loop.getYieldedValues())
        instruction.yielded.push_back(getRegister(value));
    } else {
      FailureOr<ScalarInstruction> decoded = decodeScalarOp(&op);
      if (failed(decoded))
        return failure();
      instruction = std::move(*decoded);
    }
    for (Value operand : op.getOperands())
      instruction.operands.push_back(getRegister(operand));
    for (Value result : op.getResults())
      instruction.results.push_back(getRegister(result));
    code.push_back(std::move(instruction));
  }
  return success();
}

FailureOr<ScalarProgram> ScalarProgram::compile(Block &block) {
  ScalarProgram program;
  program.top = &block;
  for (BlockArgument argument : block.getArguments())
    program.getRegister(argument);
  if (failed(program.compileBlock(block, program.instructions)))
    return failure();
  for (Value value : block.getTerminator()->getOperands())
    program.results.push_back(program.getRegister(value));
  return program;
}

LogicalResult ScalarProgram::executeFor(const ScalarInstruction &loop,
                                        int64_t lanes) {
  // Bounds are uniform: every lane has the same.
  int64_t lower = getRow(loop.operands[0], lanes)->i;
  int64_t upper = getRow(loop.operands[1], lanes)->i;
  int64_t step = getRow(loop.operands[2], lanes)->i;
  if (step <= 0)
    return loop.op->emitError("expected a positive step, but got ") << step;
  size_t carried = loop.results.size();
  // Via a copy, since a loop may yield its carried values in another order.
  std::vector<Cell> values(carried * lanes);
  for (size_t i = 0; i < carried; ++i)
    std::copy_n(getRow(loop.operands[3 + i], lanes), lanes,
                values.data() + i * lanes);
  for (int64_t iv = lower; iv < upper; iv += step) {
    std::fill_n(getRow(loop.blockArguments[0], lanes), lanes, Cell{.i = iv});
    for (size_t i = 0; i < carried; ++i)
      std::copy_n(values.data() + i * lanes, lanes,
                  getRow(loop.blockArguments[1 + i], lanes));
    if (failed(execute(loop.body, lanes)))
      return failure();
    for (size_t i = 0; i < carried; ++i)
      std::copy_n(getRow(loop.yielded[i], lanes), lanes,
                  values.data() + i * lanes);
  }
  for (size_t i = 0; i < carried; ++i)
    std::copy_n(values.data() + i * lanes, lanes,
                getRow(loop.results[i], lanes));
  return success();
}

LogicalResult ScalarProgram::execute(ArrayRef<ScalarInstruction> code,
                                     int64_t lanes) {
  SmallVector<const Cell *, 4> operands;
  for (const ScalarInstruction &instruction : code) {
    if (instruction.form == ScalarInstruction::Form::For) {
      if (failed(executeFor(instruction, lanes)))
        return failure();
      continue;
    }
    operands.clear();
    for (unsigned operand : instruction.operands)
      operands.push_back(getRow(operand, lanes));
    if (failed(evaluateScalar(instruction, lanes, operands,
                              getRow(instruction.results[0], lanes))))
      return failure();
  }
  return success();
}

LogicalResult ScalarProgram::run(int64_t lanes,
                                 ArrayRef<const Cell *> arguments,
                                 ArrayRef<Cell> captured,
                                 ArrayRef<Cell *> resultRows) {
  rows.resize(registers.size() * lanes);
  for (auto [index, row] : llvm::enumerate(arguments))
    std::copy_n(row, lanes, getRow(index, lanes));
  for (auto [value, cell] : llvm::zip_equal(captures, captured))
    std::fill_n(getRow(registers.lookup(value), lanes), lanes, cell);
  if (failed(execute(instructions, lanes)))
    return failure();
  for (auto [index, row] : llvm::zip_equal(results, resultRows))
    std::copy_n(getRow(index, lanes), lanes, row);
  return success();
}
