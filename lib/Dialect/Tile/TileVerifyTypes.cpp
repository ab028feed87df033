//===- TileVerifyTypes.cpp - Verifiers of the tile types ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers T.. are those of docs/tile.md.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinTypes.h"
#include "mmx/Dialect/Tile/TileDialect.h"

using namespace mlir;
using namespace mmx::tile;

using EmitError = function_ref<InFlightDiagnostic()>;

/// T1.
static LogicalResult verifyElementType(EmitError emitError, Type type,
                                       bool allowMask) {
  if (type.isF32() || type.isBF16() || type.isSignlessInteger(32) ||
      type.isSignlessInteger(8) || (allowMask && type.isSignlessInteger(1)))
    return success();
  return emitError() << "expected elements of f32, bf16, i32"
                     << (allowMask ? ", i8 or i1" : " or i8") << ", but got "
                     << type << " (T1)";
}

/// T4.
static LogicalResult verifyTileShape(EmitError emitError,
                                     ArrayRef<int64_t> shape) {
  if (shape.empty() || shape.size() > 2)
    return emitError() << "expected a tile of rank 1 or 2, but got rank "
                       << shape.size() << " (T4)";
  for (int64_t extent : shape)
    if (extent < 1)
      return emitError() << "expected extents of at least 1, but got " << extent
                         << " (T4)";
  return success();
}

LogicalResult ViewType::verify(EmitError emitError, ArrayRef<int64_t> shape,
                               Type elementType, AccessMode, int64_t panel,
                               int64_t along) {
  if (failed(verifyElementType(emitError, elementType, /*allowMask=*/false)))
    return failure();
  if (shape.empty())
    return emitError() << "expected a view of rank 1 or more (T2)";
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 1)
      return emitError()
             << "expected dynamic extents or extents of at least 1, but got "
             << extent << " (T2)";
  if (panel < 0)
    return emitError() << "expected a panel of at least 1, but got " << panel
                       << " (T3)";
  if (along < 0 || along >= int64_t(shape.size()))
    return emitError() << "expected a panel along a dimension of the view, but "
                          "got "
                       << along << " (T3)";
  return success();
}

LogicalResult SramType::verify(EmitError emitError, ArrayRef<int64_t> shape,
                               Type elementType) {
  if (failed(verifyElementType(emitError, elementType, /*allowMask=*/false)))
    return failure();
  return verifyTileShape(emitError, shape);
}

LogicalResult FragType::verify(EmitError emitError, ArrayRef<int64_t> shape,
                               Type elementType, int64_t along) {
  if (failed(verifyElementType(emitError, elementType, /*allowMask=*/true)) ||
      failed(verifyTileShape(emitError, shape)))
    return failure();
  if (shape.size() == 1 && along != 0 && along != 1)
    return emitError() << "expected along 0 or 1 for a fragment of rank 1, but "
                          "got "
                       << along << " (T5)";
  if (shape.size() == 2 && along != -1)
    return emitError() << "expected no along for a fragment of rank 2, but got "
                       << along << " (T5)";
  return success();
}
