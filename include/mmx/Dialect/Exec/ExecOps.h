//===- ExecOps.h - Operations of the exec dialect ---------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_EXEC_EXECOPS_H
#define MMX_DIALECT_EXEC_EXECOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mmx/Dialect/Exec/ExecDialect.h"
#include "mmx/Dialect/MMX/StepRoles.h"

namespace mmx::exec {

using mmx::getRoleKind;
using mmx::RoleKind;

} // namespace mmx::exec

#define GET_OP_CLASSES
#include "mmx/Dialect/Exec/ExecOps.h.inc"

#endif // MMX_DIALECT_EXEC_EXECOPS_H
