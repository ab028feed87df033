//===- LaunchInterpreter.cpp - Runs functions of launches -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/LaunchInterpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::reference;
using tile::HostArray;

namespace {
/// The state of one run.
class LaunchRunner {
public:
  LaunchRunner(func::FuncOp function, const WeightProvider &weights,
               const tile::TileInterpreterOptions &options)
      : function(function), weights(weights), options(options) {
    for (unsigned symbol = 0; symbol < numStepSymbols; ++symbol)
      step.push_back(getAffineSymbolExpr(symbol, function.getContext()));
  }

  llvm::Expected<SmallVector<Tensor>> run(SmallVector<Tensor> arguments);

private:
  void bindSymbols(ArrayRef<Tensor> arguments);
  llvm::Error runOp(Operation &op);
  llvm::Error runLaunch(LaunchOp launch);
  llvm::Expected<SmallVector<int64_t>> getResultShape(LaunchOp launch,
                                                      unsigned result);

  func::FuncOp function;
  const WeightProvider &weights;
  const tile::TileInterpreterOptions &options;
  SymbolTableCollection symbols;
  /// The symbols of the step, as constants once they are known.
  SmallVector<AffineExpr> step;
  llvm::DenseMap<Value, Tensor> values;
};
} // namespace

/// Arguments of a shape like (s0, 64) name the symbols.
void LaunchRunner::bindSymbols(ArrayRef<Tensor> arguments) {
  for (auto [number, tensor] : llvm::enumerate(arguments)) {
    auto shape = function.getArgAttrOfType<AffineMapAttr>(number, "mmx.shape");
    if (!shape)
      continue;
    for (auto [expr, extent] :
         llvm::zip_equal(shape.getValue().getResults(), tensor.getShape()))
      if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
        step[symbol.getPosition()] =
            getAffineConstantExpr(extent, function.getContext());
  }
}

llvm::Expected<SmallVector<int64_t>>
LaunchRunner::getResultShape(LaunchOp launch, unsigned result) {
  auto map = cast<AffineMapAttr>(launch.getShapes()[result]).getValue();
  SmallVector<int64_t> shape;
  for (AffineExpr expr : map.getResults()) {
    auto value = dyn_cast<AffineConstantExpr>(expr.replaceSymbols(step));
    if (!value)
      return llvm::createStringError(
          "expected arguments whose mmx.shape names the symbols of a step");
    shape.push_back(value.getValue());
  }
  return shape;
}

/// The extents of a view over an array of shape `shape`: the same bytes.
static llvm::Expected<SmallVector<int64_t>>
getViewShape(tile::ViewType view, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> extents(view.getShape());
  if (view.getNumDynamicDims() != 1) {
    if (extents.size() != shape.size())
      return llvm::createStringError("cannot see this shape as that view");
    return SmallVector<int64_t>(shape);
  }
  int64_t known = 1;
  for (int64_t extent : extents)
    known *= ShapedType::isDynamic(extent) ? 1 : extent;
  int64_t count = countElements(shape);
  if (count % known)
    return llvm::createStringError("expected elements for whole rows");
  for (int64_t &extent : extents)
    if (ShapedType::isDynamic(extent))
      extent = count / known;
  return extents;
}

/// Calls `visit` with every position of `shape` in row-major order.
static void forEachPosition(ArrayRef<int64_t> shape,
                            llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  if (countElements(shape) == 0)
    return;
  SmallVector<int64_t> position(shape.size(), 0);
  while (true) {
    visit(position);
    int64_t dim = shape.size() - 1;
    while (dim >= 0 && ++position[dim] == shape[dim])
      position[dim--] = 0;
    if (dim < 0)
      return;
  }
}

static void fillArray(HostArray &array, const Tensor &tensor) {
  int64_t next = 0;
  forEachPosition(array.getShape(), [&](ArrayRef<int64_t> position) {
    tile::Cell cell;
    int64_t offset = array.getOffset(position);
    if (tensor.isFloat()) {
      cell.d = tensor.getFloats()[next++];
      array.store(offset, cell, tile::ElementKind::F64);
    } else {
      cell.i = tensor.getInts()[next++];
      array.store(offset, cell, tile::ElementKind::I32);
    }
  });
}

static Tensor readArray(const HostArray &array, ArrayRef<int64_t> shape) {
  bool isFloat = tile::isFloatKind(array.getKind());
  std::vector<double> doubles;
  std::vector<int32_t> ints;
  forEachPosition(array.getShape(), [&](ArrayRef<int64_t> position) {
    tile::Cell cell = array.load(array.getOffset(position));
    if (isFloat)
      doubles.push_back(cell.f);
    else
      ints.push_back(static_cast<int32_t>(cell.i));
  });
  return isFloat ? Tensor::floats(shape, std::move(doubles))
                 : Tensor::ints(shape, std::move(ints));
}

llvm::Error LaunchRunner::runLaunch(LaunchOp launch) {
  auto kernel = symbols.lookupNearestSymbolFrom<tile::KernelOp>(
      launch, launch.getKernelAttr());
  if (!kernel)
    return llvm::createStringError("expected a tile.kernel");
  // Operands, then results that are not in place; `shapes` of the tensors.
  SmallVector<SmallVector<int64_t>> shapes;
  SmallVector<const Tensor *> contents;
  for (Value input : launch.getInputs()) {
    contents.push_back(&values[input]);
    shapes.emplace_back(contents.back()->getShape());
  }
  for (auto [result, operand] : llvm::enumerate(launch.getInplace())) {
    if (operand >= 0)
      continue;
    auto shape = getResultShape(launch, result);
    if (!shape)
      return shape.takeError();
    contents.push_back(nullptr);
    shapes.push_back(*shape);
  }
  if (contents.size() != kernel.getParams().size())
    return llvm::createStringError("expected as many buffers as parameters");
  std::vector<HostArray> arrays;
  arrays.reserve(contents.size());
  SmallVector<tile::KernelArgument> arguments;
  for (auto [param, tensor, shape] :
       llvm::zip_equal(kernel.getParams(), contents, shapes)) {
    auto view = cast<tile::ViewType>(param.getType());
    auto extents = getViewShape(view, shape);
    if (!extents)
      return extents.takeError();
    HostArray &array = arrays.emplace_back(
        *extents, *tile::getElementKind(view.getElementType()), view.getPanel(),
        view.getAlong());
    if (tensor)
      fillArray(array, *tensor);
    else
      array.fillBytes(0xff);
    arguments.push_back({&array});
  }
  if (failed(tile::interpretKernel(kernel, arguments, options)))
    return llvm::createStringError("kernel @" + kernel.getSymName() +
                                   " failed");
  unsigned next = launch.getInputs().size();
  for (auto [result, operand] :
       llvm::zip_equal(launch.getOutputs(), launch.getInplace())) {
    unsigned number = operand >= 0 ? operand : next++;
    values[result] = readArray(arrays[number], shapes[number]);
  }
  return llvm::Error::success();
}

llvm::Error LaunchRunner::runOp(Operation &op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return runLaunch(launch);
  if (auto weight = dyn_cast<WeightOp>(op)) {
    auto global = symbols.lookupNearestSymbolFrom<GlobalOp>(
        weight, weight.getGlobalAttr());
    auto tensor = weights(global);
    if (!tensor)
      return tensor.takeError();
    values[weight.getResult()] = std::move(*tensor);
    return llvm::Error::success();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue())) {
      auto tensor = Tensor::fromAttribute(elements);
      if (!tensor)
        return tensor.takeError();
      values[constant.getResult()] = std::move(*tensor);
      return llvm::Error::success();
    }
  return llvm::createStringError("expected a launch, a weight or a constant, "
                                 "but got " +
                                 op.getName().getStringRef());
}

llvm::Expected<SmallVector<Tensor>>
LaunchRunner::run(SmallVector<Tensor> arguments) {
  bindSymbols(arguments);
  for (auto [argument, tensor] :
       llvm::zip_equal(function.getArguments(), arguments))
    values[argument] = tensor;
  for (Operation &op : function.getBody().front().without_terminator())
    if (llvm::Error error = runOp(op))
      return std::move(error);
  SmallVector<Tensor> results;
  for (Value value : function.getBody().front().getTerminator()->getOperands())
    results.push_back(values[value]);
  return results;
}

llvm::Expected<SmallVector<Tensor>>
mmx::reference::interpretLaunches(func::FuncOp function,
                                  SmallVector<Tensor> arguments,
                                  const WeightProvider &weights,
                                  const tile::TileInterpreterOptions &options) {
  return LaunchRunner(function, weights, options).run(std::move(arguments));
}
