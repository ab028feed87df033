//===- TileScalars.h - Scalar code on rows of values ------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs blocks of arith, math, affine and scf.for ops on scalars, many lanes at
// a time: the body of a tile.map for a row of elements, or one lane for the
// uniform scalars of a kernel. f32 and bf16 are computed in f32, bf16 results
// are rounded after every op.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_REFERENCE_TILESCALARS_H
#define MMX_REFERENCE_TILESCALARS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"
#include "mmx/Reference/TileValues.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace mmx::tile {

/// The value of `expr` at the given dimensions and symbols; none on a division
/// by zero.
std::optional<int64_t> evaluateAffine(mlir::AffineExpr expr,
                                      llvm::ArrayRef<int64_t> dims,
                                      llvm::ArrayRef<int64_t> symbols);

/// One op with its operands and results as register numbers.
struct ScalarInstruction {
  using FloatUnary = float (*)(float);
  using FloatBinary = float (*)(float, float);
  using DoubleUnary = double (*)(double);
  using DoubleBinary = double (*)(double, double);
  /// False where the result is not defined (division by zero).
  using IntBinary = bool (*)(int64_t, int64_t, ElementKind, int64_t &);

  enum class Form : uint8_t {
    Constant,
    UnaryFloat,
    BinaryFloat,
    Fma,
    BinaryInt,
    CompareFloat,
    CompareInt,
    Select,
    Convert,
    Bitcast,
    AffineApply,
    AffineMin,
    AffineMax,
    For
  };
  Form form = Form::Constant;
  /// Kind of the first operand (of the compared ones for comparisons), and of
  /// the result.
  ElementKind from = ElementKind::F32, to = ElementKind::F32;
  /// Integers are read or made without their sign.
  bool isUnsigned = false;
  int64_t predicate = 0;
  Cell constant = {.i = 0};
  FloatUnary unary = nullptr;
  DoubleUnary unaryDouble = nullptr;
  FloatBinary binary = nullptr;
  DoubleBinary binaryDouble = nullptr;
  IntBinary binaryInt = nullptr;
  mlir::AffineMap map;
  llvm::SmallVector<unsigned, 4> operands, results;
  /// For: operands are lower bound, upper bound, step and initial values.
  llvm::SmallVector<unsigned, 4> blockArguments, yielded;
  std::vector<ScalarInstruction> body;
  mlir::Operation *op = nullptr;
};

/// Fills in what `op` does, but for registers and bodies; an error at `op`
/// where the level has no such scalar op.
mlir::FailureOr<ScalarInstruction> decodeScalarOp(mlir::Operation *op);

/// Computes `lanes` results from rows of operands; an error at the op.
mlir::LogicalResult evaluateScalar(const ScalarInstruction &instruction,
                                   int64_t lanes,
                                   llvm::ArrayRef<const Cell *> operands,
                                   Cell *result);

/// A compiled block. Registers are rows of lanes.
class ScalarProgram {
public:
  /// Compiles `block`, whose terminator's operands are the results. Values from
  /// outside become captures. Errors at the ops.
  static mlir::FailureOr<ScalarProgram> compile(mlir::Block &block);

  /// Values defined outside the block, in the order of run's `captures`.
  llvm::ArrayRef<mlir::Value> getCaptures() const { return captures; }

  /// Runs on `lanes` lanes. `arguments` are rows for the block's arguments,
  /// `captures` uniform. The rows given in `results` are written.
  mlir::LogicalResult run(int64_t lanes, llvm::ArrayRef<const Cell *> arguments,
                          llvm::ArrayRef<Cell> captures,
                          llvm::ArrayRef<Cell *> results);

private:
  unsigned getRegister(mlir::Value value);
  mlir::LogicalResult compileBlock(mlir::Block &block,
                                   std::vector<ScalarInstruction> &code);
  mlir::LogicalResult execute(llvm::ArrayRef<ScalarInstruction> code,
                              int64_t lanes);
  mlir::LogicalResult executeFor(const ScalarInstruction &loop, int64_t lanes);
  Cell *getRow(unsigned index, int64_t lanes) {
    return rows.data() + index * lanes;
  }

  mlir::Block *top = nullptr;
  llvm::DenseMap<mlir::Value, unsigned> registers;
  llvm::SmallVector<mlir::Value> captures;
  llvm::SmallVector<unsigned> results;
  std::vector<ScalarInstruction> instructions;
  std::vector<Cell> rows;
};

} // namespace mmx::tile

#endif // MMX_REFERENCE_TILESCALARS_H
