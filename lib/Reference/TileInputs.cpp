//===- TileInputs.cpp - Arrays to run a kernel on -------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/TileInputs.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include <random>

using namespace mlir;
using namespace mmx::tile;

KernelInputs KernelInputs::clone() const {
  KernelInputs copy;
  copy.arguments = arguments;
  for (KernelArgument &argument : copy.arguments)
    if (argument.array) {
      copy.arrays.push_back(argument.array->clone());
      argument.array = &copy.arrays.back();
    }
  return copy;
}

FailureOr<KernelOp> mmx::tile::findKernel(ModuleOp module, StringRef name) {
  SmallVector<std::string> names;
  for (auto kernel : module.getOps<KernelOp>()) {
    if (name.empty() || kernel.getSymName() == name)
      return kernel;
    names.push_back(("@" + kernel.getSymName()).str());
  }
  // Not an error of the op, which would be printed.
  return emitError(module.getLoc(), "no kernel '")
         << name << "'; the module has "
         << (names.empty() ? "none" : llvm::join(names, ", "));
}

/// Row-major contents given as an attribute.
static void fillWithElements(HostArray &array, DenseElementsAttr elements) {
  SmallVector<Cell> cells;
  if (isFloatKind(array.getKind()))
    for (APFloat value : elements.getValues<APFloat>())
      cells.push_back({.f = float(value.convertToDouble())});
  else
    for (APInt value : elements.getValues<APInt>())
      cells.push_back({.i = value.getSExtValue()});
  SmallVector<int64_t> indices(array.getShape().size(), 0);
  for (Cell cell : cells) {
    array.store(array.getOffset(indices), cell, array.getKind());
    for (int64_t d = indices.size() - 1; d >= 0; --d) {
      if (++indices[d] < array.getShape()[d])
        break;
      indices[d] = 0;
    }
  }
}

/// Contents by name; false if there is no such name.
static bool fillByName(HostArray &array, StringRef name,
                       std::mt19937_64 &random) {
  if (name == "poison") {
    array.fillBytes(0xff);
    return true;
  }
  if (name != "random" && name != "integers" && name != "ramp" &&
      name != "zero")
    return false;
  SmallVector<int64_t> indices(array.getShape().size(), 0);
  for (int64_t n = 0, e = array.getNumElements(); n < e; ++n) {
    double value = 0;
    if (name == "random" && isFloatKind(array.getKind()))
      value = double(random() >> 40) / double(1 << 23) - 1.0;
    else if (name == "random")
      value = double(random() % 255) - 127.0;
    else if (name == "integers")
      value = double(random() % 7) - 3.0;
    else if (name == "ramp")
      value = double(n);
    Cell cell = {.f = float(value)};
    if (!isFloatKind(array.getKind()))
      cell.i = int64_t(value);
    array.store(array.getOffset(indices), cell, array.getKind());
    for (int64_t d = indices.size() - 1; d >= 0; --d) {
      if (++indices[d] < array.getShape()[d])
        break;
      indices[d] = 0;
    }
  }
  return true;
}

/// The scalar parameter that `attr` gives.
static std::optional<Cell> makeScalar(Attribute attr, Type type) {
  if (auto value = dyn_cast_or_null<FloatAttr>(attr); value && type.isF32())
    return Cell{.f = float(value.getValueAsDouble())};
  if (auto value = dyn_cast_or_null<IntegerAttr>(attr); value && !type.isF32())
    return Cell{.i = value.getInt()};
  return std::nullopt;
}

namespace {
/// Makes inputs, taking the extents that are not given one after another.
class InputMaker {
public:
  InputMaker(KernelOp kernel, ArrayRef<int64_t> extents, uint64_t seed)
      : kernel(kernel), extents(extents), random(seed) {}

  FailureOr<KernelInputs> make() {
    ArrayRef<BlockArgument> params = kernel.getParams();
    auto given = kernel->getAttrOfType<ArrayAttr>("tile.inputs");
    if (given && given.size() != params.size())
      return kernel.emitError("expected ")
             << params.size() << " entries in tile.inputs, but got "
             << given.size();
    KernelInputs inputs;
    inputs.arguments.resize(params.size());
    // Views first: the order of the symbols of the grid map.
    for (bool views : {true, false})
      for (auto [index, parameter] : llvm::enumerate(params)) {
        Attribute attr = given ? given[index] : Attribute();
        auto view = dyn_cast<ViewType>(parameter.getType());
        if (bool(view) != views)
          continue;
        if (failed(view ? makeView(view, index, attr, inputs)
                        : makeScalarParameter(parameter.getType(), index, attr,
                                              inputs)))
          return failure();
      }
    if (!extents.empty())
      return kernel.emitError("got ")
             << extents.size() << " extents more than are dynamic";
    return inputs;
  }

private:
  FailureOr<int64_t> takeExtent() {
    if (extents.empty())
      return kernel.emitError("got fewer extents than are dynamic");
    int64_t extent = extents.front();
    extents = extents.drop_front();
    if (extent < 0)
      return kernel.emitError("expected extents of at least 0");
    return extent;
  }

  LogicalResult makeScalarParameter(Type type, size_t index, Attribute attr,
                                    KernelInputs &inputs) {
    if (std::optional<Cell> cell = makeScalar(attr, type)) {
      inputs.arguments[index].scalar = *cell;
      return success();
    }
    if (!type.isIndex())
      return kernel.emitError("parameter ") << index << " needs a value";
    FailureOr<int64_t> extent = takeExtent();
    if (succeeded(extent))
      inputs.arguments[index].scalar.i = *extent;
    return extent;
  }

  LogicalResult makeView(ViewType view, size_t index, Attribute attr,
                         KernelInputs &inputs) {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(attr);
    if (elements && (elements.getElementType() != view.getElementType() ||
                     elements.getType().getRank() != view.getRank()))
      return kernel.emitError("input ") << index << " does not fit " << view;
    SmallVector<int64_t> shape(view.getShape());
    for (auto [d, extent] : llvm::enumerate(shape)) {
      if (elements) {
        extent = elements.getType().getDimSize(d);
      } else if (view.isDynamicDim(d)) {
        FailureOr<int64_t> taken = takeExtent();
        if (failed(taken))
          return failure();
        extent = *taken;
      }
    }
    HostArray &array = inputs.arrays.emplace_back(
        shape, *getElementKind(view.getElementType()), view.getPanel(),
        view.getAlong());
    inputs.arguments[index].array = &array;
    if (elements) {
      fillWithElements(array, elements);
      return success();
    }
    StringRef name = view.getMode() == AccessMode::Write ? "poison" : "random";
    if (auto string = dyn_cast_or_null<StringAttr>(attr))
      name = string.getValue();
    else if (attr && !isa<UnitAttr>(attr))
      return kernel.emitError("input ") << index << " does not fit " << view;
    if (array.getKind() == ElementKind::I32 && name == "random")
      return kernel.emitError("input ") << index << " of i32 must be given";
    if (!fillByName(array, name, random))
      return kernel.emitError("expected random, integers, ramp, zero or "
                              "poison, but got '")
             << name << "'";
    return success();
  }

  KernelOp kernel;
  ArrayRef<int64_t> extents;
  std::mt19937_64 random;
};
} // namespace

FailureOr<KernelInputs> mmx::tile::makeKernelInputs(KernelOp kernel,
                                                    ArrayRef<int64_t> extents,
                                                    uint64_t seed) {
  return InputMaker(kernel, extents, seed).make();
}
