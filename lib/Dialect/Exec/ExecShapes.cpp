//===- ExecShapes.cpp - Symbolic extents of exec buffers ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/Exec/ExecShapes.h"

#include "mlir/IR/AffineExpr.h"
#include "mmx/Dialect/Exec/ExecOps.h"
#include "mmx/Dialect/MMX/MMXInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mmx;

AffineMap exec::getStepMap(ArrayRef<AffineExpr> results, MLIRContext *context) {
  return AffineMap::get(/*dimCount=*/0, numStepSymbols, results, context);
}

AffineMap exec::getShape(Value buffer) {
  return llvm::TypeSwitch<Operation *, AffineMap>(buffer.getDefiningOp())
      .Case<InputOp, WeightOp, TempOp>([](auto op) { return op.getShape(); })
      .Case([](ConstantOp op) {
        SmallVector<AffineExpr> extents;
        for (int64_t extent : op.getValue().getShapedType().getShape())
          extents.push_back(getAffineConstantExpr(extent, op.getContext()));
        return getStepMap(extents, op.getContext());
      });
}

AffineExpr exec::getNumElements(ArrayRef<AffineExpr> shape,
                                MLIRContext *context) {
  AffineExpr product = getAffineConstantExpr(1, context);
  for (AffineExpr extent : shape) {
    if (!product.isSymbolicOrConstant() || !extent.isSymbolicOrConstant())
      return {};
    if (!isa<AffineConstantExpr>(product) && !isa<AffineConstantExpr>(extent))
      return {};
    product = product * extent;
  }
  return product;
}

AffineExpr exec::getSizeInBytes(Value buffer) {
  MLIRContext *context = buffer.getContext();
  AffineExpr elements = getNumElements(getShape(buffer).getResults(), context);
  Type element = cast<BufferType>(buffer.getType()).getElementType();
  return elements ? elements * (element.getIntOrFloatBitWidth() / 8) : elements;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Whether an extent `actual` may be seen as `view` with nothing reshaped.
static bool isSameExtent(AffineExpr actual, int64_t view) {
  if (ShapedType::isDynamic(view))
    return true;
  auto constant = dyn_cast<AffineConstantExpr>(actual);
  return constant && constant.getValue() == view;
}

static bool isSameShape(ArrayRef<AffineExpr> shape, ArrayRef<int64_t> view) {
  return shape.size() == view.size() &&
         llvm::all_of(llvm::zip(shape, view), [](auto pair) {
           return isSameExtent(std::get<0>(pair), std::get<1>(pair));
         });
}

/// The one dynamic extent of `view` (or none, pushing nothing) from the number
/// of elements.
static LogicalResult deriveOnlyExtent(ArrayRef<AffineExpr> shape,
                                      ArrayRef<int64_t> view,
                                      MLIRContext *context,
                                      SmallVectorImpl<AffineExpr> &extents) {
  AffineExpr elements = exec::getNumElements(shape, context);
  int64_t rest = 1, dynamic = 0;
  for (int64_t extent : view) {
    if (ShapedType::isDynamic(extent))
      ++dynamic;
    else
      rest *= extent;
  }
  if (!elements || dynamic > 1 || rest == 0)
    return failure();
  if (dynamic == 0)
    return success(elements == getAffineConstantExpr(rest, context));
  if (!elements.isMultipleOf(rest))
    return failure();
  extents.push_back(elements.floorDiv(rest));
  return success();
}

std::optional<SmallVector<AffineExpr>>
exec::deriveViewExtents(ArrayRef<AffineExpr> shape, ArrayRef<int64_t> view,
                        MLIRContext *context) {
  SmallVector<AffineExpr> extents;
  if (isSameShape(shape, view)) {
    for (auto [actual, extent] : llvm::zip(shape, view))
      if (ShapedType::isDynamic(extent))
        extents.push_back(actual);
    return extents;
  }
  // Leading dimensions that vary and stay as they are, until what is left
  // follows from the number of elements.
  while (llvm::count_if(view, ShapedType::isDynamic) > 1) {
    bool same = !shape.empty() && !isa<AffineConstantExpr>(shape.front()) &&
                ShapedType::isDynamic(view.front());
    if (!same && (shape.empty() || !isSameExtent(shape.front(), view.front()) ||
                  ShapedType::isDynamic(view.front())))
      return std::nullopt;
    if (same)
      extents.push_back(shape.front());
    shape = shape.drop_front();
    view = view.drop_front();
  }
  if (failed(deriveOnlyExtent(shape, view, context, extents)))
    return std::nullopt;
  return extents;
}

//===----------------------------------------------------------------------===//
// Values and bounds
//===----------------------------------------------------------------------===//

int64_t exec::evaluate(AffineExpr expr, ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = evaluate(binary.getLHS(), symbols);
  int64_t rhs = evaluate(binary.getRHS(), symbols);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(lhs, rhs);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(lhs, rhs);
  case AffineExprKind::Mod:
    return llvm::mod(lhs, rhs);
  default:
    llvm_unreachable("expected a binary expression of the step symbols");
  }
}

namespace {
/// A sum of coefficients times atoms: symbols, quotients, remainders and, as
/// the null expression, one.
using LinearForm = llvm::SmallDenseMap<AffineExpr, int64_t>;
} // namespace

static void addTerms(AffineExpr expr, int64_t factor, LinearForm &form) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    form[AffineExpr()] += factor * constant.getValue();
    return;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && binary.getKind() == AffineExprKind::Add) {
    addTerms(binary.getLHS(), factor, form);
    addTerms(binary.getRHS(), factor, form);
    return;
  }
  if (binary && binary.getKind() == AffineExprKind::Mul) {
    // Affine: the constant stands on the right.
    auto constant = cast<AffineConstantExpr>(binary.getRHS());
    addTerms(binary.getLHS(), factor * constant.getValue(), form);
    return;
  }
  form[expr] += factor;
}

bool exec::isNeverLarger(AffineExpr small, AffineExpr large) {
  LinearForm difference;
  addTerms(large, 1, difference);
  addTerms(small, -1, difference);
  // A quotient or remainder of something >= 0 by a positive number is at most
  // that itself, rounded up or not: x ceildiv c <= x.
  SmallVector<std::pair<AffineExpr, int64_t>> terms(difference.begin(),
                                                    difference.end());
  for (auto [atom, factor] : terms) {
    auto binary = atom ? dyn_cast<AffineBinaryOpExpr>(atom) : nullptr;
    if (!binary || factor >= 0)
      continue;
    difference[atom] = 0;
    addTerms(binary.getLHS(), factor, difference);
  }
  return llvm::all_of(difference,
                      [](const auto &term) { return term.second >= 0; });
}
