//===- KernelTiles.cpp - Scalars, tiles and maps of a kernel --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mmx;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value KernelEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, getLoc(), value);
}

Value KernelEmitter::add(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(getLoc(), a, b);
}

Value KernelEmitter::sub(Value a, Value b) {
  return builder.createOrFold<arith::SubIOp>(getLoc(), a, b);
}

Value KernelEmitter::mul(Value a, int64_t b) {
  return builder.createOrFold<arith::MulIOp>(getLoc(), a, index(b));
}

Value KernelEmitter::div(Value a, int64_t b) {
  return builder.createOrFold<arith::DivSIOp>(getLoc(), a, index(b));
}

Value KernelEmitter::min(Value a, Value b) {
  return builder.createOrFold<arith::MinSIOp>(getLoc(), a, b);
}

Value KernelEmitter::dim(Value view, int64_t dim) {
  auto type = cast<tile::ViewType>(view.getType());
  if (!type.isDynamicDim(dim))
    return index(type.getShape()[dim]);
  return tile::DimOp::create(builder, getLoc(), builder.getIndexType(), view,
                             static_cast<uint64_t>(dim));
}

Value KernelEmitter::table(Value view, ValueRange indices) {
  return tile::TableOp::create(builder, getLoc(), builder.getIndexType(), view,
                               indices);
}

void KernelEmitter::loadRate(DecayAttr decay, Value head) {
  if (rates.contains(decay))
    return;
  // The heads of the attribute may be fewer than those of the model; the
  // table covers those from its first one on.
  SmallVector<float> values;
  for (int64_t h = 0; h < decay.getHeads() - decay.getFirst(); ++h)
    values.push_back(static_cast<float>(decay.getRate(h)));
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder.getF32Type());
  Value view = getConstant(DenseElementsAttr::get(type, ArrayRef(values)));
  rates[decay] = tile::TableOp::create(builder, getLoc(), builder.getF32Type(),
                                       view, head);
}

/// exp(-rate n).
static Value emitDecay(OpBuilder &builder, Location loc, Value rate, Value n) {
  Value integer =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), n);
  Value count =
      arith::SIToFPOp::create(builder, loc, builder.getF32Type(), integer);
  Value product = arith::MulFOp::create(builder, loc, rate, count);
  Value exponent = arith::NegFOp::create(builder, loc, product);
  return math::ExpOp::create(builder, loc, exponent);
}

Value KernelEmitter::decay(DecayAttr decay, Value n) {
  return emitDecay(builder, getLoc(), getRate(decay), n);
}

Value ElementContext::decay(DecayAttr decay, Value n) {
  return emitDecay(builder, loc, emitter.getRate(decay), n);
}

Value ElementContext::constant(double value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

tile::FragType KernelEmitter::frag(ArrayRef<int64_t> shape, int64_t along) {
  return tile::FragType::get(builder.getContext(), shape, builder.getF32Type(),
                             along);
}

Value KernelEmitter::load(const Slice &slice, Type type, Value rows) {
  return tile::LoadOp::create(
      builder, getLoc(), type, slice.view, slice.indices, rows,
      builder.getDenseI64ArrayAttr(slice.dims), builder.getF64FloatAttr(0.0));
}

Value KernelEmitter::loadSram(const Slice &slice, ArrayRef<int64_t> shape,
                              Value rows) {
  Type element = cast<tile::ViewType>(slice.view.getType()).getElementType();
  return load(slice, tile::SramType::get(builder.getContext(), shape, element),
              rows);
}

Value KernelEmitter::loadFrag(const Slice &slice, ArrayRef<int64_t> shape,
                              int64_t along, Value rows) {
  Type element = cast<tile::ViewType>(slice.view.getType()).getElementType();
  return load(slice,
              tile::FragType::get(builder.getContext(), shape, element, along),
              rows);
}

tile::StoreOp KernelEmitter::store(Value tile, const Slice &slice, Value rows) {
  return tile::StoreOp::create(builder, getLoc(), tile, slice.view,
                               slice.indices, Value(), Value(), rows,
                               builder.getDenseI64ArrayAttr(slice.dims));
}

Value KernelEmitter::fill(tile::FragType type, double value) {
  return map(type, {}, [&](ElementContext &context, ValueRange) {
    if (type.getElementType().isInteger())
      return arith::ConstantOp::create(
                 context.builder, context.loc,
                 context.builder.getIntegerAttr(type.getElementType(),
                                                static_cast<int64_t>(value)))
          .getResult();
    return context.constant(value);
  });
}

Value KernelEmitter::put(Value fragment) {
  auto type = cast<tile::FragType>(fragment.getType());
  return tile::PutOp::create(builder, getLoc(),
                             tile::SramType::get(builder.getContext(),
                                                 type.getShape(),
                                                 type.getElementType()),
                             fragment);
}

Value KernelEmitter::mma(Value a, Value b, Value acc, bool transposeA,
                         bool transposeB) {
  // One operand at most may be in registers.
  if (isa<tile::FragType>(a.getType()) && isa<tile::FragType>(b.getType()))
    b = put(b);
  auto shape = [](Value tile) {
    if (auto fragment = dyn_cast<tile::FragType>(tile.getType()))
      return fragment.getShape();
    return cast<tile::SramType>(tile.getType()).getShape();
  };
  tile::FragType type =
      frag({shape(a)[transposeA ? 1 : 0], shape(b)[transposeB ? 0 : 1]});
  return tile::MmaOp::create(builder, getLoc(), type, a, b, acc, transposeA,
                             transposeB);
}

Value KernelEmitter::reduce(tile::ReduceKind kind, Value value, int64_t dim) {
  auto type = cast<tile::FragType>(value.getType());
  auto result =
      tile::FragType::get(builder.getContext(), {type.getShape()[1 - dim]},
                          type.getElementType(), 1 - dim);
  return tile::ReduceOp::create(builder, getLoc(), TypeRange{result}, kind,
                                value, static_cast<uint64_t>(dim))
      .getResult();
}

SmallVector<Value> KernelEmitter::loop(
    Value from, Value to, int64_t step, ValueRange init,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop =
      scf::ForOp::create(builder, getLoc(), from, to, index(step), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  // Without carried values the loop was made with its terminator.
  if (!init.empty())
    scf::YieldOp::create(builder, getLoc(), next);
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// A map with results of type `type`; the builder of the context that `body`
/// gets stands in it. bf16 elements are widened first.
static tile::MapOp createMap(
    KernelEmitter &emitter, ArrayRef<Type> types, ValueRange operands,
    Value bound,
    llvm::function_ref<SmallVector<Value>(ElementContext &, ValueRange)> body) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.getLoc();
  auto map = tile::MapOp::create(builder, loc, types, operands, Value());
  SmallVector<Type> arguments;
  for (Value operand : operands)
    arguments.push_back(
        cast<tile::FragType>(operand.getType()).getElementType());
  arguments.append(2, builder.getIndexType());
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&map.getBody(), {}, arguments,
                          SmallVector<Location>(arguments.size(), loc));
  SmallVector<Value> elements;
  for (Value argument : block->getArguments().drop_back(2))
    elements.push_back(argument.getType().isBF16()
                           ? arith::ExtFOp::create(
                                 builder, loc, builder.getF32Type(), argument)
                                 .getResult()
                           : argument);
  ElementContext context{emitter,
                         builder,
                         loc,
                         block->getArgument(operands.size()),
                         block->getArgument(operands.size() + 1),
                         bound};
  tile::YieldOp::create(builder, loc, body(context, elements));
  return map;
}

Value KernelEmitter::map(tile::FragType type, ValueRange operands, MapBody body,
                         Value bound) {
  return createMap(*this, type, operands, bound,
                   [&](ElementContext &context, ValueRange elements) {
                     return SmallVector<Value>{body(context, elements)};
                   })
      .getResult(0);
}

namespace {
/// A tree of elementwise ops with tiles at its leaves.
struct ElementTree {
  using Key = std::pair<Value, unsigned>;
  llvm::SmallMapVector<Key, Value, 8> leaves;
  llvm::SmallDenseMap<Value, Value> emitted;
  llvm::SmallDenseMap<Key, Value> arguments;

  LogicalResult collect(Value value, OperandAccess access,
                        KernelEmitter::Leaf leaf);
  Value emit(ElementContext &context, Value value, OperandAccess access);
};
} // namespace

LogicalResult ElementTree::collect(Value value, OperandAccess access,
                                   KernelEmitter::Leaf leaf) {
  Key key(value, static_cast<unsigned>(access));
  if (access == OperandAccess::None || leaves.contains(key))
    return success();
  if (Value tile = leaf(value, access)) {
    leaves[key] = tile;
    return success();
  }
  auto op = dyn_cast_or_null<ElementEmitterInterface>(value.getDefiningOp());
  if (!op || access != OperandAccess::Element)
    return emitError(value.getLoc())
           << "expected an elementwise op or an operand of the kernel";
  for (OpOperand &operand : op->getOpOperands())
    if (failed(collect(operand.get(),
                       op.getOperandAccess(operand.getOperandNumber()), leaf)))
      return failure();
  return success();
}

Value ElementTree::emit(ElementContext &context, Value value,
                        OperandAccess access) {
  if (access == OperandAccess::None)
    return nullptr;
  Key key(value, static_cast<unsigned>(access));
  if (Value argument = arguments.lookup(key))
    return argument;
  if (Value known = emitted.lookup(value))
    return known;
  auto op = cast<ElementEmitterInterface>(value.getDefiningOp());
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(emit(context, operand.get(),
                            op.getOperandAccess(operand.getOperandNumber())));
  return emitted[value] = op.emitElement(context, operands);
}

FailureOr<SmallVector<Value>> KernelEmitter::evaluate(ArrayRef<Value> roots,
                                                      tile::FragType type,
                                                      Leaf leaf, Value bound) {
  constexpr auto element = static_cast<unsigned>(OperandAccess::Element);
  ElementTree tree;
  for (Value root : roots)
    if (failed(tree.collect(root, OperandAccess::Element, leaf)))
      return failure();
  SmallVector<Value> computed;
  for (Value root : roots)
    if (!tree.leaves.contains({root, element}))
      computed.push_back(root);
  tile::MapOp map;
  if (!computed.empty()) {
    SmallVector<Value> tiles = llvm::map_to_vector(
        tree.leaves, [](auto &entry) { return entry.second; });
    map = createMap(*this, SmallVector<Type>(computed.size(), type), tiles,
                    bound, [&](ElementContext &context, ValueRange elements) {
                      for (auto [entry, argument] :
                           llvm::zip_equal(tree.leaves, elements))
                        tree.arguments[entry.first] = argument;
                      return llvm::map_to_vector(computed, [&](Value root) {
                        return tree.emit(context, root, OperandAccess::Element);
                      });
                    });
  }
  SmallVector<Value> results;
  unsigned next = 0;
  for (Value root : roots) {
    auto *it = tree.leaves.find({root, element});
    results.push_back(it != tree.leaves.end() ? it->second
                                              : map.getResult(next++));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Values of the group
//===----------------------------------------------------------------------===//

/// The value with the same bytes as `tensor`, seen through ops that change the
/// shape alone.
static Value stripReshapes(Value tensor) {
  while (true) {
    if (auto merge = tensor.getDefiningOp<MergeHeadsOp>())
      tensor = merge.getInput();
    else if (auto split = tensor.getDefiningOp<SplitHeadsOp>();
             split && split.getNumResults() == 1)
      tensor = split.getInput();
    else
      return tensor;
  }
}

FailureOr<Slice> KernelEmitter::getSlice(Value tensor, const TileRegion &region,
                                         OperandAccess access, bool isOutput) {
  RankedTensorType type = typeOf(tensor);
  if (access == OperandAccess::PerColumn)
    return Slice{getInput(tensor), {region.col}, {0}};
  if (access == OperandAccess::PerRow) {
    Slice slice{getInput(tensor), {region.row}, {0}};
    if (type.getRank() == 2)
      slice.indices.push_back(index(0));
    return slice;
  }
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Value> indices{region.row, region.col};
  SmallVector<int64_t> dims{0, type.getRank() - 1};
  if (type.getRank() == 3)
    indices = {region.row, region.head, region.col};
  if (isOutput)
    return Slice{getOutputView(tensor, {}), indices, dims};
  Value base = stripReshapes(tensor);
  if (auto split = base.getDefiningOp<SplitHeadsOp>();
      split && split == tensor.getDefiningOp()) {
    int64_t number = cast<OpResult>(tensor).getResultNumber();
    shape.insert(shape.begin() + 2, split.getNumResults());
    indices = {region.row, region.head, index(number), region.col};
    dims = {0, 3};
    base = stripReshapes(split.getInput());
  }
  if (!isa<BlockArgument>(base))
    return emitError(tensor.getLoc())
           << "expected an operand of the kernel or a reshape of one";
  return Slice{getInput(base, shape), indices, dims};
}

LogicalResult KernelEmitter::finish(const TileRegion &region,
                                    const KnownTiles &known) {
  SmallVector<Value> roots;
  for (Value value : source.getBody().front().getTerminator()->getOperands())
    if (!inplace.contains(value) && !stored.contains(value) &&
        !llvm::is_contained(roots, value))
      roots.push_back(value);
  bool failedLeaf = false;
  auto leaf = [&](Value tensor, OperandAccess access) -> Value {
    if (access == OperandAccess::Element)
      if (auto *it = known.find(tensor); it != known.end())
        return it->second;
    bool isReshape =
        isa_and_nonnull<MergeHeadsOp, SplitHeadsOp>(tensor.getDefiningOp());
    if (!isa<BlockArgument>(tensor) && !isReshape)
      return nullptr;
    FailureOr<Slice> slice = getSlice(tensor, region, access);
    if (failed(slice)) {
      failedLeaf = true;
      return nullptr;
    }
    if (access == OperandAccess::PerRow)
      return loadFrag(*slice, region.rows, 0, region.bound);
    if (access == OperandAccess::PerColumn)
      return loadFrag(*slice, region.cols, 1);
    return loadFrag(*slice, {region.rows, region.cols}, -1, region.bound);
  };
  FailureOr<SmallVector<Value>> tiles =
      evaluate(roots, frag({region.rows, region.cols}), leaf, region.bound);
  if (failed(tiles) || failedLeaf)
    return failure();
  for (auto [root, tile] : llvm::zip_equal(roots, *tiles))
    store(tile, *getSlice(root, region, OperandAccess::Element, true),
          region.bound);
  return success();
}
