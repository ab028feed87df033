//===- TileVerifyTiles.cpp - Verifiers of ops on tiles --------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers T.. are those of docs/tile.md.
//
//===----------------------------------------------------------------------===//

#include "TileVerify.h"
#include "mmx/Dialect/Tile/TileOps.h"

using namespace mlir;
using namespace mmx::tile;

/// T22: a copy between shared memory and registers.
static LogicalResult verifyCopy(Operation *op, SramType sram, FragType frag) {
  if (sram.getShape() == frag.getShape() &&
      sram.getElementType() == frag.getElementType())
    return success();
  return op->emitOpError("expected tiles of one shape and element type, but "
                         "got ")
         << sram << " and " << frag << " (T22)";
}

LogicalResult ReadOp::verify() {
  return verifyCopy(*this, getTile().getType(), getResult().getType());
}

LogicalResult PutOp::verify() {
  return verifyCopy(*this, getResult().getType(), getTile().getType());
}

LogicalResult MmaOp::verify() {
  Type types[] = {getA().getType(), getB().getType()};
  for (Type type : types) {
    Type element = getTileElementType(type);
    if (getTileShape(type).size() != 2 ||
        !(element.isBF16() || element.isF32()))
      return emitOpError("expected operands of rank 2 of bf16 or f32, but got ")
             << type << " (T23)";
  }
  FragType result = getResult().getType();
  if (result.getShape().size() != 2 || !result.getElementType().isF32())
    return emitOpError("expected a result of rank 2 of f32, but got ")
           << result << " (T23)";
  if (getAcc() && getAcc().getType() != result)
    return emitOpError("expected an accumulator of ")
           << result << ", but got " << getAcc().getType() << " (T23)";
  if (isa<FragType>(types[0]) && isa<FragType>(types[1]))
    return emitOpError("expected at most one fragment as operand, but got "
                       "two (T24)");
  ArrayRef<int64_t> a = getTileShape(types[0]), b = getTileShape(types[1]);
  int64_t rows = a[getTransposeA()], depth = a[!getTransposeA()];
  int64_t columns = b[!getTransposeB()], otherDepth = b[getTransposeB()];
  if (depth != otherDepth)
    return emitOpError("expected equal contraction extents, but got ")
           << depth << " and " << otherDepth << " (T25)";
  if (result.getShape() != ArrayRef<int64_t>({rows, columns}))
    return emitOpError("expected a result of ")
           << rows << "x" << columns << ", but got " << result << " (T25)";
  return success();
}

LogicalResult ReduceOp::verify() {
  FragType tile = getTile().getType(), result = getResult().getType();
  Type element = tile.getElementType();
  if (tile.getShape().size() != 2 ||
      !(element.isF32() || element.isSignlessInteger(32)))
    return emitOpError("expected a fragment of rank 2 of f32 or i32, but got ")
           << tile << " (T30)";
  int64_t dim = getDim();
  if (dim != 0 && dim != 1)
    return emitOpError("expected dim 0 or 1, but got ") << dim << " (T30)";
  int64_t kept = 1 - dim;
  auto expected =
      FragType::get(getContext(), {tile.getShape()[kept]}, element, kept);
  if (result != expected)
    return emitOpError("expected a result of ")
           << expected << ", but got " << result << " (T30)";
  if (!getIndex())
    return success();
  auto positions = FragType::get(getContext(), expected.getShape(),
                                 IntegerType::get(getContext(), 32), kept);
  if (getKind() != ReduceKind::Max)
    return emitOpError("expected positions with max only (T31)");
  if (getIndex().getType() != positions)
    return emitOpError("expected positions of ")
           << positions << ", but got " << getIndex().getType() << " (T31)";
  return success();
}

LogicalResult ScanOp::verify() {
  FragType tile = getTile().getType();
  if (!isa<IntegerType>(tile.getElementType()))
    return emitOpError("expected a fragment of integers, but got ")
           << tile << " (T32)";
  if (getResult().getType() != tile)
    return emitOpError("expected a result of ")
           << tile << ", but got " << getResult().getType() << " (T32)";
  int64_t dim = getDim();
  bool isVector = tile.getShape().size() == 1;
  if (isVector ? dim != tile.getAlong() : dim != 0 && dim != 1)
    return emitOpError("expected a dimension of ")
           << tile << ", but got " << dim << " (T32)";
  return success();
}
