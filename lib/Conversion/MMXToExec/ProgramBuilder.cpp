//===- ProgramBuilder.cpp - One function to one program -------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"

#include "mmx/Dialect/Exec/ExecShapes.h"

using namespace mlir;
using namespace mmx;
using exec::RoleKind;

//===----------------------------------------------------------------------===//
// Values that share a buffer
//===----------------------------------------------------------------------===//

Value ProgramBuilder::getRoot(Value value) const {
  for (auto it = updated.find(value); it != updated.end();
       it = updated.find(value))
    value = it->second;
  return value;
}

StringRef ProgramBuilder::getArgRole(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  if (!arg)
    return "";
  auto role = function.getArgAttr(arg.getArgNumber(), "mmx.role");
  return role ? cast<StringAttr>(role).getValue() : "";
}

/// After `launch` has updated its operand in place, the old value is gone.
LogicalResult ProgramBuilder::checkNotUsedAfter(OpOperand &operand,
                                                LaunchOp launch) {
  for (OpOperand &use : operand.get().getUses()) {
    Operation *user = use.getOwner();
    if (&use == &operand || user->isBeforeInBlock(launch))
      continue;
    InFlightDiagnostic diag =
        user->emitOpError("uses a value after a launch updated it in place, "
                          "which takes a copy of a state or cache");
    diag.attachNote(launch.getLoc()) << "updated here";
    return diag;
  }
  return success();
}

LogicalResult ProgramBuilder::traceInPlace(LaunchOp launch) {
  ArrayRef<int64_t> inplace = launch.getInplace();
  for (auto [result, index] : llvm::zip(launch.getOutputs(), inplace)) {
    if (index < 0)
      continue;
    OpOperand &operand = launch.getInputsMutable()[index];
    if (result.getType() != operand.get().getType())
      return launch.emitOpError("expected operand ")
             << index << ", which is updated in place, to have type "
             << result.getType() << ", but got " << operand.get().getType();
    if (failed(checkNotUsedAfter(operand, launch)))
      return failure();
    Value root = getRoot(operand.get());
    bool isPool = exec::getRoleKind(getArgRole(root)) == RoleKind::Pool;
    if (!isPool && !root.getDefiningOp<LaunchOp>())
      return launch.emitOpError("updates operand ")
             << index << " in place, expected a pool or a temporary value";
    updated[result] = operand.get();
  }
  return success();
}

LogicalResult ProgramBuilder::assignOutputs(func::ReturnOp ret) {
  for (auto [index, value] : llvm::enumerate(ret.getOperands())) {
    auto role = dyn_cast_if_present<StringAttr>(
        function.getResultAttr(index, "mmx.role"));
    if (!role)
      return function.emitOpError("expected attribute 'mmx.role' of result ")
             << index;
    Value root = getRoot(value);
    switch (exec::getRoleKind(role)) {
    case RoleKind::Pool:
      if (getArgRole(root) == role.getValue())
        continue;
      return ret.emitOpError("expected '")
             << role.getValue()
             << "' to be the argument of that role, updated in place; this "
                "takes a copy of a state or cache";
    case RoleKind::Output:
      break;
    default:
      return function.emitOpError("expected the role of a pool or an output "
                                  "for result ")
             << index << ", but got '" << role.getValue() << "'";
    }
    if (!root.getDefiningOp<LaunchOp>())
      return ret.emitOpError("expected '")
             << role.getValue()
             << "' to be computed by a launch; this takes a copy";
    auto [it, isNew] = outputs.try_emplace(root, role.getValue());
    if (!isNew)
      return ret.emitOpError("returns one value as '")
             << it->second << "' and as '" << role.getValue()
             << "', which takes a copy";
  }
  return checkPoolsReturned(ret);
}

/// A pool is updated in place whether or not the function says so.
LogicalResult ProgramBuilder::checkPoolsReturned(func::ReturnOp ret) {
  DenseSet<Value> returned(ret.getOperands().begin(), ret.getOperands().end());
  for (auto [result, operand] : updated) {
    Value root = getRoot(operand);
    bool isLast = !llvm::any_of(result.getUsers(), [&](Operation *user) {
      auto launch = dyn_cast<LaunchOp>(user);
      return launch && llvm::any_of(launch.getOutputs(), [&](Value next) {
               return updated.lookup(next) == result;
             });
    });
    if (isLast && isa<BlockArgument>(root) && !returned.contains(result))
      return result.getDefiningOp()->emitOpError("updates '")
             << getArgRole(root) << "', which the function does not return";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Checks the extents that an attribute gives to a value.
static LogicalResult checkShape(Operation *op, AffineMap shape,
                                RankedTensorType type) {
  if (!shape || shape.getNumDims() != 0 ||
      shape.getNumSymbols() != numStepSymbols ||
      static_cast<int64_t>(shape.getNumResults()) != type.getRank())
    return op->emitOpError("expected a map of the step symbols to ")
           << type.getRank() << " extents for " << type;
  for (auto [extent, expr] : llvm::zip(type.getShape(), shape.getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!ShapedType::isDynamic(extent) &&
        (!constant || constant.getValue() != extent))
      return op->emitOpError("expected extent ")
             << extent << " of " << type << " in " << AffineMapAttr::get(shape);
  }
  return success();
}

static exec::BufferType getBufferType(Type tensor) {
  return exec::BufferType::get(tensor.getContext(),
                               cast<RankedTensorType>(tensor).getElementType());
}

LogicalResult ProgramBuilder::createInputs() {
  for (BlockArgument arg : function.getArguments()) {
    unsigned number = arg.getArgNumber();
    StringRef role = getArgRole(arg);
    auto shape = dyn_cast_if_present<AffineMapAttr>(
        function.getArgAttr(number, "mmx.shape"));
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (role.empty() || !shape || !type)
      return function.emitOpError("expected a tensor with attributes "
                                  "'mmx.role' and 'mmx.shape' as argument ")
             << number;
    if (failed(checkShape(function, shape.getValue(), type)))
      return failure();
    buffers[arg] =
        exec::InputOp::create(builder, function.getLoc(), getBufferType(type),
                              role, shape.getValue());
  }
  return success();
}

/// Buffers for the results that are not in place.
LogicalResult ProgramBuilder::bindResults(LaunchOp launch) {
  auto shapes = launch.getShapes().getAsValueRange<AffineMapAttr>();
  for (auto [result, shape] : llvm::zip(launch.getOutputs(), shapes)) {
    auto type = cast<RankedTensorType>(result.getType());
    if (failed(checkShape(launch, shape, type)))
      return failure();
    if (updated.contains(result))
      continue;
    StringRef role = outputs.lookup(result);
    if (role.empty())
      buffers[result] =
          exec::TempOp::create(builder, launch.getLoc(), getBufferType(type),
                               shape, /*offset=*/AffineMapAttr());
    else
      buffers[result] = exec::InputOp::create(builder, launch.getLoc(),
                                              getBufferType(type), role, shape);
  }
  return success();
}

Value ProgramBuilder::getWeight(WeightOp weight, tile::ViewType view) {
  Value &buffer =
      weights[{weight.getGlobalAttr(), {view.getPanel(), view.getAlong()}}];
  if (buffer)
    return buffer;
  auto type = cast<RankedTensorType>(weight.getType());
  SmallVector<AffineExpr> extents;
  for (int64_t extent : type.getShape())
    extents.push_back(builder.getAffineConstantExpr(extent));
  return buffer = exec::WeightOp::create(
             builder, weight.getLoc(), getBufferType(type), weight.getGlobal(),
             exec::getStepMap(extents, builder.getContext()), view.getPanel(),
             view.getAlong());
}

Value ProgramBuilder::getConstant(arith::ConstantOp constant) {
  Value &buffer = constants[constant.getValue()];
  if (!buffer)
    buffer = exec::ConstantOp::create(builder, constant.getLoc(),
                                      getBufferType(constant.getType()),
                                      cast<ElementsAttr>(constant.getValue()));
  return buffer;
}

/// The buffer of `value` as `view` wants it.
FailureOr<Value> ProgramBuilder::getBuffer(Value value, tile::ViewType view,
                                           LaunchOp launch) {
  Value root = getRoot(value);
  if (auto weight = root.getDefiningOp<WeightOp>())
    return getWeight(weight, view);
  Value buffer = buffers.lookup(root);
  if (auto constant = root.getDefiningOp<arith::ConstantOp>())
    buffer = getConstant(constant);
  if (!buffer)
    return launch.emitOpError("uses a value that no launch computes");
  if (failed(setLayout(buffer, view, launch)))
    return failure();
  return buffer;
}

/// The first view of a pool decides its layout; all else is row-major.
LogicalResult ProgramBuilder::setLayout(Value buffer, tile::ViewType view,
                                        LaunchOp launch) {
  auto input = buffer.getDefiningOp<exec::InputOp>();
  if (!input || input.getKind() != RoleKind::Pool) {
    if (view.getPanel() == 0)
      return success();
    return launch.emitOpError("expected a weight or pool where kernel ")
           << launch.getKernelAttr() << " has " << view;
  }
  if (fixed.insert(buffer).second) {
    input.setPanel(view.getPanel());
    input.setAlong(view.getAlong());
  }
  if (static_cast<int64_t>(input.getPanel()) == view.getPanel() &&
      static_cast<int64_t>(input.getAlong()) == view.getAlong())
    return success();
  return launch.emitOpError("expected '")
         << input.getRole() << "' in panels of " << input.getPanel()
         << " along " << input.getAlong() << " as in the launches before, but "
         << "kernel " << launch.getKernelAttr() << " has " << view;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The parameters of the launched kernel; there must be one for each operand
/// and each result that is not in place.
FailureOr<SmallVector<tile::ViewType>>
ProgramBuilder::getViews(LaunchOp launch) {
  auto kernel = symbols.lookup<tile::KernelOp>(launch.getKernel());
  if (!kernel)
    return launch.emitOpError("expected a tile.kernel named ")
           << launch.getKernelAttr();
  SmallVector<tile::ViewType> views;
  for (BlockArgument param : kernel.getParams()) {
    auto view = dyn_cast<tile::ViewType>(param.getType());
    if (!view)
      return launch.emitOpError("expected only views as parameters of ")
             << launch.getKernelAttr() << ", but got " << param.getType();
    views.push_back(view);
  }
  size_t expected = launch.getInputs().size() +
                    llvm::count_if(launch.getInplace(),
                                   [](int64_t index) { return index < 0; });
  if (views.size() != expected)
    return launch.emitOpError("expected ")
           << expected << " views of " << launch.getKernelAttr() << ", but got "
           << views.size();
  return views;
}

LogicalResult ProgramBuilder::appendExtents(LaunchOp launch, unsigned number,
                                            Value buffer, tile::ViewType view,
                                            SmallVectorImpl<AffineExpr> &out) {
  Type element = cast<exec::BufferType>(buffer.getType()).getElementType();
  AffineMap shape = exec::getShape(buffer);
  auto extents = exec::deriveViewExtents(shape.getResults(), view.getShape(),
                                         builder.getContext());
  // Panels are defined on the dimensions of the buffer.
  bool reshaped = view.getPanel() != 0 &&
                  view.getRank() != static_cast<int64_t>(shape.getNumResults());
  if (!extents || reshaped || element != view.getElementType())
    return launch.emitOpError("expected view ")
           << number << " of " << launch.getKernelAttr()
           << " to fit a buffer of " << element << " with extents "
           << AffineMapAttr::get(shape) << ", but got " << view;
  llvm::append_range(out, *extents);
  return success();
}

LogicalResult ProgramBuilder::createLaunch(LaunchOp launch) {
  auto views = getViews(launch);
  if (failed(views) || failed(bindResults(launch)))
    return failure();
  SmallVector<Value> values(launch.getInputs());
  SmallVector<bool> isWritten(values.size(), false);
  for (auto [result, index] :
       llvm::zip(launch.getOutputs(), launch.getInplace())) {
    if (index >= 0) {
      isWritten[index] = true;
      continue;
    }
    values.push_back(result);
    isWritten.push_back(true);
  }
  SmallVector<Value> operands;
  SmallVector<int64_t> writes;
  SmallVector<AffineExpr> extents;
  for (auto [number, value, view] : llvm::enumerate(values, *views)) {
    if (isWritten[number] == (view.getMode() == tile::AccessMode::Read))
      return launch.emitOpError("expected view ")
             << number << " of " << launch.getKernelAttr() << " to be "
             << (isWritten[number] ? "written" : "read") << ", but got "
             << view;
    if (isWritten[number])
      writes.push_back(number);
    FailureOr<Value> buffer = getBuffer(value, view, launch);
    if (failed(buffer) ||
        failed(appendExtents(launch, number, *buffer, view, extents)))
      return failure();
    operands.push_back(*buffer);
  }
  exec::LaunchOp::create(
      builder, launch.getLoc(), launch.getKernelAttr(), operands,
      builder.getDenseI64ArrayAttr(writes),
      AffineMapAttr::get(exec::getStepMap(extents, builder.getContext())),
      launch.getLabelAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LogicalResult ProgramBuilder::build() {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected a body of one block");
  Block &body = function.getBody().front();
  for (Operation &op : body) {
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      if (failed(traceInPlace(launch)))
        return failure();
      continue;
    }
    auto constant = dyn_cast<arith::ConstantOp>(op);
    bool isTensor = constant && isa<ElementsAttr>(constant.getValue());
    if (!isTensor && !isa<WeightOp, func::ReturnOp>(op))
      return op.emitOpError("expected only weights, constant tensors and "
                            "launches in a function of a phase");
  }
  if (failed(assignOutputs(cast<func::ReturnOp>(body.getTerminator()))))
    return failure();
  builder.setInsertionPoint(function);
  auto program =
      exec::ProgramOp::create(builder, function.getLoc(), function.getSymName(),
                              /*arena=*/AffineMapAttr());
  builder.setInsertionPointToStart(&program.getBody().emplaceBlock());
  if (failed(createInputs()))
    return failure();
  for (LaunchOp launch : body.getOps<LaunchOp>())
    if (failed(createLaunch(launch)))
      return failure();
  return success();
}
