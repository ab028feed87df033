//===- ProgramBuilder.h - One function to one program -----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_CONVERSION_MMXTOEXEC_PROGRAMBUILDER_H
#define MMX_CONVERSION_MMXTOEXEC_PROGRAMBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mmx/Dialect/Exec/ExecOps.h"
#include "mmx/Dialect/MMX/MMXOps.h"
#include "mmx/Dialect/Tile/TileOps.h"

namespace mmx {

/// Builds the program of a function, in front of it.
class ProgramBuilder {
public:
  ProgramBuilder(mlir::func::FuncOp function, const mlir::SymbolTable &symbols)
      : function(function), symbols(symbols), builder(function.getContext()) {}

  /// Errors are reported at the ops. The function stays.
  mlir::LogicalResult build();

private:
  using LogicalResult = mlir::LogicalResult;

  // Which values are one buffer.
  mlir::Value getRoot(mlir::Value value) const;
  LogicalResult traceInPlace(LaunchOp launch);
  LogicalResult checkNotUsedAfter(mlir::OpOperand &operand, LaunchOp launch);
  LogicalResult assignOutputs(mlir::func::ReturnOp ret);
  LogicalResult checkPoolsReturned(mlir::func::ReturnOp ret);
  mlir::StringRef getArgRole(mlir::Value value);

  // Buffers.
  LogicalResult createInputs();
  LogicalResult bindResults(LaunchOp launch);
  mlir::FailureOr<mlir::Value> getBuffer(mlir::Value value, tile::ViewType view,
                                         LaunchOp launch);
  mlir::Value getWeight(WeightOp weight, tile::ViewType view);
  mlir::Value getConstant(mlir::arith::ConstantOp constant);
  LogicalResult setLayout(mlir::Value buffer, tile::ViewType view,
                          LaunchOp launch);

  // Launches.
  LogicalResult createLaunch(LaunchOp launch);
  mlir::FailureOr<llvm::SmallVector<tile::ViewType>> getViews(LaunchOp launch);
  LogicalResult appendExtents(LaunchOp launch, unsigned number,
                              mlir::Value buffer, tile::ViewType view,
                              llvm::SmallVectorImpl<mlir::AffineExpr> &out);

  mlir::func::FuncOp function;
  const mlir::SymbolTable &symbols;
  mlir::OpBuilder builder;

  /// Result of a launch in place -> the value it updates.
  llvm::DenseMap<mlir::Value, mlir::Value> updated;
  /// Roots that are returned -> their role.
  llvm::DenseMap<mlir::Value, mlir::StringRef> outputs;
  /// Roots -> buffers.
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  /// Weights by name and layout, constants by contents.
  llvm::DenseMap<std::pair<mlir::Attribute, std::pair<int64_t, int64_t>>,
                 mlir::Value>
      weights;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
  /// Inputs whose layout some view has fixed.
  llvm::DenseSet<mlir::Value> fixed;
};

} // namespace mmx

#endif // MMX_CONVERSION_MMXTOEXEC_PROGRAMBUILDER_H
