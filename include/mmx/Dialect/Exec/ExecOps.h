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

namespace mmx::exec {

/// What a program does with an input of a role.
enum class RoleKind {
  Unknown, ///< no role
  Table,   ///< reads it: i32
  Pool,    ///< updates it in place; it lives on between steps
  Output,  ///< writes it; what it held before does not matter
};

/// The kind of the role with the given name ("ids", "state.3", "logits").
RoleKind getRoleKind(llvm::StringRef role);

} // namespace mmx::exec

#define GET_OP_CLASSES
#include "mmx/Dialect/Exec/ExecOps.h.inc"

#endif // MMX_DIALECT_EXEC_EXECOPS_H
