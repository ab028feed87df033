//===- StepRoles.h - Names of what a step reads and writes ------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The roles of arguments and results of the functions of a phase, and of the
// inputs of exec programs. schema/package.fbs lists them.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_MMX_STEPROLES_H
#define MMX_DIALECT_MMX_STEPROLES_H

#include "llvm/ADT/StringRef.h"

namespace mmx {

/// What a step does with the tensor of a role.
enum class RoleKind {
  Unknown, ///< no role
  Table,   ///< reads it: i32
  Pool,    ///< updates it in place; it lives on between steps
  Output,  ///< writes it; what it held before does not matter
};

/// The kind of the role with the given name ("ids", "state.3", "logits").
RoleKind getRoleKind(llvm::StringRef role);

} // namespace mmx

#endif // MMX_DIALECT_MMX_STEPROLES_H
