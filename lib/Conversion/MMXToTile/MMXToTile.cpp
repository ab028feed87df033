//===- MMXToTile.cpp - Fusion groups become tile kernels and launches -----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Conversion/MMXToTile/MMXToTile.h"

#include "KernelEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

namespace mmx {
#define GEN_PASS_DEF_CONVERTMMXTOTILE
#include "mmx/Conversion/MMXToTile/MMXToTilePasses.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

#include "mmx/Conversion/MMXToTile/TileEmitterInterfaces.cpp.inc"

void mmx::registerTileEmitterModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MMXDialect *) {
    attachElementModels(context);
    attachRowModels(context);
    attachLightningModels(context);
    attachSegmentModels(context);
    attachSoftmaxModels(context);
    attachExpertModels(context);
  });
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {
/// The extents of the tensors of a function in the symbols of a step.
class ShapeTable {
public:
  void addArguments(func::FuncOp function);
  FailureOr<SmallVector<SymbolicShape>> infer(KernelOp kernel);
  void set(Value value, SymbolicShape shape) { shapes[value] = shape; }

private:
  FailureOr<SymbolicShape> get(Value value);
  llvm::DenseMap<Value, SymbolicShape> shapes;
};
} // namespace

void ShapeTable::addArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto map = function.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(),
                                                        "mmx.shape");
    if (map)
      shapes[argument] = SymbolicShape(map.getValue().getResults());
  }
}

FailureOr<SymbolicShape> ShapeTable::get(Value value) {
  auto it = shapes.find(value);
  if (it != shapes.end())
    return it->second;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return emitError(value.getLoc())
           << "expected a shape in the symbols of a step; arguments of the "
              "function carry it as mmx.shape";
  SymbolicShape shape;
  for (int64_t extent : type.getShape())
    shape.push_back(getAffineConstantExpr(extent, value.getContext()));
  return shape;
}

FailureOr<SmallVector<SymbolicShape>> ShapeTable::infer(KernelOp kernel) {
  SmallVector<SymbolicShape> operands;
  for (Value input : kernel.getInputs()) {
    FailureOr<SymbolicShape> shape = get(input);
    if (failed(shape))
      return failure();
    operands.push_back(*shape);
  }
  return kernel.inferSymbolicShapes(operands);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// What the kernel does, in words: its ops, the static extents of what they
/// read most of, the element type and the rows of a tile.
static std::string getBaseName(KernelOp kernel) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  RankedTensorType largest;
  int64_t most = 0;
  llvm::ListSeparator separator("_");
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<MergeHeadsOp, SplitHeadsOp>(op))
      continue;
    stream << separator << op.getName().stripDialect();
    for (Type type : op.getOperandTypes()) {
      int64_t size = 1;
      auto tensor = cast<RankedTensorType>(type);
      for (int64_t extent : tensor.getShape())
        size *= ShapedType::isDynamic(extent) ? 1 : extent;
      if (!largest || size > most) {
        largest = tensor;
        most = size;
      }
    }
  }
  stream << "_";
  llvm::ListSeparator by("x");
  for (int64_t extent : largest.getShape())
    if (!ShapedType::isDynamic(extent))
      stream << by << extent;
  if (most > 1)
    stream << "_";
  stream << largest.getElementType();
  if (TileSizesAttr tiles = kernel.getTilesAttr()) {
    stream << "_r" << tiles.getRows();
    if (tiles.getGroups())
      stream << "_g" << tiles.getGroups();
  }
  return name;
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

namespace {
struct ConvertMMXToTile : mmx::impl::ConvertMMXToTileBase<ConvertMMXToTile> {
  using ConvertMMXToTileBase::ConvertMMXToTileBase;

  void runOnOperation() override;

private:
  LogicalResult convert(KernelOp kernel, ShapeTable &shapes);
  FlatSymbolRefAttr share(tile::KernelOp kernel);

  llvm::StringMap<StringAttr> known; ///< text without the name -> name
  llvm::StringMap<unsigned> uses;    ///< of base names
};
} // namespace

/// The symbol of a kernel that does the same; `kernel` if it is the first.
FlatSymbolRefAttr ConvertMMXToTile::share(tile::KernelOp kernel) {
  StringAttr base = kernel.getSymNameAttr();
  kernel.setSymName("_");
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream, OpPrintingFlags().useLocalScope());
  auto [it, isNew] = known.try_emplace(text);
  if (!isNew) {
    kernel.erase();
    ++numShared;
    return FlatSymbolRefAttr::get(it->second);
  }
  unsigned number = uses[base.getValue()]++;
  StringAttr name = base;
  if (number)
    name = StringAttr::get(&getContext(),
                           base.getValue() + "_" + llvm::Twine(number));
  kernel.setSymNameAttr(name);
  it->second = name;
  ++numKernels;
  return FlatSymbolRefAttr::get(name);
}

namespace {
/// Launches the kernels of one group and gathers its results.
class GroupLauncher {
public:
  GroupLauncher(KernelOp group, ArrayRef<SymbolicShape> shapes)
      : group(group), shapes(shapes), builder(group),
        results(group.getNumResults()) {}

  void launch(const EmittedKernel &emitted, FlatSymbolRefAttr symbol);
  ArrayRef<Value> getResults() { return results; }

private:
  Value getOperand(const LaunchOperand &operand);
  Attribute getShape(unsigned result) {
    return AffineMapAttr::get(AffineMap::get(0, numStepSymbols, shapes[result],
                                             builder.getContext()));
  }

  KernelOp group;
  ArrayRef<SymbolicShape> shapes;
  OpBuilder builder;
  SmallVector<Value> results, scratch;
};
} // namespace

Value GroupLauncher::getOperand(const LaunchOperand &operand) {
  if (operand.constant)
    return arith::ConstantOp::create(builder, group.getLoc(), operand.constant);
  return operand.scratch >= 0 ? scratch[operand.scratch] : operand.tensor;
}

void GroupLauncher::launch(const EmittedKernel &emitted,
                           FlatSymbolRefAttr symbol) {
  SmallVector<Value> operands;
  for (const LaunchOperand &operand : emitted.operands)
    operands.push_back(getOperand(operand));
  SmallVector<Type> types;
  SmallVector<int64_t> inplace;
  SmallVector<Attribute> maps;
  for (auto [number, updated] : emitted.results) {
    types.push_back(group.getResult(number).getType());
    inplace.push_back(updated);
    maps.push_back(getShape(number));
  }
  for (auto [element, like] : emitted.scratch) {
    auto type = cast<RankedTensorType>(group.getResult(like).getType());
    types.push_back(type.clone(element));
    inplace.push_back(-1);
    maps.push_back(getShape(like));
  }
  auto launch =
      LaunchOp::create(builder, group.getLoc(), types, symbol, operands,
                       builder.getDenseI64ArrayAttr(inplace),
                       builder.getArrayAttr(maps), group.getLabelAttr());
  size_t numResults = emitted.results.size();
  for (auto [entry, value] : llvm::zip_equal(
           emitted.results, launch.getOutputs().take_front(numResults)))
    results[entry.first] = value;
  llvm::append_range(scratch, launch.getOutputs().drop_front(numResults));
}

/// The anchor's kernels, one for each of its stages.
static unsigned getNumStages(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front())
    if (auto anchor = dyn_cast<CellEmitterInterface>(op))
      return anchor.getNumStages();
  return 1;
}

LogicalResult ConvertMMXToTile::convert(KernelOp kernel, ShapeTable &shapes) {
  FailureOr<SmallVector<SymbolicShape>> results = shapes.infer(kernel);
  if (failed(results))
    return failure();
  OpBuilder builder(kernel->getParentOfType<func::FuncOp>());
  GroupLauncher launcher(kernel, *results);
  for (unsigned stage = 0; stage < getNumStages(kernel); ++stage) {
    std::string name = getBaseName(kernel);
    if (stage)
      name += "_stage" + std::to_string(stage);
    FailureOr<EmittedKernel> emitted =
        KernelEmitter(kernel, panel, stage).run(builder, name);
    if (failed(emitted))
      return kernel.emitOpError("has no form as a tile kernel");
    launcher.launch(*emitted, share(emitted->kernel));
  }
  for (auto [value, shape] : llvm::zip_equal(launcher.getResults(), *results)) {
    if (!value)
      return kernel.emitOpError("has a result that its anchor does not write");
    shapes.set(value, shape);
  }
  kernel.replaceAllUsesWith(launcher.getResults());
  kernel.erase();
  return success();
}

void ConvertMMXToTile::runOnOperation() {
  for (auto function :
       llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
    ShapeTable shapes;
    shapes.addArguments(function);
    for (KernelOp kernel :
         llvm::make_early_inc_range(function.getOps<KernelOp>()))
      if (failed(convert(kernel, shapes)))
        return signalPassFailure();
  }
}
