//===- HopperOps.cpp - Operations of the hopper dialect -------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/Hopper/HopperOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mmx::hopper;

/// The form of `$matrix` in a format, which would take a colon after it.
static ParseResult parseMatrix(OpAsmParser &parser, MatrixAttr &matrix) {
  return parser.parseCustomAttributeWithFallback(matrix);
}

static void printMatrix(OpAsmPrinter &printer, Operation *, MatrixAttr matrix) {
  printer.printStrippedAttrOrType(matrix);
}

#define GET_OP_CLASSES
#include "mmx/Dialect/Hopper/HopperOps.cpp.inc"

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

int64_t WgmmaOp::getN() {
  MatrixAttr b = getBMatrix();
  return getTransposeB() ? b.getRows() : b.getCols();
}

int64_t WgmmaOp::getK() {
  MatrixAttr b = getBMatrix();
  return getTransposeB() ? b.getCols() : b.getRows();
}

int64_t WgmmaOp::getRowBlocks() {
  return getResult().getType().getNumElements() / (getN() / 2);
}

static LogicalResult verifyMatrixA(WgmmaOp op) {
  std::optional<MatrixAttr> matrix = op.getAMatrix();
  if (!matrix)
    return op.emitOpError("expected a matrix for A in shared memory");
  if (matrix->getElementType() != op.getBMatrix().getElementType())
    return op.emitOpError("expected A and B of one type, but got ")
           << matrix->getElementType() << " and "
           << op.getBMatrix().getElementType();
  int64_t m = matrix->getRows(), k = matrix->getCols();
  if (op.getTransposeA())
    std::swap(m, k);
  if (k != op.getK())
    return op.emitOpError("expected A with ")
           << op.getK() << " columns, as B has rows, but got " << k;
  if (m != 64 * op.getRowBlocks())
    return op.emitOpError("expected A with ")
           << 64 * op.getRowBlocks() << " rows, as the result has, but got "
           << m;
  return success();
}

static LogicalResult verifyFragmentA(WgmmaOp op) {
  if (op.getAMatrix() || op.getTransposeA())
    return op.emitOpError(
        "expected no matrix and no transpose_a for A in registers");
  auto type = cast<VectorType>(op.getA().getType());
  if (type.getElementType() != op.getBMatrix().getElementType())
    return op.emitOpError("expected A and B of one type, but got ")
           << type.getElementType() << " and "
           << op.getBMatrix().getElementType();
  int64_t length = op.getRowBlocks() * op.getK() / 2;
  if (type.getNumElements() != length)
    return op.emitOpError("expected a fragment A of ")
           << 64 * op.getRowBlocks() << "x" << op.getK() << ", " << length
           << " elements a thread, but got " << type.getNumElements();
  return success();
}

LogicalResult WgmmaOp::verify() {
  if (getN() > 256)
    return emitOpError("expected N of at most 256, but got ") << getN();
  if (getK() % 16 != 0)
    return emitOpError("expected K a multiple of 16, but got ") << getK();
  int64_t length = getResult().getType().getNumElements();
  if (length % (getN() / 2) != 0)
    return emitOpError("expected a result of a multiple of 64x")
           << getN() << ", " << getN() / 2 << " elements a thread, but got "
           << length;
  return hasFragmentA() ? verifyFragmentA(*this) : verifyMatrixA(*this);
}

//===----------------------------------------------------------------------===//
// wait
//===----------------------------------------------------------------------===//

LogicalResult WaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

LogicalResult WaitOp::verify() {
  if (getPending() < 0 || getPending() > 7)
    return emitOpError("expected 0 to 7 pending groups, but got ")
           << getPending();
  for (Type type : getValues().getTypes()) {
    auto vector = cast<VectorType>(type);
    if (!vector.getElementType().isF32() && vector.getNumElements() % 8 != 0)
      return emitOpError("expected fragments of a multiple of 8 elements, "
                         "but got ")
             << vector.getNumElements();
  }
  return success();
}
