//===- KernelEmitter.cpp - Parameters, grid and assembly of a kernel ------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace mmx;
using tile::AccessMode;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

/// Bytes that the assembler may spill of a kernel with a schedule.
static constexpr int64_t mostSpilled = 64;

KernelEmitter::KernelEmitter(KernelOp source, int64_t panel, unsigned stage)
    : builder(source.getContext()), source(source), panel(panel), stage(stage) {
  block = &body.emplaceBlock();
  builder.setInsertionPointToStart(block);
}

TileSizesAttr KernelEmitter::getTiles(int64_t rows, int64_t cols,
                                      int64_t depth) {
  if (TileSizesAttr tiles = source.getTilesAttr())
    return tiles;
  return TileSizesAttr::get(source.getContext(), rows, cols, depth,
                            /*groups=*/0);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

BlockArgument KernelEmitter::addView(Type element, ArrayRef<int64_t> shape,
                                     AccessMode mode, int64_t panel,
                                     int64_t along) {
  auto type = tile::ViewType::get(source.getContext(), shape, element, mode,
                                  panel, along);
  return block->addArgument(type, getLoc());
}

Value KernelEmitter::getParam(Value tensor, ArrayRef<int64_t> shape,
                              AccessMode mode, int64_t panel, int64_t along) {
  for (Param &param : inputs)
    if (param.operand.tensor == tensor &&
        cast<tile::ViewType>(param.view.getType()).getShape() == shape)
      return param.view;
  BlockArgument view =
      addView(typeOf(tensor).getElementType(), shape, mode, panel, along);
  inputs.push_back({view, {tensor, {}}});
  return view;
}

Value KernelEmitter::getInput(Value tensor, ArrayRef<int64_t> shape,
                              AccessMode mode) {
  if (shape.empty())
    shape = typeOf(tensor).getShape();
  return getParam(tensor, shape, mode, 0, 0);
}

Value KernelEmitter::getWeight(Value tensor, int64_t along) {
  return getParam(tensor, typeOf(tensor).getShape(), AccessMode::Read, panel,
                  panel ? along : 0);
}

Value KernelEmitter::getCache(Value tensor, bool isKey, AccessMode mode) {
  return getParam(tensor, typeOf(tensor).getShape(), mode, isKey ? panel : 0,
                  0);
}

Value KernelEmitter::getInplace(Value operand, Value result, bool isKey) {
  Value view = getCache(operand, isKey, AccessMode::Inplace);
  for (auto [number, param] : llvm::enumerate(inputs))
    if (param.view == view)
      inplace[result] = number;
  return view;
}

Value KernelEmitter::getOutput(Value tensor, ArrayRef<int64_t> shape) {
  stored.insert(tensor);
  return getOutputView(tensor, shape);
}

Value KernelEmitter::getOutputView(Value tensor, ArrayRef<int64_t> shape) {
  BlockArgument &view = outputs[tensor];
  if (!view)
    view = addView(typeOf(tensor).getElementType(),
                   shape.empty() ? typeOf(tensor).getShape() : shape,
                   AccessMode::Write, 0, 0);
  return view;
}

Value KernelEmitter::getScratch(Type element, Value like) {
  BlockArgument view =
      addView(element, typeOf(like).getShape(), AccessMode::Write, 0, 0);
  scratch.emplace_back(view, like);
  return view;
}

Value KernelEmitter::getScratchInput(int64_t number, Type element, Value like) {
  for (Param &param : inputs)
    if (param.operand.scratch == number)
      return param.view;
  BlockArgument view =
      addView(element, typeOf(like).getShape(), AccessMode::Read, 0, 0);
  inputs.push_back({view, {Value(), {}, number}});
  return view;
}

Value KernelEmitter::getConstant(ElementsAttr value) {
  for (Param &param : inputs)
    if (param.operand.constant == value)
      return param.view;
  BlockArgument view =
      addView(value.getElementType(), value.getShapedType().getShape(),
              AccessMode::Read, 0, 0);
  inputs.push_back({view, {Value(), value}});
  return view;
}

//===----------------------------------------------------------------------===//
// Grid
//===----------------------------------------------------------------------===//

AffineExpr KernelEmitter::getAffine(int64_t value) {
  return getAffineConstantExpr(value, source.getContext());
}

/// Extents are numbered as they are asked for; `finishGrid` renumbers them.
AffineExpr KernelEmitter::getExtent(Value view, int64_t dim) {
  auto type = cast<tile::ViewType>(view.getType());
  if (!type.isDynamicDim(dim))
    return getAffine(type.getShape()[dim]);
  std::pair<Value, int64_t> key(view, dim);
  auto *it = llvm::find(extents, key);
  unsigned number = it - extents.begin();
  if (it == extents.end())
    extents.push_back(key);
  return getAffineSymbolExpr(number, source.getContext());
}

AffineExpr KernelEmitter::getRows(Value tensor) {
  return getExtent(getOutputView(tensor, {}), 0);
}

AffineExpr KernelEmitter::getResultRows() {
  return getRows(source.getBody().front().getTerminator()->getOperand(0));
}

SmallVector<Value> KernelEmitter::setGrid(ArrayRef<AffineExpr> sizes) {
  grid.assign(sizes.begin(), sizes.end());
  SmallVector<Value> ids;
  for (size_t i = 0; i < sizes.size(); ++i) {
    gridIds.push_back(block->addArgument(builder.getIndexType(), getLoc()));
    ids.push_back(gridIds.back());
  }
  return ids;
}

void KernelEmitter::setSchedule(tile::ScheduleAttr attribute,
                                ArrayRef<int64_t> clusterSize) {
  schedule = attribute;
  cluster.assign(clusterSize.begin(), clusterSize.end());
}

AffineMap KernelEmitter::finishGrid(ArrayRef<BlockArgument> views) {
  SmallVector<AffineExpr> numbers(extents.size());
  unsigned next = 0;
  for (BlockArgument view : views) {
    auto type = cast<tile::ViewType>(view.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!type.isDynamicDim(dim))
        continue;
      AffineExpr symbol = getAffineSymbolExpr(next++, source.getContext());
      for (auto [number, key] : llvm::enumerate(extents))
        if (key.first == view && key.second == dim)
          numbers[number] = symbol;
    }
  }
  SmallVector<AffineExpr> sizes;
  for (AffineExpr size : grid)
    sizes.push_back(size.replaceSymbols(numbers));
  return AffineMap::get(0, next, sizes, source.getContext());
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

unsigned KernelEmitter::getYieldIndex(Value tensor) {
  auto yielded = source.getBody().front().getTerminator()->getOperands();
  return llvm::find(yielded, tensor) - yielded.begin();
}

/// Puts the parameters into the order operands, results, scratch, coordinates.
FailureOr<EmittedKernel> KernelEmitter::assemble(OpBuilder &outer,
                                                 StringRef name) {
  EmittedKernel result;
  SmallVector<BlockArgument> order;
  for (Param &param : inputs) {
    order.push_back(param.view);
    LaunchOperand operand = param.operand;
    if (auto argument = dyn_cast_or_null<BlockArgument>(operand.tensor))
      operand.tensor = source.getInputs()[argument.getArgNumber()];
    result.operands.push_back(operand);
  }
  auto yielded = source.getBody().front().getTerminator()->getOperands();
  for (auto [number, tensor] : llvm::enumerate(yielded)) {
    auto *output = outputs.find(tensor);
    if (auto it = inplace.find(tensor); it != inplace.end()) {
      result.results.emplace_back(number, it->second);
    } else if (output != outputs.end()) {
      result.results.emplace_back(number, -1);
      order.push_back(output->second);
    }
  }
  for (auto [view, like] : scratch) {
    order.push_back(view);
    result.scratch.emplace_back(
        cast<tile::ViewType>(view.getType()).getElementType(),
        getYieldIndex(like));
  }
  AffineMap map = finishGrid(order);
  llvm::append_range(order, gridIds);

  result.kernel = tile::KernelOp::create(
      outer, getLoc(), outer.getStringAttr(name), AffineMapAttr::get(map),
      DenseI64ArrayAttr(), StringAttr());
  result.kernel.getBody().takeBody(body);
  if (schedule) {
    result.kernel.setScheduleAttr(schedule);
    if (!cluster.empty())
      result.kernel.setCluster(cluster);
    result.kernel->setAttr("mmx.spills", outer.getI64IntegerAttr(mostSpilled));
  }
  unsigned count = block->getNumArguments();
  for (BlockArgument argument : order) {
    BlockArgument moved = block->addArgument(argument.getType(), getLoc());
    argument.replaceAllUsesWith(moved);
  }
  block->eraseArguments(0, count);
  return result;
}

FailureOr<EmittedKernel> KernelEmitter::run(OpBuilder &outer, StringRef name) {
  Operation *anchor = nullptr;
  for (Operation &op : source.getBody().front())
    if (isa<CellEmitterInterface>(op))
      anchor = &op;
  LogicalResult emitted =
      anchor ? cast<CellEmitterInterface>(anchor).emitCell(*this)
             : emitElementwiseCell(*this);
  if (failed(emitted))
    return failure();
  return assemble(outer, name);
}
