//===- MMXDialect.cpp - The mmx dialect, its attributes and types -===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/MMX/MMXDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mmx/Dialect/MMX/MMXOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx;

#include "mmx/Dialect/MMX/MMXDialect.cpp.inc"
#include "mmx/Dialect/MMX/MMXEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "mmx/Dialect/MMX/MMXAttrs.cpp.inc"

void MMXDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "mmx/Dialect/MMX/MMXAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mmx/Dialect/MMX/MMXOps.cpp.inc"
      >();
}
