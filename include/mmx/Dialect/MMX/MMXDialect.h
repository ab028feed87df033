//===- MMXDialect.h - The mmx dialect: attributes and types -----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_MMX_MMXDIALECT_H
#define MMX_DIALECT_MMX_MMXDIALECT_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "mmx/Dialect/MMX/MMXDialect.h.inc"
#include "mmx/Dialect/MMX/MMXEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mmx/Dialect/MMX/MMXAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "mmx/Dialect/MMX/MMXTypes.h.inc"

#endif // MMX_DIALECT_MMX_MMXDIALECT_H
