//===- ExecDialect.h - The exec dialect: types ------------------*- C++ -*-===//
//-*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_EXEC_EXECDIALECT_H
#define MMX_DIALECT_EXEC_EXECDIALECT_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "mmx/Dialect/Exec/ExecDialect.h.inc"
#include "mmx/Dialect/Exec/ExecEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mmx/Dialect/Exec/ExecAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "mmx/Dialect/Exec/ExecTypes.h.inc"

#endif // MMX_DIALECT_EXEC_EXECDIALECT_H
