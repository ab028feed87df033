//===- EmulateBlock.cpp - Threads of a GPU as threads of this CPU ---------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulateBlock.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mmx;

/// Element `number` of an array.
static Value loadElement(OpBuilder &builder, Location loc, Value array,
                         Type type, int32_t number) {
  Value place = LLVM::GEPOp::create(builder, loc, array.getType(), type, array,
                                    ArrayRef<LLVM::GEPArg>{number});
  return LLVM::LoadOp::create(builder, loc, type, place);
}

/// The new arguments, before those that they replace.
static void replaceArguments(func::FuncOp function, OpBuilder &builder) {
  Block &body = function.getBody().front();
  Location loc = function.getLoc();
  unsigned count = body.getNumArguments();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  Type types[] = {pointer, pointer, i64,     i64,     i64,
                  pointer, i64,     pointer, pointer, pointer};
  for (auto [number, type] : llvm::enumerate(types))
    body.insertArgument(number, type, loc);
  unsigned first = std::size(types);
  int32_t buffers = 0, extents = 0;
  for (unsigned i = first; i + 1 < first + count; ++i) {
    BlockArgument argument = body.getArgument(i);
    bool isView = argument.getType() == pointer;
    argument.replaceAllUsesWith(
        loadElement(builder, loc, body.getArgument(isView ? 0 : 1),
                    argument.getType(), isView ? buffers++ : extents++));
  }
  body.getArguments().back().replaceAllUsesWith(body.getArgument(5));
  body.eraseArguments(first, count);
  function.setType(builder.getFunctionType(types, {}));
}

void mmx::emulateBlock(func::FuncOp function) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  replaceArguments(function, builder);
  Block &body = function.getBody().front();
  auto toIndex = [&](Operation *op, Value number) {
    OpBuilder local(op);
    op->replaceAllUsesWith(ValueRange(arith::IndexCastOp::create(
        local, op->getLoc(), local.getIndexType(), number)));
    op->erase();
  };
  function.walk([&](Operation *op) {
    if (isa<gpu::ThreadIdOp>(op)) {
      toIndex(op, body.getArgument(6));
    } else if (auto id = dyn_cast<gpu::BlockIdOp>(op)) {
      toIndex(op,
              body.getArgument(2 + static_cast<unsigned>(id.getDimension())));
    } else if (auto size = dyn_cast<gpu::GridDimOp>(op)) {
      OpBuilder local(op);
      toIndex(op, loadElement(local, op->getLoc(), body.getArgument(9),
                              local.getI64Type(),
                              static_cast<int32_t>(size.getDimension())));
    } else if (isa<gpu::BarrierOp>(op)) {
      OpBuilder local(op);
      auto type =
          LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(op->getContext()),
                                      {body.getArgument(8).getType()});
      LLVM::CallOp::create(
          local, op->getLoc(), type,
          ValueRange{body.getArgument(7), body.getArgument(8)});
      op->erase();
    } else if (isa<LLVM::AddrSpaceCastOp>(op)) {
      Operation *address = op->getOperand(0).getDefiningOp();
      op->replaceAllUsesWith(ValueRange(body.getArgument(5)));
      op->erase();
      address->erase();
    }
  });
  if (function->getAttrOfType<IntegerAttr>("mmx.scratch").getInt() == 0)
    function->setAttr("mmx.scratch", function->getAttr("mmx.shared"));
}
