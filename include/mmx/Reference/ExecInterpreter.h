//===- ExecInterpreter.h - Runs host programs -------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle of the exec level: the launches of a program in order, each
// through the tile interpreter, on host memory. Not thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_EXECINTERPRETER_H
#define MMX_REFERENCE_EXECINTERPRETER_H

#include "mlir/IR/SymbolTable.h"
#include "mmx/Dialect/Exec/ExecOps.h"
#include "mmx/Reference/TileValues.h"
#include "llvm/ADT/DenseMap.h"

namespace mmx::exec {

/// Where temporaries stand.
enum class TempMemory {
  Separate, ///< each in memory of its own; no plan is needed
  Arena,    ///< as planned; bytes that end to be live are overwritten
};

/// A program with memory for one set of symbols. Memory of inputs and weights
/// is zero at first; that of temporaries is filled with the byte 0xff (NaN),
/// also when it ends to be live.
class ExecMachine {
public:
  /// `symbols` are the values of s0 to s5. The program must outlive this.
  ExecMachine(ProgramOp program, llvm::ArrayRef<int64_t> symbols);

  /// The memory of an exec.input, exec.weight or exec.constant in its layout.
  tile::HostArray &getArray(mlir::Value buffer);

  /// Runs the launches of tile.kernels found in `kernels`. Fails with a
  /// diagnostic at the op.
  mlir::LogicalResult run(const mlir::SymbolTable &kernels, TempMemory memory);

private:
  void placeTemporaries(TempMemory memory);
  mlir::LogicalResult runLaunch(LaunchOp launch,
                                const mlir::SymbolTable &kernels);
  llvm::SmallVector<int64_t> getExtents(mlir::Value buffer);
  uint8_t *getData(mlir::Value buffer);

  /// A temporary in memory.
  struct Place {
    uint8_t *data;
    int64_t size;
  };

  ProgramOp program;
  llvm::SmallVector<int64_t> symbols;
  llvm::DenseMap<mlir::Value, tile::HostArray> arrays;
  llvm::DenseMap<mlir::Value, Place> places;
  std::vector<uint8_t> memory;
};

/// Writes tables that make sense for a step of `symbols`: sequences of about
/// equal length from position 0 on, with slots and pages of their own. Other
/// inputs and weights get numbers in [-1, 1) drawn from `seed`.
void fillInputs(ExecMachine &machine, ProgramOp program,
                llvm::ArrayRef<int64_t> symbols, uint64_t seed);

} // namespace mmx::exec

#endif // MMX_REFERENCE_EXECINTERPRETER_H
