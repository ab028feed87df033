//===- MMXInterpreter.cpp - Runs mmx modules in double precision ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/MMXInterpreter.h"

#include "MMXInterpreterOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::reference;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// The part of a checkpoint tensor that `source` names.
static llvm::Expected<Tensor> selectSource(GlobalOp global, SourceAttr source,
                                           Tensor tensor) {
  auto fail = [&](const Twine &message) {
    return makeError(global, "source \"" + source.getName() + "\": " + message);
  };
  if (!tensor.isFloat())
    return fail("expected floats, but got integers");
  if (int64_t index = source.getIndex(); index >= 0) {
    if (tensor.getRank() < 2 || index >= tensor.getDim(0))
      return fail("expected more than " + Twine(index) +
                  " elements in the leading dimension");
    tensor = tensor.rows(index, 1);
    tensor = tensor.reshape(tensor.getShape().drop_front());
  }
  if (int64_t count = source.getRows(); count > 0) {
    if (tensor.getRank() < 1 || source.getFirst() + count > tensor.getDim(0))
      return fail("expected at least " + Twine(source.getFirst() + count) +
                  " rows");
    tensor = tensor.rows(source.getFirst(), count);
  }
  return tensor;
}

llvm::Expected<Tensor>
mmx::reference::assembleWeight(GlobalOp global,
                               const CheckpointProvider &checkpoint) {
  auto type = cast<RankedTensorType>(global.getType());
  auto sources = global.getSources().getAsRange<SourceAttr>();
  bool stacked = global.getSources().size() > 1;
  ArrayRef<int64_t> partShape = type.getShape().drop_front(stacked ? 1 : 0);
  std::vector<double> elements;
  elements.reserve(type.getNumElements());
  for (SourceAttr source : sources) {
    llvm::Expected<Tensor> tensor = checkpoint(source.getName());
    if (!tensor)
      return tensor.takeError();
    llvm::Expected<Tensor> part =
        selectSource(global, source, std::move(*tensor));
    if (!part)
      return part.takeError();
    if (part->getShape() != partShape)
      return makeError(global, "source \"" + source.getName() +
                                   "\" has another shape than the weight");
    llvm::append_range(elements, part->getFloats());
  }
  return Tensor::floats(type.getShape(), std::move(elements));
}

llvm::Expected<Tensor> Interpreter::getWeight(WeightOp op) {
  auto global =
      symbols.lookupNearestSymbolFrom<GlobalOp>(op, op.getGlobalAttr());
  Tensor &weight = weights[global];
  if (weight)
    return weight;
  if (!options.weights)
    return makeError(op, "no weights were given");
  llvm::Expected<Tensor> value = options.weights(global);
  if (!value)
    return value.takeError();
  if (!value->matches(cast<RankedTensorType>(global.getType())))
    return makeError(op, "the value given for the weight has another type");
  return weight = std::move(*value);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Result Interpreter::runModelOp(Operation &op, Values &operands) {
  return TypeSwitch<Operation *, Result>(&op)
      .Case<EmbeddingOp, TakeRowsOp, LinearOp, RMSNormOp, SumSquaresOp,
            NormalizeOp, SiluOp, GateOp, SwigluOp, ResidualOp, MixOp, AddOp,
            ConvertOp, SplitHeadsOp, MergeHeadsOp, LightningAttentionOp,
            LightningStepOp, RopeTableOp, RopeOp, SoftmaxAttentionOp,
            CacheAppendOp, AttendOp, RouteOp, ExpertsOp, GroupTokensOp,
            ExpertsUpOp, ExpertsDownOp, CombineOp>(
          [&](auto typed) { return evaluate(typed, operands); })
      .Default([&](Operation *) { return runBlockOp(op, operands); });
}

Result Interpreter::runBlockOp(Operation &op, Values &operands) {
  return TypeSwitch<Operation *, Result>(&op)
      .Case<BlockScoresOp, DecayMaskOp, BlockValuesOp, BlockReadoutOp,
            QueryDecayOp, KeyDecayOp, BlockOuterOp, BlockDecayOp,
            SegmentTableOp, ZeroStatesOp, ScanStatesOp>(
          [&](auto typed) { return evaluate(typed, operands); })
      .Default([](Operation *op) -> Result {
        return makeError(op, "cannot be run by the mmx interpreter");
      });
}

Result Interpreter::dispatch(Operation &op, Values operands) {
  if (auto weight = dyn_cast<WeightOp>(op)) {
    llvm::Expected<Tensor> value = getWeight(weight);
    if (!value)
      return value.takeError();
    return Values{*value};
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements)
      return makeError(&op, "expected a dense constant");
    llvm::Expected<Tensor> value = Tensor::fromAttribute(elements);
    if (!value)
      return makeError(&op, llvm::toString(value.takeError()));
    return Values{*value};
  }
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    return run(callee, std::move(operands));
  }
  if (auto kernel = dyn_cast<KernelOp>(op))
    return runBlock(kernel.getBody().front(), std::move(operands));
  if (auto loop = dyn_cast<ForBlocksOp>(op))
    return runForBlocks(loop, operands);
  return runModelOp(op, operands);
}

Result Interpreter::runOp(Operation &op, Values operands) {
  Result results = dispatch(op, std::move(operands));
  if (!results)
    return results;
  for (auto [result, value] : llvm::zip_equal(op.getResults(), *results)) {
    auto type = cast<RankedTensorType>(result.getType());
    if (!value.matches(type))
      return makeError(&op, "the value of result " +
                                Twine(result.getResultNumber()) +
                                " does not have the type of the result");
    if (options.roundResults)
      value.roundTo(type.getElementType());
  }
  return results;
}

Result Interpreter::runBlock(Block &block, Values arguments) {
  llvm::DenseMap<Value, Tensor> values;
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = std::move(value);
  // A value with one use is given away, so that a pool is updated in place.
  auto takeOperands = [&](Operation &op) {
    Values operands;
    for (Value operand : op.getOperands()) {
      Tensor &value = values.find(operand)->second;
      operands.push_back(operand.hasOneUse() ? std::move(value) : value);
    }
    return operands;
  };
  arguments.clear();
  for (Operation &op : block.without_terminator()) {
    Result results = runOp(op, takeOperands(op));
    if (!results)
      return results.takeError();
    for (auto [result, value] : llvm::zip_equal(op.getResults(), *results))
      if (!result.use_empty())
        values[result] = std::move(value);
  }
  return takeOperands(*block.getTerminator());
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Interpreter::Interpreter(ModuleOp module, InterpreterOptions options)
    : module(module), options(std::move(options)) {}

Result Interpreter::run(func::FuncOp function, Values arguments) {
  if (function.isExternal())
    return makeError(function, "has no body");
  if (!llvm::hasSingleElement(function.getBody()))
    return makeError(function, "expected a body of one block");
  if (arguments.size() != function.getNumArguments())
    return makeError(function, "expected " + Twine(function.getNumArguments()) +
                                   " arguments, but got " +
                                   Twine(arguments.size()));
  for (auto [index, value, type] :
       llvm::enumerate(arguments, function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !value || !value.matches(tensor))
      return makeError(function, "argument " + Twine(index) +
                                     " does not have the type of the function");
  }
  constexpr unsigned deepest = 100;
  if (depth == deepest)
    return makeError(function, "calls are nested too deep");
  ++depth;
  Result results = runBlock(function.getBody().front(), std::move(arguments));
  --depth;
  return results;
}

Result Interpreter::run(StringRef function, Values arguments) {
  auto op = module.lookupSymbol<func::FuncOp>(function);
  if (!op)
    return llvm::createStringError("the module has no function @" + function);
  return run(op, std::move(arguments));
}
