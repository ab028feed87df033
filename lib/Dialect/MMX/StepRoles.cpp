//===- StepRoles.cpp - Names of what a step reads and writes --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The roles, and the attributes of functions that name them (C37 to C39).
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/MMX/StepRoles.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mmx/Dialect/MMX/MMXDialect.h"
#include "mmx/Dialect/MMX/MMXInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mmx;

RoleKind mmx::getRoleKind(StringRef role) {
  auto [name, layer] = role.split('.');
  bool numbered = !layer.empty() &&
                  llvm::all_of(layer, [](char c) { return llvm::isDigit(c); });
  RoleKind kind =
      llvm::StringSwitch<RoleKind>(name)
          .Cases({"state", "key_cache", "value_cache"}, RoleKind::Pool)
          .Cases({"hidden", "experts"}, RoleKind::Output)
          .Case("routing", RoleKind::Table)
          .Default(RoleKind::Unknown);
  if (numbered)
    return kind;
  return llvm::StringSwitch<RoleKind>(role)
      .Cases({"ids", "positions", "starts", "slots", "past"}, RoleKind::Table)
      .Cases({"cache_rows", "pages", "logit_rows"}, RoleKind::Table)
      .Case("logits", RoleKind::Output)
      .Default(RoleKind::Unknown);
}

/// C38: a string that names a role.
static LogicalResult verifyRole(Operation *op, NamedAttribute attribute) {
  auto role = dyn_cast<StringAttr>(attribute.getValue());
  if (role && getRoleKind(role) != RoleKind::Unknown)
    return success();
  return op->emitOpError("expected 'mmx.role' to name a role of a step, but "
                         "got ")
         << attribute.getValue();
}

/// C39: a map of the step symbols to the extents of the tensor.
static LogicalResult verifyShape(Operation *op, NamedAttribute attribute,
                                 Type type) {
  auto shape = dyn_cast<AffineMapAttr>(attribute.getValue());
  if (!shape || shape.getValue().getNumDims() != 0 ||
      shape.getValue().getNumSymbols() != numStepSymbols)
    return op->emitOpError("expected 'mmx.shape' to be a map of ")
           << numStepSymbols << " step symbols, but got "
           << attribute.getValue();
  auto tensor = dyn_cast<RankedTensorType>(type);
  int64_t extents = shape.getValue().getNumResults();
  if (!tensor || tensor.getRank() != extents)
    return op->emitOpError("expected 'mmx.shape' on a tensor of rank ")
           << extents << ", but got " << type;
  return success();
}

/// C37: only functions have a phase, and there are two.
LogicalResult MMXDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == "mmx.role" || name == "mmx.shape")
    return op->emitOpError("expected '")
           << name << "' on an argument or result of a function";
  if (name != "mmx.phase")
    return success();
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError("expected 'mmx.phase' on a function");
  auto phase = dyn_cast<StringAttr>(attribute.getValue());
  if (phase && (phase == "prefill" || phase == "decode"))
    return success();
  return op->emitOpError("expected 'mmx.phase' to be \"prefill\" or "
                         "\"decode\", but got ")
         << attribute.getValue();
}

LogicalResult MMXDialect::verifyRegionArgAttribute(Operation *op,
                                                   unsigned /*region*/,
                                                   unsigned argument,
                                                   NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (function && attribute.getName() == "mmx.role")
    return verifyRole(op, attribute);
  if (function && attribute.getName() == "mmx.shape")
    return verifyShape(op, attribute, function.getArgumentTypes()[argument]);
  return op->emitOpError("has the unknown attribute '")
         << attribute.getName().strref() << "' on argument " << argument;
}

LogicalResult
MMXDialect::verifyRegionResultAttribute(Operation *op, unsigned /*region*/,
                                        unsigned result,
                                        NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (function && attribute.getName() == "mmx.role")
    return verifyRole(op, attribute);
  return op->emitOpError("has the unknown attribute '")
         << attribute.getName().strref() << "' on result " << result;
}
