//===- MMXInterpreter.h - Runs mmx modules in double precision --*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle of the mmx level: every op is computed in double precision,
// straight from its equation in docs/spec.md. Lightning attention is the token
// recurrence (E9), never the block form. Nothing is shared with the lowerings.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_MMXINTERPRETER_H
#define MMX_REFERENCE_MMXINTERPRETER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mmx/Dialect/MMX/MMXOps.h"
#include "mmx/Reference/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace mmx::reference {

/// The value of a weight: a tensor of the global's shape.
using WeightProvider = std::function<llvm::Expected<Tensor>(GlobalOp)>;

/// A tensor of a checkpoint by its name.
using CheckpointProvider =
    std::function<llvm::Expected<Tensor>(llvm::StringRef name)>;

/// Builds the weight that `global` declares from its sources: picks the
/// element and the rows that each names, and stacks several along a new
/// leading dimension.
llvm::Expected<Tensor> assembleWeight(GlobalOp global,
                                      const CheckpointProvider &checkpoint);

struct InterpreterOptions {
  /// Called once for each weight that is used; the result is kept. Without
  /// one, a module that uses a weight is an error.
  WeightProvider weights;
  /// Round results of element type f32 or bf16 to that type. Off, they stay
  /// doubles: the meaning of the program, not that of a machine.
  bool roundResults = false;
};

/// Runs functions of one module. The module outlives the interpreter and is
/// not changed while it lives. One thread at a time; big ops use several
/// threads inside, with results that do not depend on their number.
class Interpreter {
public:
  explicit Interpreter(mlir::ModuleOp module, InterpreterOptions options = {});

  /// Runs a function. Arguments must match its types. Errors begin with the
  /// location and the name of the op at fault.
  ///
  /// Pools move through a program without being copied if the caller gives
  /// them away (`std::move`).
  llvm::Expected<llvm::SmallVector<Tensor>>
  run(llvm::StringRef function, llvm::SmallVector<Tensor> arguments);
  llvm::Expected<llvm::SmallVector<Tensor>>
  run(mlir::func::FuncOp function, llvm::SmallVector<Tensor> arguments);

private:
  using Values = llvm::SmallVector<Tensor>;

  /// Runs the ops of `block` and returns the operands of its terminator.
  llvm::Expected<Values> runBlock(mlir::Block &block, Values arguments);
  llvm::Expected<Values> runOp(mlir::Operation &op, Values operands);
  llvm::Expected<Values> dispatch(mlir::Operation &op, Values operands);
  llvm::Expected<Values> runModelOp(mlir::Operation &op, Values &operands);
  llvm::Expected<Values> runBlockOp(mlir::Operation &op, Values &operands);
  llvm::Expected<Tensor> getWeight(WeightOp op);
  llvm::Expected<Values> runForBlocks(ForBlocksOp op, Values &operands);

  mlir::ModuleOp module;
  InterpreterOptions options;
  mlir::SymbolTableCollection symbols;
  llvm::DenseMap<mlir::Operation *, Tensor> weights;
  /// Depth of calls: recursion has no base case here, so it is an error.
  unsigned depth = 0;
};

} // namespace mmx::reference

#endif // MMX_REFERENCE_MMXINTERPRETER_H
