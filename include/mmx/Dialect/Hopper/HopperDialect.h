//===- HopperDialect.h - The hopper dialect: layouts ------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_HOPPER_HOPPERDIALECT_H
#define MMX_DIALECT_HOPPER_HOPPERDIALECT_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "mmx/Dialect/Hopper/HopperDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mmx/Dialect/Hopper/HopperAttrs.h.inc"

#endif // MMX_DIALECT_HOPPER_HOPPERDIALECT_H
