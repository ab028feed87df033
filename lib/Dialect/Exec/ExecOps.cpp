//===- ExecOps.cpp - Operations of the exec dialect -----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/Exec/ExecOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mmx::exec;

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom(*this, getKernelAttr()))
    return emitOpError("refers to kernel ")
           << getKernelAttr() << ", which is not in the module";
  return success();
}

#define GET_OP_CLASSES
#include "mmx/Dialect/Exec/ExecOps.cpp.inc"
