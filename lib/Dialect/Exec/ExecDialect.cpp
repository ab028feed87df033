//===- ExecDialect.cpp - The exec dialect, its attributes and types -===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/Exec/ExecDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mmx/Dialect/Exec/ExecOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx::exec;

#include "mmx/Dialect/Exec/ExecDialect.cpp.inc"
#include "mmx/Dialect/Exec/ExecEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "mmx/Dialect/Exec/ExecTypes.cpp.inc"

void ExecDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "mmx/Dialect/Exec/ExecTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mmx/Dialect/Exec/ExecOps.cpp.inc"
      >();
}
