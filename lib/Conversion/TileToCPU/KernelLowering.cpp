//===- KernelLowering.cpp - One tile kernel to vector code ----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::cpu;

KernelLowering::KernelLowering(tile::KernelOp kernel, OpBuilder &builder,
                               int64_t width)
    : kernel(kernel), e(kernel.getLoc(), builder, width), plan(kernel, width),
      demand(kernel) {}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::run() {
  Type pointer = LLVM::LLVMPointerType::get(e.getContext());
  Type i64 = e.getI64Type();
  auto type = e.getFunctionType({pointer, pointer, i64, i64, i64, pointer}, {});
  e.setInsertionPoint(kernel);
  auto function = func::FuncOp::create(e, kernel.getSymName(), type);
  function->setAttr("mmx.kernel", e.getUnitAttr());
  function->setAttr("mmx.grid", kernel.getGridAttr());
  function->setAttr("mmx.scratch", e.getI64IntegerAttr(plan.getBytes()));
  if (StringAttr label = kernel.getLabelAttr())
    function->setAttr("mmx.label", label);
  e.setInsertionPointToStart(function.addEntryBlock());
  if (failed(setUpParameters(function)) ||
      failed(lowerBlock(kernel.getBody().front())))
    return failure();
  func::ReturnOp::create(e);
  return success();
}

LogicalResult KernelLowering::setUpParameters(func::FuncOp function) {
  Value buffers = function.getArgument(0), extents = function.getArgument(1);
  scratch = function.getArgument(5);
  int64_t nextBuffer = 0, nextExtent = 0;
  // Extents of all views come first, then the index parameters.
  for (Value param : kernel.getParams())
    if (isa<tile::ViewType>(param.getType()))
      setUpView(param, buffers, extents, nextBuffer++, nextExtent);
  for (Value param : kernel.getParams()) {
    if (isa<tile::ViewType>(param.getType()))
      continue;
    if (!param.getType().isIndex())
      return kernel.emitOpError("expected views and index parameters, but got ")
             << param.getType();
    Value value =
        e.load(e.getI64Type(), e.at(extents, nextExtent++, e.getI64Type()));
    mapping.map(param, e.toIndex(value));
  }
  for (auto [number, id] : llvm::enumerate(kernel.getGridIds()))
    mapping.map(id, e.toIndex(function.getArgument(2 + number)));
  return success();
}

void KernelLowering::setUpView(Value param, Value buffers, Value extents,
                               int64_t index, int64_t &nextExtent) {
  auto type = cast<tile::ViewType>(param.getType());
  View &view = views[param];
  view.base =
      e.load(buffers.getType(), e.at(buffers, index, buffers.getType()));
  view.element = type.getElementType();
  view.panel = type.getPanel();
  view.along = type.getAlong();
  view.constant = type.getMode() == tile::AccessMode::Read;
  for (int64_t extent : type.getShape())
    view.extents.push_back(
        ShapedType::isDynamic(extent)
            ? e.load(e.getI64Type(),
                     e.at(extents, nextExtent++, e.getI64Type()))
            : e.i64(extent));
  view.strides.resize(type.getRank());
  Value stride = e.i64(view.panel ? view.panel : 1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    view.strides[dim] = stride;
    Value extent = view.extents[dim];
    if (view.panel && dim == view.along)
      extent = e.div(e.add(extent, e.i64(view.panel - 1)), view.panel);
    stride = e.mul(stride, extent);
  }
}

LogicalResult KernelLowering::lowerBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(lowerOp(&op)))
      return failure();
  return success();
}

LogicalResult KernelLowering::lowerOp(Operation *op) {
  e.setLoc(op->getLoc());
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::DimOp op) { return lowerDim(op); })
      .Case([&](tile::TableOp op) { return lowerTable(op); })
      .Case([&](tile::LoadOp op) { return lowerLoad(op); })
      .Case([&](tile::GatherOp op) { return lowerGather(op); })
      .Case([&](tile::StoreOp op) { return lowerStore(op); })
      .Case([&](tile::MmaOp op) { return lowerMma(op); })
      .Case([&](tile::MapOp op) { return lowerMap(op); })
      .Case([&](tile::ReduceOp op) { return lowerReduce(op); })
      .Case([&](tile::ScanOp op) { return lowerScan(op); })
      .Case([&](scf::ForOp op) { return lowerFor(op); })
      .Case<tile::ReadOp, tile::PutOp>([&](Operation *op) {
        TilePlace place = tiles.at(op->getOperand(0));
        place.shape = getTileShape(op->getResult(0).getType());
        tiles[op->getResult(0)] = place;
        return success();
      })
      .Default([&](Operation *op) -> LogicalResult {
        if (!isMemoryEffectFree(op))
          return op->emitOpError("expected a tile op, a loop or a pure scalar "
                                 "op in a kernel for the cpu");
        e.clone(*op, mapping);
        return success();
      });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

// Fragments are carried in their places, scalars as values.
LogicalResult KernelLowering::lowerFor(scf::ForOp loop) {
  SmallVector<Value> inits;
  for (auto [arg, init, result] : llvm::zip(
           loop.getRegionIterArgs(), loop.getInitArgs(), loop.getResults())) {
    if (!isTile(arg.getType())) {
      inits.push_back(lookup(init));
      continue;
    }
    placeResult(arg).rows = getRowPlace(arg);
    placeResult(result).rows = getRowPlace(arg);
    moveTile(init, arg, countRows(arg, loop));
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
        completeForms(arg);
    if (failed(lowerBlock(*loop.getBody())))
      return failure();
    SmallVector<Value> yielded;
    for (auto [arg, value] :
         llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues())) {
      if (!isTile(arg.getType()))
        yielded.push_back(lookup(value));
      else
        moveTile(value, arg, countRows(arg, loop.getBody()->getTerminator()));
    }
    if (!inits.empty())
      scf::YieldOp::create(e, yielded);
  }
  e.setLoc(loop.getLoc());
  for (Value result : loop.getResults())
    if (isTile(result.getType()))
      completeForms(result);
  return success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value KernelLowering::getScratch(int64_t offset) {
  return e.at(scratch, offset, e.getI8Type());
}

RowForm KernelLowering::getRowPlace(Value tile) {
  TileShape shape = getTileShape(tile.getType());
  return {getScratch(plan.getRowsOffset(tile)),
          e.i64(e.padToWidth(shape.cols))};
}

PanelForm KernelLowering::getPanelPlace(Value tile) {
  TileShape shape = getTileShape(tile.getType());
  return {getScratch(plan.getPanelsOffset(tile)),
          e.i64(e.padToWidth(shape.cols) * panelRows), e.i64(panelRows)};
}

TilePlace &KernelLowering::placeResult(Value tile) {
  TilePlace &place = tiles[tile];
  place.shape = getTileShape(tile.getType());
  if (plan.needsRows(tile))
    place.rows = getRowPlace(tile);
  return place;
}

Value KernelLowering::elementAt(const TilePlace &place, Value row, Value col) {
  Value offset = e.add(e.mul(row, place.rows->stride), col);
  return e.at(place.rows->pointer, offset, place.shape.element);
}

void KernelLowering::moveTile(Value source, Value target, Value rows) {
  TilePlace from = tiles.at(source), to = tiles.at(target);
  if (plan.sharePlace(source, target) && !from.mayBeView)
    return;
  e.forEach(e.i64(0), rows, 1, [&](Value row) {
    e.forEach(e.i64(0), e.i64(from.shape.cols), e.width, [&](Value col) {
      Value value = e.loadVector(from.shape.element, elementAt(from, row, col));
      e.store(value, elementAt(to, row, col));
    });
  });
}

Value KernelLowering::countInside(const View &view, int64_t dim, Value start,
                                  int64_t limit) {
  Value left = e.sub(view.extents[dim], start);
  return e.max(e.min(left, e.i64(limit)), e.i64(0));
}

// A row of a tile of rank 1 is the whole tile.
Value KernelLowering::countRows(Value tile, Operation *at) {
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
