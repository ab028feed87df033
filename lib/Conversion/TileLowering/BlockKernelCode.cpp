//===- BlockKernelCode.cpp - Functions that blocks of a GPU run -----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockKernelCode.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::lowering;

/// Bytes of a tensor map, and what its address is a multiple of.
static constexpr int64_t tensorMapBytes = 128, tensorMapAlignment = 64;

static int64_t countViews(tile::KernelOp kernel) {
  return llvm::count_if(kernel.getParams(), [](Value param) {
    return isa<tile::ViewType>(param.getType());
  });
}

func::FuncOp BlockKernelCode::createFunction(const BlockNeeds &needs,
                                             unsigned numTensorMaps) {
  Type pointer = LLVM::LLVMPointerType::get(e.getContext());
  SmallVector<Type> inputs(numTensorMaps + countViews(kernel), pointer);
  inputs.append(kernel.getGrid().getNumSymbols(), e.getI64Type());
  inputs.push_back(pointer);
  e.setInsertionPoint(kernel);
  auto function = func::FuncOp::create(e, kernel.getSymName(),
                                       e.getFunctionType(inputs, {}));
  Type map = LLVM::LLVMArrayType::get(e.getI8Type(), tensorMapBytes);
  for (unsigned i = 0; i < numTensorMaps; ++i) {
    function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(map));
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        e.getI64IntegerAttr(tensorMapAlignment));
  }
  function->setAttr("mmx.kernel", e.getUnitAttr());
  function->setAttr("mmx.grid", kernel.getGridAttr());
  function->setAttr("mmx.threads", e.getI64IntegerAttr(needs.threads));
  function->setAttr("mmx.shared", e.getI64IntegerAttr(needs.shared));
  function->setAttr("mmx.scratch", e.getI64IntegerAttr(needs.scratch));
  if (StringAttr label = kernel.getLabelAttr())
    function->setAttr("mmx.label", label);
  e.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

LogicalResult BlockKernelCode::setUpCell(func::FuncOp function,
                                         unsigned numTensorMaps) {
  auto views = function.getArguments().drop_front(numTensorMaps);
  auto extents = views.drop_front(countViews(kernel));
  if (failed(setUpParameters([&](int64_t i) { return views[i]; },
                             [&](int64_t i) { return extents[i]; })))
    return failure();
  for (auto [number, id] : llvm::enumerate(kernel.getGridIds())) {
    // What is known of coordinates spares checks of bounds.
    IntegerAttr bound;
    if (auto cells =
            dyn_cast<AffineConstantExpr>(kernel.getGrid().getResult(number)))
      bound = e.getIndexAttr(cells.getValue());
    mapping.map(id, gpu::BlockIdOp::create(
                        e, static_cast<gpu::Dimension>(number), bound));
  }
  return success();
}
