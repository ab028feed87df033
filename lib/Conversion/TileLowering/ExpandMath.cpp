//===- ExpandMath.cpp - Elementary functions in plain arithmetic ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Coefficients: exp from Cephes (expf), sin and cos from fdlibm (k_sin, k_cos).
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace {

/// Arithmetic on scalars or vectors of the shape of one operand.
struct Arithmetic : ImplicitLocOpBuilder {
  Arithmetic(Location loc, OpBuilder builder, Value like)
      : ImplicitLocOpBuilder(loc, builder), type(like.getType()) {}

  Type type;

  Type withElement(Type element) const {
    if (auto shaped = dyn_cast<ShapedType>(type))
      return shaped.clone(element);
    return element;
  }
  Value number(double value) {
    return fill(type, getFloatAttr(getElementTypeOrSelf(type), value));
  }
  Value integer(Type element, int64_t value) {
    return fill(withElement(element), getIntegerAttr(element, value));
  }
  Value fill(Type full, TypedAttr element) {
    if (auto shaped = dyn_cast<ShapedType>(full))
      element = DenseElementsAttr::get(shaped, element);
    return arith::ConstantOp::create(*this, element);
  }
  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(*this, a, b, c);
  }
  Value mul(Value a, Value b) { return arith::MulFOp::create(*this, a, b); }
  Value select(arith::CmpFPredicate predicate, Value a, Value b, Value yes,
               Value no) {
    Value condition = arith::CmpFOp::create(*this, predicate, a, b);
    return arith::SelectOp::create(*this, condition, yes, no);
  }
  /// Coefficients from the highest power down.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, number(coefficient));
    return sum;
  }
  /// A whole number as an integer; 0 for NaN, whose conversion is undefined.
  Value toInteger(Value whole, Type element) {
    Value safe =
        select(arith::CmpFPredicate::ORD, whole, whole, whole, number(0.0));
    return arith::FPToSIOp::create(*this, withElement(element), safe);
  }
};

/// exp(x) = 2^n exp(r), x = n ln 2 + r.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getOperand();
    if (!getElementTypeOrSelf(x.getType()).isF32())
      return failure();
    Arithmetic b(op.getLoc(), rewriter, x);
    // Beyond these bounds the result is 0 or infinity. NaN stays.
    Value low = b.number(-104.0), high = b.number(89.0);
    x = b.select(arith::CmpFPredicate::OLT, x, low, low, x);
    x = b.select(arith::CmpFPredicate::OGT, x, high, high, x);
    Value n = math::RoundEvenOp::create(b, b.mul(x, b.number(M_LOG2E)));
    Value r = b.fma(n, b.number(-0.693359375), x);
    r = b.fma(n, b.number(2.12194440e-4), r);
    Value p =
        b.polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                         4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
    Value e = b.fma(p, b.mul(r, r), r);
    e = arith::AddFOp::create(b, e, b.number(1.0));
    // 2^n as two factors: n reaches beyond the exponents on both sides.
    Type i32 = b.getI32Type();
    Value whole = b.toInteger(n, i32);
    Value half = arith::ShRSIOp::create(b, whole, b.integer(i32, 1));
    Value rest = arith::SubIOp::create(b, whole, half);
    for (Value power : {half, rest}) {
      Value biased = arith::AddIOp::create(b, power, b.integer(i32, 127));
      Value bits = arith::ShLIOp::create(b, biased, b.integer(i32, 23));
      e = b.mul(e, arith::BitcastOp::create(b, b.type, bits));
    }
    rewriter.replaceOp(op, e);
    return success();
  }
};

/// sin and cos by the quadrant: x = q pi/2 + r.
template <typename OpTy> struct ExpandSine : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  static constexpr bool isCosine = std::is_same_v<OpTy, math::CosOp>;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getOperand();
    Type element = getElementTypeOrSelf(x.getType());
    Arithmetic b(op.getLoc(), rewriter, x);
    if (element.isF32()) {
      Value wide = arith::ExtFOp::create(b, b.withElement(b.getF64Type()), x);
      Value result = OpTy::create(b, wide);
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, x.getType(), result);
      return success();
    }
    if (!element.isF64())
      return failure();
    Value q = math::RoundEvenOp::create(b, b.mul(x, b.number(M_2_PI)));
    Value r = x;
    for (double part :
         {-1.5707963267948966, -6.123233995736766e-17, 1.4973849048591833e-33})
      r = b.fma(q, b.number(part), r);
    Value square = b.mul(r, r);
    Value sine = b.polynomial(
        square, {1.58969099521155010221e-10, -2.50507602534068634195e-8,
                 2.75573137070700676789e-6, -1.98412698298579493134e-4,
                 8.33333333332248946124e-3, -1.66666666666666324348e-1});
    sine = b.fma(b.mul(sine, square), r, r);
    Value cosine = b.polynomial(
        square,
        {-1.13596475577881948265e-11, 2.08757232129817482790e-9,
         -2.75573143513906633035e-7, 2.48015872894767294178e-5,
         -1.38888888888741095749e-3, 4.16666666666666019037e-2, -0.5, 1.0});
    Type i64 = b.getI64Type();
    Value quadrant = b.toInteger(q, i64);
    if (isCosine)
      quadrant = arith::AddIOp::create(b, quadrant, b.integer(i64, 1));
    auto bit = [&](int64_t mask) -> Value {
      Value masked = arith::AndIOp::create(b, quadrant, b.integer(i64, mask));
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, masked,
                                   b.integer(i64, 0));
    };
    Value value = arith::SelectOp::create(b, bit(1), cosine, sine);
    Value negative = arith::NegFOp::create(b, value);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, bit(2), negative, value);
    return success();
  }
};

} // namespace

void mmx::lowering::populateMathExpansions(RewritePatternSet &patterns) {
  patterns.add<ExpandExp, ExpandSine<math::SinOp>, ExpandSine<math::CosOp>>(
      patterns.getContext());
  arith::populateExpandBFloat16Patterns(patterns);
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name == math::LogOp::getOperationName() ||
           name == math::Log2Op::getOperationName() ||
           name == math::Log1pOp::getOperationName() ||
           name == math::TanhOp::getOperationName() ||
           name == math::ErfOp::getOperationName();
  });
}
