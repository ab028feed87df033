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
    : KernelCode(kernel, builder, width), plan(kernel, {width}) {}

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
  Value buffers = function.getArgument(0), extents = function.getArgument(1);
  scratch = function.getArgument(5);
  if (failed(setUpParameters(
          [&](int64_t i) { return e.load(pointer, e.at(buffers, i, pointer)); },
          [&](int64_t i) { return e.load(i64, e.at(extents, i, i64)); })))
    return failure();
  for (auto [number, id] : llvm::enumerate(kernel.getGridIds()))
    mapping.map(id, e.toIndex(function.getArgument(2 + number)));
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  func::ReturnOp::create(e);
  return success();
}

LogicalResult KernelLowering::lowerTileOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::LoadOp op) { return lowerLoad(op); })
      .Case([&](tile::GatherOp op) { return lowerGather(op); })
      .Case([&](tile::StoreOp op) { return lowerStore(op); })
      .Case([&](tile::MmaOp op) { return lowerMma(op); })
      .Case([&](tile::MapOp op) { return lowerMap(op); })
      .Case([&](tile::ReduceOp op) { return lowerReduce(op); })
      .Case([&](tile::ScanOp op) { return lowerScan(op); })
      .Case<tile::ReadOp, tile::PutOp>(
          [&](Operation *op) { return shareOperandPlace(tiles, op); })
      .Default([&](Operation *op) -> LogicalResult {
        return op->emitOpError("expected an op that the cpu runs");
      });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void KernelLowering::startCarried(scf::ForOp loop, Value arg, Value init,
                                  Value result) {
  placeResult(arg).rows = getRowPlace(arg);
  placeResult(result).rows = getRowPlace(arg);
  moveTile(init, arg, countRows(arg, loop));
}

void KernelLowering::nextCarried(scf::ForOp loop, Value arg, Value value) {
  moveTile(value, arg, countRows(arg, loop.getBody()->getTerminator()));
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
