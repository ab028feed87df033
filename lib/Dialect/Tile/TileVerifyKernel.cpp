//===- TileVerifyKernel.cpp - Verifiers of kernels and maps ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers T.. are those of docs/tile.md.
//
//===----------------------------------------------------------------------===//

#include "TileVerify.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mmx/Dialect/Tile/TileOps.h"

using namespace mlir;
using namespace mmx::tile;

bool mmx::tile::isScalarOp(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
             op->getDialect()) ||
         isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
             op);
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

/// T7 and T9: the grid as far as it is known.
static LogicalResult verifyGrid(KernelOp op) {
  AffineMap grid = op.getGrid();
  if (grid.getNumDims() != 0)
    return op.emitOpError("expected a grid map without dimensions, but got ")
           << grid.getNumDims() << " (T7)";
  if (grid.getNumResults() > 3)
    return op.emitOpError("expected at most 3 grid dimensions, but got ")
           << grid.getNumResults() << " (T7)";
  unsigned extents = 0;
  for (Value parameter : op.getParams()) {
    if (auto view = dyn_cast<ViewType>(parameter.getType()))
      extents += view.getNumDynamicDims();
    else
      extents += parameter.getType().isIndex();
  }
  if (grid.getNumSymbols() != extents)
    return op.emitOpError("expected one symbol for each of ")
           << extents << " extents in the grid map, but got "
           << grid.getNumSymbols() << " (T7)";
  std::optional<ArrayRef<int64_t>> cluster = op.getCluster();
  if (!cluster)
    return success();
  if (cluster->size() != 2 || (*cluster)[0] < 0 ||
      (*cluster)[0] >= grid.getNumResults() || (*cluster)[1] < 1)
    return op.emitOpError("expected a grid dimension and a size of at least 1 "
                          "as the cluster (T9)");
  auto size = dyn_cast<AffineConstantExpr>(grid.getResult((*cluster)[0]));
  if (size && size.getValue() % (*cluster)[1])
    return op.emitOpError("expected a grid size divisible by the cluster size ")
           << (*cluster)[1] << ", but got " << size.getValue() << " (T9)";
  return success();
}

LogicalResult KernelOp::verify() {
  unsigned arguments = getBody().getNumArguments();
  if (arguments < getGridRank())
    return emitOpError("expected a body argument for each of ")
           << getGridRank() << " grid dimensions, but got " << arguments
           << " (T8)";
  for (Value id : getGridIds())
    if (!id.getType().isIndex())
      return emitOpError("expected coordinates of index type, but got ")
             << id.getType() << " (T8)";
  for (Value parameter : getParams())
    if (!isa<ViewType, IndexType, Float32Type>(parameter.getType()))
      return emitOpError("expected views, index and f32 as parameters, but "
                         "got ")
             << parameter.getType() << " (T6)";
  return verifyGrid(*this);
}

/// T12: what a loop carries.
static LogicalResult verifyCarried(scf::ForOp loop) {
  for (Type type : loop.getResultTypes())
    if (isa<SramType, ViewType>(type))
      return loop.emitOpError(
                 "expected fragments and scalars as carried values of a tile "
                 "program, but got ")
             << type << " (T12)";
  return success();
}

/// T11 and T12: a conditional has scalars only.
static LogicalResult verifyConditional(scf::IfOp branch) {
  for (Type type : branch.getResultTypes())
    if (isa<SramType, ViewType, FragType>(type))
      return branch.emitOpError("expected scalar results in a tile program, "
                                "but got ")
             << type << " (T12)";
  WalkResult result = branch.walk([](Operation *op) {
    if (!isa_and_nonnull<TileDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("expected no conditional around a tile op, but got "
                    "scf.if (T11)");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Every role recomputes the scalars that it needs, so only ops that give the
/// same everywhere may make them.
static LogicalResult verifyForeign(Operation *op) {
  bool isScalar = op->getNumResults() > 0 && op->getNumRegions() == 0 &&
                  llvm::all_of(op->getResultTypes(), [](Type type) {
                    return type.isIntOrIndexOrFloat();
                  });
  InFlightDiagnostic diagnostic = op->emitOpError();
  if (isScalar)
    diagnostic << "makes a scalar that is not replicable, ";
  return diagnostic << "expected tile ops, scalar ops, scf.for and scf.if in a "
                       "tile.kernel (T10)";
}

LogicalResult KernelOp::verifyRegions() {
  WalkResult result = getBody().walk<WalkOrder::PreOrder>([](Operation *op) {
    if (isa<MapOp>(op)) // The body is verified by the map.
      return WalkResult::skip();
    LogicalResult verified = success();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      verified = verifyCarried(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      verified = verifyConditional(branch);
    else if (!isScalarOp(op) && !isa<scf::YieldOp>(op) &&
             !isa_and_nonnull<TileDialect>(op->getDialect()))
      verified = verifyForeign(op);
    return failed(verified) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// MapOp
//===----------------------------------------------------------------------===//

/// T26: whether `operand` has the shape of `result` or is broadcast to it.
static bool isBroadcastable(FragType operand, FragType result) {
  if (operand.getShape() == result.getShape())
    return operand.getAlong() == result.getAlong();
  return operand.getShape().size() == 1 && result.getShape().size() == 2 &&
         operand.getShape()[0] == result.getShape()[operand.getAlong()];
}

LogicalResult MapOp::verify() {
  if (getNumResults() == 0)
    return emitOpError("expected at least one result (T26)");
  auto result = cast<FragType>(getResultTypes()[0]);
  for (Type type : getResultTypes()) {
    auto other = cast<FragType>(type);
    if (other.getShape() != result.getShape() ||
        other.getAlong() != result.getAlong())
      return emitOpError("expected results of one shape, but got ")
             << result << " and " << other << " (T26)";
  }
  for (Type type : getOperands_().getTypes())
    if (!isBroadcastable(cast<FragType>(type), result))
      return emitOpError("expected operands that fit ")
             << result << ", but got " << type << " (T26)";
  if (getWhen() && (getNumResults() != 1 || getOperands_().empty() ||
                    getOperands_().front().getType() != result))
    return emitOpError("expected one result of the type of operand 0 beside "
                       "'when' (T29)");
  return success();
}

/// T27: arguments and yielded values.
static LogicalResult verifyMapSignature(MapOp op) {
  Block &body = op.getBody().front();
  size_t operands = op.getOperands_().size();
  if (body.getNumArguments() != operands + 2)
    return op.emitOpError("expected ")
           << operands + 2 << " body arguments, but got "
           << body.getNumArguments() << " (T27)";
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    Type expected = IndexType::get(op.getContext());
    if (index < operands)
      expected =
          cast<FragType>(op.getOperands_()[index].getType()).getElementType();
    if (argument.getType() != expected)
      return op.emitOpError("expected body argument ")
             << index << " of type " << expected << ", but got "
             << argument.getType() << " (T27)";
  }
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().size() != op.getNumResults())
    return op.emitOpError("expected a body that yields ")
           << op.getNumResults() << " values (T27)";
  for (auto [index, type] : llvm::enumerate(op.getResultTypes())) {
    Type expected = cast<FragType>(type).getElementType();
    if (yield.getValues()[index].getType() != expected)
      return op.emitOpError("expected value ")
             << index << " of type " << expected << ", but got "
             << yield.getValues()[index].getType() << " (T27)";
  }
  return success();
}

/// T13: a bound of a loop in `map` is the same for every element.
static LogicalResult verifyUniformBound(MapOp map, scf::ForOp loop,
                                        Value bound) {
  if (!map.getBody().isAncestor(bound.getParentRegion()) ||
      matchPattern(bound, m_Constant()))
    return success();
  return loop.emitOpError("expected loop bounds from outside the map (T13)");
}

LogicalResult MapOp::verifyRegions() {
  if (failed(verifyMapSignature(*this)))
    return failure();
  WalkResult result = getBody().walk([&](Operation *op) {
    for (Type type :
         llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      if (!type.isIntOrIndexOrFloat()) {
        op->emitOpError("expected scalars in the body of a map, but got ")
            << type << " (T28)";
        return WalkResult::interrupt();
      }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (Value bound :
           {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
        if (failed(verifyUniformBound(*this, loop, bound)))
          return WalkResult::interrupt();
    } else if (!isScalarOp(op) && !isa<YieldOp, scf::YieldOp>(op)) {
      op->emitOpError("expected pure scalar ops and scf.for in the body of a "
                      "map (T28)");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
