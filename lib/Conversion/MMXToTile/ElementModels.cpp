//===- ElementModels.cpp - Elementwise ops as scalar code -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mmx;

namespace {

/// Arithmetic on f32 scalars in the body of a map.
struct F32 {
  ElementContext &context;

  Value constant(double value) const { return context.constant(value); }
  Value add(Value a, Value b) const { return make<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) const { return make<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) const { return make<arith::MulFOp>(a, b); }
  Value div(Value a, Value b) const { return make<arith::DivFOp>(a, b); }
  Value exp(Value a) const { return make<math::ExpOp>(a); }
  Value sqrt(Value a) const { return make<math::SqrtOp>(a); }
  Value neg(Value a) const { return make<arith::NegFOp>(a); }
  Value select(Value c, Value a, Value b) const {
    return make<arith::SelectOp>(c, a, b);
  }
  /// x / (1 + exp(-g)); exp may overflow to infinity, which gives 0.
  Value timesSigmoid(Value x, Value g) const {
    return div(x, add(constant(1.0), exp(neg(g))));
  }
  Value alphaBeta(Value x, double alpha, Value y, double beta) const {
    Value scaled = beta == 1.0 ? y : mul(constant(beta), y);
    return add(mul(constant(alpha), x), scaled);
  }

private:
  template <typename OpTy, typename... Args> Value make(Args... args) const {
    return OpTy::create(context.builder, context.loc, args...);
  }
};

/// max(n, 0) of an index.
Value clampIndex(ElementContext &context, Value n) {
  Value zero = arith::ConstantIndexOp::create(context.builder, context.loc, 0);
  return arith::MaxSIOp::create(context.builder, context.loc, n, zero);
}

Value subIndex(ElementContext &context, Value a, Value b) {
  return arith::SubIOp::create(context.builder, context.loc, a, b);
}

template <typename Model, typename OpTy>
using ElementModel = ElementEmitterInterface::ExternalModel<Model, OpTy>;

struct SiluModel : ElementModel<SiluModel, SiluOp> {
  Value emitElement(Operation *, ElementContext &context, ValueRange x) const {
    return F32{context}.timesSigmoid(x[0], x[0]);
  }
};

struct GateModel : ElementModel<GateModel, GateOp> {
  Value emitElement(Operation *, ElementContext &context, ValueRange x) const {
    return F32{context}.timesSigmoid(x[0], x[1]);
  }
};

struct SwigluModel : ElementModel<SwigluModel, SwigluOp> {
  Value emitElement(Operation *, ElementContext &context, ValueRange x) const {
    F32 f{context};
    return f.mul(f.timesSigmoid(x[0], x[0]), x[1]);
  }
};

struct ResidualModel : ElementModel<ResidualModel, ResidualOp> {
  Value emitElement(Operation *op, ElementContext &context,
                    ValueRange x) const {
    auto residual = cast<ResidualOp>(op);
    return F32{context}.alphaBeta(x[0], residual.getAlpha().convertToDouble(),
                                  x[1], residual.getBeta().convertToDouble());
  }
};

struct AddModel : ElementModel<AddModel, AddOp> {
  Value emitElement(Operation *, ElementContext &context, ValueRange x) const {
    return F32{context}.add(x[0], x[1]);
  }
};

struct NormalizeModel : ElementModel<NormalizeModel, NormalizeOp> {
  OperandAccess getOperandAccess(Operation *, unsigned index) const {
    constexpr OperandAccess accesses[] = {OperandAccess::Element,
                                          OperandAccess::PerRow,
                                          OperandAccess::PerColumn};
    return accesses[index];
  }
  Value emitElement(Operation *op, ElementContext &context,
                    ValueRange x) const {
    auto normalize = cast<NormalizeOp>(op);
    F32 f{context};
    Value mean =
        f.div(x[1], f.constant(static_cast<double>(normalize.getWidth())));
    Value root =
        f.sqrt(f.add(mean, f.constant(normalize.getEps().convertToDouble())));
    return f.mul(x[2], f.div(x[0], root));
  }
};

/// (1 - c) routed + c shared, c = sigmoid(coefficient).
struct MixModel : ElementModel<MixModel, MixOp> {
  OperandAccess getOperandAccess(Operation *, unsigned index) const {
    return index == 2 ? OperandAccess::PerRow : OperandAccess::Element;
  }
  Value emitElement(Operation *, ElementContext &context, ValueRange x) const {
    F32 f{context};
    Value one = f.constant(1.0);
    Value c = f.timesSigmoid(one, x[2]);
    return f.add(f.mul(f.sub(one, c), x[0]), f.mul(c, x[1]));
  }
};

/// Elements are f32 within a map: rounding to bf16 is a round trip.
struct ConvertModel : ElementModel<ConvertModel, ConvertOp> {
  Value emitElement(Operation *op, ElementContext &context,
                    ValueRange x) const {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!type.getElementType().isBF16())
      return x[0];
    Value rounded = arith::TruncFOp::create(
        context.builder, context.loc, context.builder.getBF16Type(), x[0]);
    return arith::ExtFOp::create(context.builder, context.loc,
                                 context.builder.getF32Type(), rounded);
  }
};

//===----------------------------------------------------------------------===//
// Decays (E16)
//===----------------------------------------------------------------------===//

/// A selection, so that what stands above the diagonal does not matter.
struct DecayMaskModel : ElementModel<DecayMaskModel, DecayMaskOp> {
  Value emitElement(Operation *op, ElementContext &context,
                    ValueRange x) const {
    F32 f{context};
    Value age = subIndex(context, context.row, context.col);
    Value factor = context.decay(cast<DecayMaskOp>(op).getDecay(),
                                 clampIndex(context, age));
    Value below = arith::CmpIOp::create(context.builder, context.loc,
                                        arith::CmpIPredicate::sge, context.row,
                                        context.col);
    return f.select(below, f.mul(x[0], factor), f.constant(0.0));
  }
};

struct QueryDecayModel : ElementModel<QueryDecayModel, QueryDecayOp> {
  Value emitElement(Operation *op, ElementContext &context,
                    ValueRange x) const {
    Value one = arith::ConstantIndexOp::create(context.builder, context.loc, 1);
    Value age =
        arith::AddIOp::create(context.builder, context.loc, context.row, one);
    return F32{context}.mul(
        x[0], context.decay(cast<QueryDecayOp>(op).getDecay(), age));
  }
};

/// Rows past the end of the block are zero; their age is clamped so that no
/// infinity meets them.
struct KeyDecayModel : ElementModel<KeyDecayModel, KeyDecayOp> {
  Value emitElement(Operation *op, ElementContext &context,
                    ValueRange x) const {
    Value one = arith::ConstantIndexOp::create(context.builder, context.loc, 1);
    Value last = subIndex(context, context.bound, one);
    Value age = clampIndex(context, subIndex(context, last, context.row));
    return F32{context}.mul(
        x[0], context.decay(cast<KeyDecayOp>(op).getDecay(), age));
  }
};

struct BlockDecayModel : ElementModel<BlockDecayModel, BlockDecayOp> {
  OperandAccess getOperandAccess(Operation *, unsigned index) const {
    return index == 1 ? OperandAccess::None : OperandAccess::Element;
  }
  Value emitElement(Operation *op, ElementContext &context,
                    ValueRange x) const {
    return F32{context}.mul(
        context.decay(cast<BlockDecayOp>(op).getDecay(), context.bound), x[0]);
  }
};

} // namespace

void mmx::attachElementModels(MLIRContext *context) {
  SiluOp::attachInterface<SiluModel>(*context);
  GateOp::attachInterface<GateModel>(*context);
  SwigluOp::attachInterface<SwigluModel>(*context);
  ResidualOp::attachInterface<ResidualModel>(*context);
  AddOp::attachInterface<AddModel>(*context);
  NormalizeOp::attachInterface<NormalizeModel>(*context);
  MixOp::attachInterface<MixModel>(*context);
  ConvertOp::attachInterface<ConvertModel>(*context);
  DecayMaskOp::attachInterface<DecayMaskModel>(*context);
  QueryDecayOp::attachInterface<QueryDecayModel>(*context);
  KeyDecayOp::attachInterface<KeyDecayModel>(*context);
  BlockDecayOp::attachInterface<BlockDecayModel>(*context);
}

LogicalResult mmx::emitElementwiseCell(KernelEmitter &emitter) {
  Value result =
      emitter.getSource().getBody().front().getTerminator()->getOperand(0);
  auto type = cast<RankedTensorType>(result.getType());
  bool hasHeads = type.getRank() == 3;
  int64_t width = type.getShape().back();
  TileSizesAttr tiles = emitter.getTiles(16, std::min<int64_t>(width, 256), 1);
  int64_t cols = hasHeads ? width : tiles.getCols();
  SmallVector<Value> ids = emitter.setGrid(
      {emitter.getRows(result).ceilDiv(tiles.getRows()),
       emitter.getAffine(hasHeads ? type.getDimSize(1)
                                  : llvm::divideCeil(width, cols))});
  TileRegion region{emitter.mul(ids[0], tiles.getRows()), tiles.getRows(),
                    hasHeads ? ids[1] : Value(),
                    hasHeads ? emitter.index(0) : emitter.mul(ids[1], cols),
                    cols};
  return emitter.finish(region, {});
}
