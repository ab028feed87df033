//===- PackageWriter.cpp - From host programs to a package ----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/PackageWriter.h"

#include "mlir/IR/SymbolTable.h"
#include "mmx/Dialect/Exec/ExecOps.h"
#include "mmx/Target/PackageParts.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mmx;
using flatbuffers::Offset;
using llvm::Error;
using llvm::Expected;

namespace {
class PackageWriter {
public:
  PackageWriter(ModuleOp module, const PackageCode &code)
      : module(module), code(code), symbols(module) {}

  Expected<std::vector<uint8_t>> write(StringRef dtype,
                                       ArrayRef<TextFile> texts);

private:
  using Bytes = Offset<flatbuffers::Vector<uint8_t>>;

  Error addProgram(exec::ProgramOp program);
  Error addBuffers(exec::ProgramOp program,
                   std::vector<Offset<package::Buffer>> &out,
                   DenseMap<Value, uint32_t> &numbers);
  Expected<Offset<package::Buffer>> packBuffer(Operation *op);
  Expected<uint32_t> getWeight(exec::WeightOp op);
  Expected<uint32_t> getKernel(exec::LaunchOp launch);
  Expected<Offset<package::GpuKernel>> packLaunch(const GPUKernel &kernel,
                                                  Operation *function);
  Expected<Offset<package::TensorMap>> packTensorMap(DictionaryAttr recipe);
  Expected<Bytes> packConstant(ElementsAttr value);
  Offset<package::Expression> pack(AffineExpr expr);
  std::vector<Offset<package::Expression>> pack(AffineMap map);

  ModuleOp module;
  const PackageCode &code;
  SymbolTable symbols;
  flatbuffers::FlatBufferBuilder builder;
  DenseMap<AffineExpr, Offset<package::Expression>> expressions;
  DenseMap<Attribute, Bytes> constants;
  DenseMap<std::pair<Attribute, std::pair<int64_t, int64_t>>, uint32_t>
      weightNumbers;
  llvm::StringMap<uint32_t> kernelNumbers;
  std::vector<Offset<package::Weight>> weights;
  std::vector<Offset<package::Kernel>> kernels;
  std::vector<Offset<package::Program>> programs;
};
} // namespace

template <typename... Ts> static Error makeError(const Ts &...parts) {
  std::string text;
  llvm::raw_string_ostream os(text);
  (os << ... << parts);
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static package::Opcode getOpcode(AffineExprKind kind) {
  switch (kind) {
  case AffineExprKind::Add:
    return package::Opcode::Add;
  case AffineExprKind::Mul:
    return package::Opcode::Multiply;
  case AffineExprKind::FloorDiv:
    return package::Opcode::FloorDivide;
  case AffineExprKind::CeilDiv:
    return package::Opcode::CeilDivide;
  case AffineExprKind::Mod:
    return package::Opcode::Modulo;
  default:
    llvm_unreachable("expected a binary expression of symbols");
  }
}

/// Operands first, then the opcode.
static void appendCode(AffineExpr expr, std::vector<int64_t> &code) {
  auto append = [&](package::Opcode opcode, int64_t operand) {
    code.push_back(static_cast<int64_t>(opcode));
    code.push_back(operand);
  };
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return append(package::Opcode::Constant, constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return append(package::Opcode::Symbol, symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  appendCode(binary.getLHS(), code);
  appendCode(binary.getRHS(), code);
  append(getOpcode(binary.getKind()), 0);
}

Offset<package::Expression> PackageWriter::pack(AffineExpr expr) {
  auto [it, isNew] = expressions.try_emplace(expr);
  if (isNew) {
    std::vector<int64_t> code;
    appendCode(expr, code);
    it->second = package::CreateExpressionDirect(builder, &code);
  }
  return it->second;
}

std::vector<Offset<package::Expression>> PackageWriter::pack(AffineMap map) {
  std::vector<Offset<package::Expression>> list;
  for (AffineExpr expr : map.getResults())
    list.push_back(pack(expr));
  return list;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The bytes of a constant, row-major and little-endian.
Expected<PackageWriter::Bytes> PackageWriter::packConstant(ElementsAttr value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  unsigned bits = dense ? value.getElementType().getIntOrFloatBitWidth() : 0;
  if (bits == 0 || bits % 8 != 0)
    return makeError("expected a constant given element by element of a type "
                     "of whole bytes, but got ",
                     value);
  Bytes &bytes = constants[value];
  if (!bytes.IsNull())
    return bytes;
  ArrayRef<char> raw = dense.getRawData();
  std::vector<uint8_t> data(value.getNumElements() * (bits / 8));
  for (auto [i, byte] : llvm::enumerate(data))
    byte = raw[dense.isSplat() ? i % raw.size() : i];
  return bytes = builder.CreateVector(data);
}

Expected<uint32_t> PackageWriter::getWeight(exec::WeightOp op) {
  int64_t panel = op.getPanel(), along = op.getAlong();
  auto [it, isNew] = weightNumbers.try_emplace(
      {op.getGlobalAttr(), {panel, along}}, weights.size());
  if (!isNew)
    return it->second;
  auto global = symbols.lookup<GlobalOp>(op.getGlobal());
  if (!global)
    return makeError("expected an mmx.global named @", op.getGlobal());
  weights.push_back(packWeight(builder, global, panel, along));
  return it->second;
}

Expected<Offset<package::Buffer>> PackageWriter::packBuffer(Operation *op) {
  auto type = cast<exec::BufferType>(op->getResult(0).getType());
  package::Element element = getPackageElement(type.getElementType());
  if (auto input = dyn_cast<exec::InputOp>(op)) {
    auto shape = pack(input.getShape());
    return package::CreateBufferDirect(
        builder, package::BufferKind::Input, element, &shape,
        input.getRole().str().c_str(), 0, nullptr, 0, input.getPanel(),
        input.getAlong());
  }
  if (auto weight = dyn_cast<exec::WeightOp>(op)) {
    Expected<uint32_t> number = getWeight(weight);
    if (!number)
      return number.takeError();
    auto shape = pack(weight.getShape());
    return package::CreateBufferDirect(builder, package::BufferKind::Weight,
                                       element, &shape, nullptr, *number);
  }
  if (auto temp = dyn_cast<exec::TempOp>(op)) {
    auto shape = pack(temp.getShape());
    return package::CreateBufferDirect(builder, package::BufferKind::Temporary,
                                       element, &shape, nullptr, 0, nullptr,
                                       pack(temp.getOffset()->getResult(0)));
  }
  auto constant = cast<exec::ConstantOp>(op);
  Expected<Bytes> data = packConstant(constant.getValue());
  if (!data)
    return data.takeError();
  std::vector<Offset<package::Expression>> shape;
  for (int64_t extent : constant.getValue().getShapedType().getShape())
    shape.push_back(pack(getAffineConstantExpr(extent, op->getContext())));
  return package::CreateBuffer(builder, package::BufferKind::Constant, element,
                               builder.CreateVector(shape), 0, 0, *data);
}

Error PackageWriter::addBuffers(exec::ProgramOp program,
                                std::vector<Offset<package::Buffer>> &out,
                                DenseMap<Value, uint32_t> &numbers) {
  for (Operation &op : program.getBody().front()) {
    if (isa<exec::LaunchOp>(op) || op.use_empty())
      continue;
    Expected<Offset<package::Buffer>> buffer = packBuffer(&op);
    if (!buffer)
      return buffer.takeError();
    numbers[op.getResult(0)] = out.size();
    out.push_back(*buffer);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Kernels and programs
//===----------------------------------------------------------------------===//

/// A recipe has the members of the table of the same name.
Expected<Offset<package::TensorMap>>
PackageWriter::packTensorMap(DictionaryAttr recipe) {
  auto view = recipe.getAs<IntegerAttr>("view");
  auto element = recipe.getAs<TypeAttr>("element");
  auto dims = recipe.getAs<AffineMapAttr>("dims");
  auto strides = recipe.getAs<AffineMapAttr>("strides");
  auto box = recipe.getAs<DenseI64ArrayAttr>("box");
  auto swizzle = recipe.getAs<IntegerAttr>("swizzle");
  if (!view || !element || !dims || !strides || !box || !swizzle)
    return makeError("expected the recipe of a tensor map, but got ", recipe);
  auto dimCode = pack(dims.getValue()), strideCode = pack(strides.getValue());
  std::vector<uint32_t> boxSizes(box.asArrayRef().begin(),
                                 box.asArrayRef().end());
  return package::CreateTensorMapDirect(
      builder, view.getInt(), getPackageElement(element.getValue()), &dimCode,
      &strideCode, &boxSizes, swizzle.getInt(), recipe.contains("fill_nan"));
}

Expected<Offset<package::GpuKernel>>
PackageWriter::packLaunch(const GPUKernel &kernel, Operation *function) {
  std::vector<Offset<package::TensorMap>> maps;
  if (auto recipes = function->getAttrOfType<ArrayAttr>("mmx.tensor_maps"))
    for (auto recipe : recipes.getAsRange<DictionaryAttr>()) {
      auto map = packTensorMap(recipe);
      if (!map)
        return map.takeError();
      maps.push_back(*map);
    }
  std::vector<uint32_t> cluster(kernel.cluster.begin(), kernel.cluster.end());
  bool clustered = llvm::any_of(cluster, [](uint32_t n) { return n != 1; });
  return package::CreateGpuKernelDirect(
      builder, kernel.threads, kernel.shared, clustered ? &cluster : nullptr,
      kernel.report.registers, kernel.report.spillBytes,
      maps.empty() ? nullptr : &maps, function->hasAttr("mmx.programmatic"));
}

Expected<uint32_t> PackageWriter::getKernel(exec::LaunchOp launch) {
  StringRef name = launch.getKernel();
  auto [it, isNew] = kernelNumbers.try_emplace(name, kernels.size());
  if (!isNew)
    return it->second;
  Operation *function = symbols.lookup(name);
  auto grid = function ? function->getAttrOfType<AffineMapAttr>("mmx.grid")
                       : AffineMapAttr();
  auto found = code.kernels.find(name);
  if (!grid || found == code.kernels.end())
    return makeError("expected code and the attribute mmx.grid of kernel @",
                     name);
  AffineMap map = grid.getValue();
  if (map.getNumDims() != 0 ||
      map.getNumSymbols() != launch.getExtents().getNumResults())
    return makeError("expected kernel @", name, " to have ",
                     launch.getExtents().getNumResults(),
                     " extents, but its grid has ", map.getNumSymbols());
  auto cells = pack(map);
  Offset<package::GpuKernel> gpu;
  if (const GPUKernel *kernel = found->second.gpu) {
    auto packed = packLaunch(*kernel, function);
    if (!packed)
      return packed.takeError();
    gpu = *packed;
  }
  std::string text = name.str();
  kernels.push_back(package::CreateKernelDirect(
      builder, text.c_str(), text.c_str(), found->second.object,
      map.getNumSymbols(), &cells, found->second.scratch, gpu));
  return it->second;
}

Error PackageWriter::addProgram(exec::ProgramOp program) {
  if (!program.getArena())
    return makeError("expected a buffer plan of @", program.getSymName(),
                     ", run exec-plan-buffers");
  std::vector<Offset<package::Buffer>> buffers;
  DenseMap<Value, uint32_t> numbers;
  if (Error error = addBuffers(program, buffers, numbers))
    return error;
  std::vector<Offset<package::Launch>> launches;
  for (auto launch : program.getBody().getOps<exec::LaunchOp>()) {
    Expected<uint32_t> kernel = getKernel(launch);
    if (!kernel)
      return kernel.takeError();
    std::vector<uint32_t> operands;
    for (Value buffer : launch.getBuffers())
      operands.push_back(numbers.lookup(buffer));
    auto extents = pack(launch.getExtents());
    std::string label = launch.getLabel().value_or("").str();
    launches.push_back(
        package::CreateLaunchDirect(builder, *kernel, &operands, &extents,
                                    label.empty() ? nullptr : label.c_str()));
  }
  programs.push_back(package::CreateProgramDirect(
      builder, program.getSymName().str().c_str(), &buffers, &launches,
      pack(program.getArena()->getResult(0))));
  return Error::success();
}

Expected<std::vector<uint8_t>> PackageWriter::write(StringRef dtype,
                                                    ArrayRef<TextFile> texts) {
  Expected<Offset<package::Model>> model = packModel(builder, module);
  if (!model)
    return model.takeError();
  for (auto program : module.getOps<exec::ProgramOp>())
    if (Error error = addProgram(program))
      return std::move(error);
  std::vector<Offset<package::Object>> objects;
  for (const PackageCode::Object &object : code.objects) {
    auto data = builder.CreateVector(object.data.data(), object.data.size());
    Offset<flatbuffers::String> ptx;
    if (!object.ptx.empty())
      ptx = builder.CreateString(object.ptx.data(), object.ptx.size());
    objects.push_back(package::CreateObject(builder, data, ptx));
  }
  std::vector<Offset<flatbuffers::String>> features;
  for (const std::string &feature : code.features)
    features.push_back(builder.CreateString(feature));
  std::vector<Offset<package::TextFile>> files;
  for (const TextFile &text : texts) {
    auto data = builder.CreateVector(
        reinterpret_cast<const uint8_t *>(text.bytes.data()),
        text.bytes.size());
    files.push_back(package::CreateTextFile(
        builder, builder.CreateString(text.name), data));
  }
  auto root = package::CreatePackageDirect(
      builder, packageVersion, getPackageProducer().c_str(),
      code.target.c_str(), &features, dtype.str().c_str(), *model, &objects,
      &kernels, &weights, &programs, files.empty() ? nullptr : &files);
  return finishPackage(builder, root);
}

PackageCode::PackageCode(const CPUObject &object, const CPUTarget &target)
    : target("cpu"), features(target.features), objects{{object.elf, {}}} {
  for (const CPUKernel &kernel : object.kernels)
    kernels[kernel.symbol] = {/*object=*/0, kernel.scratchBytes};
}

PackageCode::PackageCode(ArrayRef<GPUKernel> gpuKernels, StringRef target)
    : target(target) {
  for (const GPUKernel &kernel : gpuKernels) {
    kernels[kernel.symbol] = {static_cast<uint32_t>(objects.size()),
                              static_cast<uint64_t>(kernel.scratch), &kernel};
    objects.push_back({kernel.cubin, kernel.ptx});
  }
}

Expected<std::vector<uint8_t>> mmx::writePackage(ModuleOp module,
                                                 const PackageCode &code,
                                                 StringRef dtype,
                                                 ArrayRef<TextFile> texts) {
  return PackageWriter(module, code).write(dtype, texts);
}
