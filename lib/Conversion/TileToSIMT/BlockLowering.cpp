//===- BlockLowering.cpp - One tile kernel for a block of threads ---------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::simt;

BlockLowering::BlockLowering(tile::KernelOp kernel, OpBuilder &builder,
                             const BlockLimits &limits)
    : BlockKernelCode(kernel, builder), limits(limits),
      plan(kernel, {.panels = false, .oddWords = true}) {}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Tiles in shared memory, or in the slice of this block.
void BlockLowering::setUpPlaces(func::FuncOp function, StringRef shared) {
  if (plan.getBytes() <= limits.shared) {
    auto space = LLVM::LLVMPointerType::get(e.getContext(), /*shared=*/3);
    Value base = LLVM::AddressOfOp::create(e, space, shared);
    scratch = LLVM::AddrSpaceCastOp::create(
        e, LLVM::LLVMPointerType::get(e.getContext()), base);
    return;
  }
  Value block = e.i64(0);
  for (gpu::Dimension dim :
       {gpu::Dimension::z, gpu::Dimension::y, gpu::Dimension::x}) {
    Value size = e.toI64(gpu::GridDimOp::create(e, dim));
    Value id = e.toI64(gpu::BlockIdOp::create(e, dim));
    block = e.add(e.mul(block, size), id);
  }
  scratch = e.at(function.getArguments().back(),
                 e.mul(block, e.i64(plan.getBytes())), e.getI8Type());
}

LogicalResult BlockLowering::run(StringRef shared) {
  bool fits = plan.getBytes() <= limits.shared;
  func::FuncOp function = createFunction(
      {limits.threads, fits ? plan.getBytes() : 0, fits ? 0 : plan.getBytes()});
  thread = e.toI64(gpu::ThreadIdOp::create(e, gpu::Dimension::x));
  setUpPlaces(function, shared);
  if (failed(setUpCell(function)) ||
      failed(lowerBlock(kernel.getBody().front())))
    return failure();
  func::ReturnOp::create(e);
  return success();
}

LogicalResult BlockLowering::lowerTileOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::LoadOp op) { return lowerLoad(op), success(); })
      .Case([&](tile::GatherOp op) { return lowerGather(op), success(); })
      .Case([&](tile::StoreOp op) { return lowerStore(op), success(); })
      .Case([&](tile::MmaOp op) { return lowerMma(op), success(); })
      .Case([&](tile::MapOp op) { return lowerMap(op), success(); })
      .Case([&](tile::ReduceOp op) { return lowerReduce(op), success(); })
      .Case([&](tile::ScanOp op) { return lowerScan(op), success(); })
      .Case<tile::ReadOp, tile::PutOp>(
          [&](Operation *op) { return shareOperandPlace(tiles, op); })
      .Default([&](Operation *op) -> LogicalResult {
        return op->emitOpError("expected an op that threads run");
      });
}

//===----------------------------------------------------------------------===//
// Carried fragments
//===----------------------------------------------------------------------===//

void BlockLowering::startCarried(scf::ForOp loop, Value arg, Value init,
                                 Value result) {
  placeResult(arg);
  TilePlace place = tiles.at(arg);
  tiles[result] = place;
  moveTile(init, arg, countRows(arg, loop));
}

void BlockLowering::nextCarried(scf::ForOp loop, Value arg, Value value) {
  moveTile(value, arg, countRows(arg, loop.getBody()->getTerminator()));
}

//===----------------------------------------------------------------------===//
// Threads and places
//===----------------------------------------------------------------------===//

void BlockLowering::forElements(Value rows, int64_t cols, ElementBody body) {
  Value count = e.mul(rows, e.i64(cols));
  e.forEach(thread, count, limits.threads, [&](Value i) {
    body(cols == 1 ? i : e.div(i, cols), cols == 1 ? e.i64(0) : e.rem(i, cols));
  });
}

void BlockLowering::barrier() { gpu::BarrierOp::create(e); }

Value BlockLowering::getScratch(int64_t offset) {
  return e.at(scratch, offset, e.getI8Type());
}

BlockLowering::TilePlace &BlockLowering::placeResult(Value tile) {
  TilePlace &place = tiles[tile];
  place.shape = getTileShape(tile.getType());
  place.pointer = getScratch(plan.getRowsOffset(tile));
  place.stride = e.i64(plan.getRowStride(tile));
  return place;
}

Value BlockLowering::elementAt(const TilePlace &place, Value row, Value col) {
  Value offset = e.add(e.mul(row, place.stride), col);
  return e.at(place.pointer, offset, place.shape.element);
}

Value BlockLowering::loadElement(const TilePlace &place, Value row, Value col) {
  return e.load(place.shape.element, elementAt(place, row, col));
}

void BlockLowering::moveTile(Value source, Value target, Value rows) {
  if (plan.sharePlace(source, target))
    return;
  TilePlace from = tiles.at(source), to = tiles.at(target);
  forElements(rows, from.shape.cols, [&](Value row, Value col) {
    e.store(loadElement(from, row, col), elementAt(to, row, col));
  });
  barrier();
}
