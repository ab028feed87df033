//===- TileDialect.cpp - The tile dialect, its attributes and types -===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mmx/Dialect/Tile/TileOps.h"
#include "mmx/Dialect/Tile/TileRoleOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx::tile;

#include "mmx/Dialect/Tile/TileDialect.cpp.inc"
#include "mmx/Dialect/Tile/TileEnums.cpp.inc"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// `64x16xf32`: extents and element type.
static ParseResult parseShape(AsmParser &parser,
                              SmallVectorImpl<int64_t> &shape,
                              Type &elementType, bool allowDynamic) {
  return failure(parser.parseDimensionList(shape, allowDynamic) ||
                 parser.parseType(elementType));
}

static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape,
                       Type elementType) {
  for (int64_t extent : shape) {
    if (ShapedType::isDynamic(extent))
      printer << "?x";
    else
      printer << extent << "x";
  }
  printer << elementType;
}

bool ViewType::isDynamicDim(int64_t dim) const {
  return ShapedType::isDynamic(getShape()[dim]);
}

int64_t ViewType::getNumDynamicDims() const {
  return llvm::count_if(getShape(), ShapedType::isDynamic);
}

Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  StringRef keyword;
  int64_t panel = 0, along = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShape(parser, shape, elementType, true) ||
      parser.parseComma() || parser.parseKeyword(&keyword))
    return {};
  std::optional<AccessMode> mode = symbolizeAccessMode(keyword);
  if (!mode) {
    parser.emitError(loc, "expected read, write or inplace, but got '")
        << keyword << "'";
    return {};
  }
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("panel") || parser.parseEqual() ||
       parser.parseInteger(panel) || parser.parseKeyword("along") ||
       parser.parseInteger(along)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape, elementType, *mode, panel, along);
}

void ViewType::print(AsmPrinter &printer) const {
  printer << "<";
  printShape(printer, getShape(), getElementType());
  printer << ", " << stringifyAccessMode(getMode());
  if (getPanel())
    printer << ", panel = " << getPanel() << " along " << getAlong();
  printer << ">";
}

Type SramType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShape(parser, shape, elementType, false) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape, elementType);
}

void SramType::print(AsmPrinter &printer) const {
  printer << "<";
  printShape(printer, getShape(), getElementType());
  printer << ">";
}

Type FragType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  int64_t along = -1;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShape(parser, shape, elementType, false))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("along") || parser.parseInteger(along)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape, elementType, along);
}

void FragType::print(AsmPrinter &printer) const {
  printer << "<";
  printShape(printer, getShape(), getElementType());
  if (getAlong() >= 0)
    printer << ", along " << getAlong();
  printer << ">";
}

#define GET_TYPEDEF_CLASSES
#include "mmx/Dialect/Tile/TileTypes.cpp.inc"

void TileDialect::initialize() {
  registerAttributes();
  addTypes<
#define GET_TYPEDEF_LIST
#include "mmx/Dialect/Tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mmx/Dialect/Tile/TileOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mmx/Dialect/Tile/TileRoleOps.cpp.inc"
      >();
}
