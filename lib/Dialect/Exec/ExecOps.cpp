//===- ExecOps.cpp - Operations of the exec dialect -----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/Exec/ExecOps.h"

#include "mmx/Dialect/MMX/MMXInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::exec;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

RoleKind InputOp::getKind() { return getRoleKind(getRole()); }

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// `panel 16 along 0`, or nothing for row-major.
static ParseResult parseLayout(OpAsmParser &parser, IntegerAttr &panel,
                               IntegerAttr &along) {
  int64_t n = 0, dim = 0;
  if (succeeded(parser.parseOptionalKeyword("panel")) &&
      (parser.parseInteger(n) || parser.parseKeyword("along") ||
       parser.parseInteger(dim)))
    return failure();
  panel = parser.getBuilder().getI64IntegerAttr(n);
  along = parser.getBuilder().getI64IntegerAttr(dim);
  return success();
}

static void printLayout(OpAsmPrinter &printer, Operation *, IntegerAttr panel,
                        IntegerAttr along) {
  if (panel.getInt() != 0)
    printer << "panel " << panel.getInt() << " along " << along.getInt();
}

/// Shapes, offsets and extents are functions of the step symbols alone.
static LogicalResult verifyStepMap(Operation *op, StringRef what,
                                   AffineMap map) {
  if (map.getNumDims() == 0 && map.getNumSymbols() == numStepSymbols)
    return success();
  return op->emitOpError("expected a map of 0 dimensions and ")
         << numStepSymbols << " symbols as " << what << ", but got "
         << map.getNumDims() << " and " << map.getNumSymbols();
}

static LogicalResult verifyBytes(Operation *op, StringRef what, AffineMap map) {
  if (map.getNumResults() != 1)
    return op->emitOpError("expected one expression as ")
           << what << ", but got " << map.getNumResults();
  return verifyStepMap(op, what, map);
}

template <typename OpTy> static LogicalResult verifyLayout(OpTy op) {
  if (failed(verifyStepMap(op, "shape", op.getShape())))
    return failure();
  int64_t panel = op.getPanel(), along = op.getAlong();
  if (panel < 0 || (panel == 0 && along != 0))
    return op.emitOpError("expected a positive panel, but got ") << panel;
  int64_t rank = op.getShape().getNumResults();
  if (panel > 0 && (along < 0 || along >= rank))
    return op.emitOpError("expected panels along one of ")
           << rank << " dimensions, but got " << along;
  return success();
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Type element) {
  if (element.isF32() || element.isBF16() || element.isF64() ||
      element.isSignlessInteger(32) || element.isSignlessInteger(8))
    return success();
  return emitError() << "expected elements of type f32, bf16, f64, i32 or i8, "
                        "but got "
                     << element;
}

static Type getElement(Value buffer) {
  return cast<BufferType>(buffer.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// ProgramOp
//===----------------------------------------------------------------------===//

LogicalResult ProgramOp::verify() {
  if (getArena() && failed(verifyBytes(*this, "arena", *getArena())))
    return failure();
  llvm::StringSet<> roles;
  for (Operation &op : *getBody().begin()) {
    if (!isa<InputOp, WeightOp, ConstantOp, TempOp, LaunchOp>(op))
      return op.emitOpError("expected a buffer or launch in a program");
    auto input = dyn_cast<InputOp>(op);
    if (input && !roles.insert(input.getRole()).second)
      return op.emitOpError("expected one input of role '")
             << input.getRole() << "', but got two";
    auto temp = dyn_cast<TempOp>(op);
    if (temp && temp.getOffset().has_value() != getArena().has_value())
      return op.emitOpError(getArena() ? "expected an offset because the "
                                         "program has an arena"
                                       : "expected no offset because the "
                                         "program has no arena");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

LogicalResult InputOp::verify() {
  Type element = getElement(getResult());
  switch (getKind()) {
  case RoleKind::Unknown:
    return emitOpError("expected a role of a step, but got '")
           << getRole() << "'";
  case RoleKind::Table:
    if (!element.isInteger(32))
      return emitOpError("expected elements i32 of a table, but got ")
             << element;
    break;
  case RoleKind::Pool:
  case RoleKind::Output:
    if (getRole().starts_with("experts.")) {
      if (!element.isInteger(32))
        return emitOpError("expected elements i32 of experts, but got ")
               << element;
      break;
    }
    if (!isa<FloatType>(element))
      return emitOpError("expected elements of a float type, but got ")
             << element;
  }
  if (getPanel() != 0 && getKind() != RoleKind::Pool)
    return emitOpError("expected a row-major buffer, since '")
           << getRole() << "' is no pool";
  return verifyLayout(*this);
}

void InputOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getRole());
}

LogicalResult WeightOp::verify() {
  if (!llvm::all_of(getShape().getResults(), llvm::IsaPred<AffineConstantExpr>))
    return emitOpError("expected constant extents, but got ") << getShapeAttr();
  return verifyLayout(*this);
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom(*this, getGlobalAttr()))
    return emitOpError("refers to weight ")
           << getGlobalAttr() << ", which is not in the module";
  return success();
}

void WeightOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getGlobal());
}

LogicalResult ConstantOp::verify() {
  Type element = getValue().getElementType();
  if (element != getElement(getResult()))
    return emitOpError("expected elements ")
           << getElement(getResult()) << ", but got " << element;
  return success();
}

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "cst");
}

LogicalResult TempOp::verify() {
  if (getOffset() && failed(verifyBytes(*this, "offset", *getOffset())))
    return failure();
  return verifyStepMap(*this, "shape", getShape());
}

void TempOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "temp");
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

static bool isWritable(Value buffer) {
  if (auto input = buffer.getDefiningOp<InputOp>())
    return input.getKind() != RoleKind::Table;
  return buffer.getDefiningOp<TempOp>() != nullptr;
}

LogicalResult LaunchOp::verify() {
  if (failed(verifyStepMap(*this, "extents", getExtents())))
    return failure();
  int64_t last = -1;
  for (int64_t i : getWrites()) {
    if (i <= last || i >= static_cast<int64_t>(getBuffers().size()))
      return emitOpError("expected 'writes' to list operands in rising order, "
                         "but got [")
             << getWrites() << "] for " << getBuffers().size() << " operands";
    last = i;
    Value buffer = getBuffers()[i];
    if (!isWritable(buffer))
      return emitOpError("writes operand ")
             << i << ", expected a temporary, a pool or an output, but got '"
             << buffer.getDefiningOp()->getName() << "'";
    if (llvm::count(getBuffers(), buffer) > 1)
      return emitOpError("expected operand ")
             << i << ", which is written, to be passed once";
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom(*this, getKernelAttr()))
    return emitOpError("refers to kernel ")
           << getKernelAttr() << ", which is not in the module";
  return success();
}

void LaunchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getBuffersMutable()) {
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (llvm::is_contained(getWrites(), operand.getOperandNumber()))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

#define GET_OP_CLASSES
#include "mmx/Dialect/Exec/ExecOps.cpp.inc"
