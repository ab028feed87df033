//===- HopperDialect.cpp - The hopper dialect and its layouts -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/Hopper/HopperDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mmx/Dialect/Hopper/HopperOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx::hopper;

#include "mmx/Dialect/Hopper/HopperDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "mmx/Dialect/Hopper/HopperAttrs.cpp.inc"

Attribute MatrixAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> shape;
  Type elementType;
  int64_t swizzle = 0, panel = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseKeyword("swizzle") || parser.parseEqual() ||
      parser.parseInteger(swizzle))
    return {};
  if (shape.size() != 2) {
    parser.emitError(loc, "expected rows x columns, but got ")
        << shape.size() << " extents";
    return {};
  }
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("panel") || parser.parseEqual() ||
        parser.parseInteger(panel))
      return {};
  } else {
    panel = shape[0] * swizzle;
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape[0], shape[1], elementType, swizzle, panel);
}

void MatrixAttr::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getCols() << "x" << getElementType()
          << ", swizzle = " << getSwizzle();
  if (getPanel() != getRows() * getSwizzle())
    printer << ", panel = " << getPanel();
  printer << ">";
}

LogicalResult MatrixAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t rows, int64_t cols, Type elementType,
                                 int64_t swizzle, int64_t panel) {
  if (!elementType.isBF16() && !elementType.isF16())
    return emitError() << "expected elements of bf16 or f16, but got "
                       << elementType;
  if (swizzle != 128 && swizzle != 64 && swizzle != 32)
    return emitError() << "expected a swizzle of 128, 64 or 32 bytes, but got "
                       << swizzle;
  if (rows <= 0 || rows % 8 != 0)
    return emitError() << "expected a multiple of 8 rows, but got " << rows;
  if (cols <= 0 || cols * 2 % swizzle != 0)
    return emitError() << "expected a multiple of " << swizzle / 2
                       << " columns, the width of a panel, but got " << cols;
  if (panel % (8 * swizzle) != 0 || panel < rows * swizzle)
    return emitError() << "expected panels a multiple of " << 8 * swizzle
                       << " bytes apart, at least " << rows * swizzle
                       << ", but got " << panel;
  // The field of a descriptor has 14 bits, in units of 16 bytes.
  if (panel > 16 * ((1 << 14) - 1))
    return emitError() << "expected panels at most " << 16 * ((1 << 14) - 1)
                       << " bytes apart, but got " << panel;
  return success();
}

void HopperDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "mmx/Dialect/Hopper/HopperAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mmx/Dialect/Hopper/HopperOps.cpp.inc"
      >();
}
