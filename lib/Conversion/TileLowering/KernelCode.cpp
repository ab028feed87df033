//===- KernelCode.cpp - What every lowering of a kernel shares ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCode.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::lowering;

/// A carried fragment that becomes another one is copied first: all of them are
/// replaced at once.
static void copyYieldedArguments(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  OpBuilder builder(yield);
  for (auto [number, value] : llvm::enumerate(yield.getOperands())) {
    if (!isa<tile::FragType>(value.getType()) ||
        value.getParentBlock() != loop.getBody() || value.getDefiningOp() ||
        value == loop.getRegionIterArg(number))
      continue;
    auto copy = tile::MapOp::create(builder, yield.getLoc(), value.getType(),
                                    value, /*when=*/Value());
    Type index = builder.getIndexType();
    Block &body = copy.getBody().emplaceBlock();
    Location loc = yield.getLoc();
    Value element =
        body.addArgument(getTileShape(value.getType()).element, loc);
    body.addArguments({index, index}, {loc, loc});
    OpBuilder inner = OpBuilder::atBlockEnd(&body);
    tile::YieldOp::create(inner, loc, element);
    yield->setOperand(number, copy.getResult(0));
  }
}

void mmx::lowering::prepareKernel(tile::KernelOp kernel) {
  kernel.walk(copyYieldedArguments);
  hoistScalars(kernel);
}

KernelCode::KernelCode(tile::KernelOp kernel, OpBuilder &builder, int64_t width)
    : kernel(kernel), e(kernel.getLoc(), builder, width), demand(kernel) {}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

LogicalResult
KernelCode::setUpParameters(llvm::function_ref<Value(int64_t)> base,
                            llvm::function_ref<Value(int64_t)> extent) {
  int64_t nextBuffer = 0, nextExtent = 0;
  for (Value param : kernel.getParams())
    if (isa<tile::ViewType>(param.getType()))
      setUpView(param, base(nextBuffer++), extent, nextExtent);
  for (Value param : kernel.getParams()) {
    if (isa<tile::ViewType>(param.getType()))
      continue;
    if (!param.getType().isIndex())
      return kernel.emitOpError("expected views and index parameters, but got ")
             << param.getType();
    mapping.map(param, e.toIndex(extent(nextExtent++)));
  }
  return success();
}

void KernelCode::setUpView(Value param, Value base,
                           llvm::function_ref<Value(int64_t)> extent,
                           int64_t &nextExtent) {
  auto type = cast<tile::ViewType>(param.getType());
  View &view = views[param];
  view.base = base;
  view.element = type.getElementType();
  view.panel = type.getPanel();
  view.along = type.getAlong();
  view.constant = type.getMode() == tile::AccessMode::Read;
  for (int64_t size : type.getShape())
    view.extents.push_back(ShapedType::isDynamic(size) ? extent(nextExtent++)
                                                       : e.i64(size));
  view.strides.resize(type.getRank());
  Value stride = e.i64(view.panel ? view.panel : 1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    view.strides[dim] = stride;
    Value size = view.extents[dim];
    if (view.panel && dim == view.along)
      size = e.div(e.add(size, e.i64(view.panel - 1)), view.panel);
    stride = e.mul(stride, size);
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult KernelCode::lowerBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(lowerOp(&op)))
      return failure();
  return success();
}

LogicalResult KernelCode::lowerOp(Operation *op) {
  e.setLoc(op->getLoc());
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::DimOp op) { return lowerDim(op); })
      .Case([&](tile::TableOp op) { return lowerTable(op); })
      .Case([&](scf::ForOp op) { return lowerFor(op); })
      .Default([&](Operation *op) -> LogicalResult {
        if (isa<tile::TileDialect>(op->getDialect()))
          return lowerTileOp(op);
        if (!isMemoryEffectFree(op))
          return op->emitOpError(
              "expected a tile op, a loop or a pure scalar op in a kernel");
        e.clone(*op, mapping);
        return success();
      });
}

LogicalResult KernelCode::lowerDim(tile::DimOp op) {
  mapping.map(op.getResult(),
              e.toIndex(views.at(op.getView()).extents[op.getDim()]));
  return success();
}

LogicalResult KernelCode::lowerTable(tile::TableOp op) {
  const View &view = views.at(op.getView());
  SmallVector<Value> indices;
  for (Value index : op.getIndices())
    indices.push_back(e.toI64(lookup(index)));
  Value value = e.load(view.element, addressOf(view, indices));
  Type type = op.getType();
  if (type.isIndex())
    value = arith::IndexCastOp::create(e, type, value);
  else if (isa<FloatType>(type))
    value = e.convert(value, type);
  mapping.map(op.getResult(), value);
  return success();
}

// Fragments are carried in their places, scalars as values.
LogicalResult KernelCode::lowerFor(scf::ForOp loop) {
  SmallVector<Value> inits;
  for (auto [arg, init, result] : llvm::zip(
           loop.getRegionIterArgs(), loop.getInitArgs(), loop.getResults())) {
    if (isTile(arg.getType()))
      startCarried(loop, arg, init, result);
    else
      inits.push_back(lookup(init));
  }
  auto copy = scf::ForOp::create(e, lookup(loop.getLowerBound()),
                                 lookup(loop.getUpperBound()),
                                 lookup(loop.getStep()), inits);
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  unsigned number = 0;
  for (auto [arg, result] :
       llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
    if (!isTile(arg.getType())) {
      mapping.map(arg, copy.getRegionIterArg(number));
      mapping.map(result, copy.getResult(number++));
    }
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(copy.getBody());
    for (Value arg : loop.getRegionIterArgs())
      if (isTile(arg.getType()))
        finishCarried(arg);
    if (failed(lowerBlock(*loop.getBody())))
      return failure();
    SmallVector<Value> yielded;
    for (auto [arg, value] :
         llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues())) {
      if (!isTile(arg.getType()))
        yielded.push_back(lookup(value));
      else
        nextCarried(loop, arg, value);
    }
    if (!inits.empty())
      scf::YieldOp::create(e, yielded);
  }
  e.setLoc(loop.getLoc());
  for (Value result : loop.getResults())
    if (isTile(result.getType()))
      finishCarried(result);
  return success();
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value KernelCode::addressOf(const View &view, ArrayRef<Value> indices) {
  Value offset = e.i64(0);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (view.panel && static_cast<int64_t>(dim) == view.along) {
      offset =
          e.add(offset, e.mul(e.div(index, view.panel), view.strides[dim]));
      offset = e.add(offset, e.rem(index, view.panel));
    } else {
      offset = e.add(offset, e.mul(index, view.strides[dim]));
    }
  }
  return e.at(view.base, offset, view.element);
}

Value KernelCode::addressIn(const Window &window, Value row, Value col) {
  SmallVector<Value> indices = window.start;
  if (window.rowDim >= 0)
    indices[window.rowDim] = e.add(indices[window.rowDim], row);
  indices[window.colDim] = e.add(indices[window.colDim], col);
  return addressOf(*window.view, indices);
}

Value KernelCode::isInside(const View &view, int64_t dim, Value index) {
  return e.compare(arith::CmpIPredicate::ult, index, view.extents[dim]);
}

Value KernelCode::isInside(const Window &window, Value row, Value col) {
  const View &view = *window.view;
  Value inside =
      isInside(view, window.colDim, e.add(window.start[window.colDim], col));
  if (window.rowDim >= 0)
    inside = e.both(
        isInside(view, window.rowDim, e.add(window.start[window.rowDim], row)),
        inside);
  return e.both(window.inside, inside);
}

Window KernelCode::getWindow(Value view, ValueRange indices,
                             ArrayRef<int64_t> dims) {
  Window window;
  window.view = &views.at(view);
  for (Value index : indices)
    window.start.push_back(e.toI64(lookup(index)));
  window.colDim = dims.back();
  if (dims.size() == 2)
    window.rowDim = dims.front();
  window.inside = e.truth(true);
  for (int64_t dim = 0, rank = indices.size(); dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      window.inside =
          e.both(window.inside, isInside(*window.view, dim, window.start[dim]));
  return window;
}

Value KernelCode::countInside(const View &view, int64_t dim, Value start,
                              int64_t limit) {
  Value left = e.sub(view.extents[dim], start);
  return e.max(e.min(left, e.i64(limit)), e.i64(0));
}

// A row of a tile of rank 1 is the whole tile.
Value KernelCode::countRows(Value tile, Operation *at) {
  TileShape shape = getTileShape(tile.getType());
  Value all = e.i64(shape.rows);
  ArrayRef<RowBound> bounds = demand.getBounds(tile, at);
  if (shape.rank == 1 || bounds.empty())
    return all;
  Value most;
  for (const RowBound &bound : bounds) {
    Value rows = all;
    if (bound.rows)
      rows = e.max(e.min(rows, e.toI64(lookup(bound.rows))), e.i64(0));
    if (bound.view)
      rows = e.min(rows, countInside(views.at(bound.view), bound.dim,
                                     e.toI64(lookup(bound.start)), shape.rows));
    most = most ? e.max(most, rows) : rows;
  }
  return most;
}
