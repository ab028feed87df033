//===- ReferenceModel.cpp - A model in the reference interpreter ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mmx/Compiler/Pipeline.h"
#include "mmx/Model/ImportModel.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace mlir;
using namespace mmx;
using reference::Tensor;

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Widens a tensor of a checkpoint, which need not be aligned.
static Expected<Tensor> convertTensor(StringRef name, const MmxTensor &source) {
  StringRef element = source.element ? source.element : "";
  ArrayRef<int64_t> shape(source.shape, source.rank);
  bool isF32 = element == "F32";
  if (!isF32 && element != "BF16")
    return makeError("expected tensor \"" + name +
                     "\" of type F32 or BF16, but got " + element);
  std::vector<double> values(reference::countElements(shape));
  const char *bytes = static_cast<const char *>(source.data);
  for (auto [index, value] : enumerate(values)) {
    uint32_t bits =
        isF32 ? support::endian::read32le(bytes + 4 * index)
              : uint32_t(support::endian::read16le(bytes + 2 * index)) << 16;
    value = bit_cast<float>(bits);
  }
  return Tensor::floats(shape, std::move(values));
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static int64_t countBufferElements(const MmxRoleBuffer &buffer) {
  return reference::countElements(ArrayRef(buffer.shape, buffer.rank));
}

static Tensor readBuffer(const MmxRoleBuffer &buffer, bool isFloat) {
  ArrayRef<int64_t> shape(buffer.shape, buffer.rank);
  int64_t count = countBufferElements(buffer);
  if (!isFloat) {
    const int32_t *data = static_cast<const int32_t *>(buffer.data);
    return Tensor::ints(shape, std::vector<int32_t>(data, data + count));
  }
  const float *data = static_cast<const float *>(buffer.data);
  return Tensor::floats(shape, std::vector<double>(data, data + count));
}

static std::string printShape(ArrayRef<int64_t> shape) {
  std::string text;
  raw_string_ostream stream(text);
  stream << '[';
  interleave(
      shape, stream,
      [&](int64_t size) {
        if (size == ShapedType::kDynamic)
          stream << '?';
        else
          stream << size;
      },
      ", ");
  stream << ']';
  return text;
}

static Error writeBuffer(const Tensor &tensor, const MmxRoleBuffer &buffer) {
  ArrayRef<int64_t> shape(buffer.shape, buffer.rank);
  if (tensor.getShape() != shape)
    return makeError("expected a buffer of shape " +
                     printShape(tensor.getShape()) + " for \"" + buffer.role +
                     "\", but got " + printShape(shape));
  if (tensor.isFloat())
    copy(tensor.getFloats(), static_cast<float *>(buffer.data));
  else
    copy(tensor.getInts(), static_cast<int32_t *>(buffer.data));
  return Error::success();
}

/// The buffer of a role; null if there is none.
static const MmxRoleBuffer *findBuffer(ArrayRef<MmxRoleBuffer> buffers,
                                       StringRef role) {
  const auto *position = find_if(buffers, [&](const MmxRoleBuffer &buffer) {
    return buffer.role && role == buffer.role;
  });
  return position == buffers.end() ? nullptr : position;
}

static Error checkBuffer(const MmxRoleBuffer &buffer) {
  bool valid = buffer.rank >= 0 && buffer.rank <= 8 && buffer.shape;
  for (int64_t i = 0; valid && i < buffer.rank; ++i)
    valid = buffer.shape[i] >= 0;
  if (!valid || (!buffer.data && countBufferElements(buffer) > 0))
    return makeError(Twine("expected a buffer with data and a shape for \"") +
                     buffer.role + "\"");
  return Error::success();
}

/// The arguments of `function`, from the buffers of their roles.
static Expected<SmallVector<Tensor>>
readArguments(func::FuncOp function, ArrayRef<MmxRoleBuffer> buffers) {
  SmallVector<Tensor> arguments;
  for (auto [index, type] : enumerate(function.getArgumentTypes())) {
    auto role = function.getArgAttrOfType<StringAttr>(index, "mmx.role");
    auto tensorType = cast<RankedTensorType>(type);
    const MmxRoleBuffer *buffer = findBuffer(buffers, role);
    if (!buffer)
      return makeError("expected a buffer for \"" + role.getValue() + "\"");
    if (Error error = checkBuffer(*buffer))
      return std::move(error);
    Tensor tensor =
        readBuffer(*buffer, isa<FloatType>(tensorType.getElementType()));
    if (!tensor.matches(tensorType))
      return makeError("expected a buffer of shape " +
                       printShape(tensorType.getShape()) + " for \"" +
                       role.getValue() + "\", but got " +
                       printShape(tensor.getShape()));
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

//===----------------------------------------------------------------------===//
// MmxReference
//===----------------------------------------------------------------------===//

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerPipelineDialects(registry);
  return registry;
}

MmxReference::MmxReference()
    : context(makeRegistry(), MLIRContext::Threading::DISABLED) {}

Expected<std::unique_ptr<MmxReference>>
MmxReference::open(StringRef path, const ImportOptions &options, Fetch fetch,
                   void *fetchContext) {
  Expected<ModelFiles> files = readModelFiles(path);
  if (!files)
    return files.takeError();
  std::unique_ptr<MmxReference> result(new MmxReference());
  auto module =
      importModel(result->context, files->config,
                  files->checkpoint ? &*files->checkpoint : nullptr, options);
  if (!module)
    return module.takeError();
  result->module = std::move(*module);
  reference::CheckpointProvider checkpoint =
      [=](StringRef name) -> Expected<Tensor> {
    MmxTensor tensor = {};
    if (!fetch || fetch(fetchContext, name.str().c_str(), &tensor) != 0)
      return makeError("the checkpoint has no tensor \"" + name + "\"");
    return convertTensor(name, tensor);
  };
  reference::InterpreterOptions interpreterOptions;
  interpreterOptions.weights = [=](GlobalOp global) {
    return reference::assembleWeight(global, checkpoint);
  };
  result->interpreter = std::make_unique<reference::Interpreter>(
      *result->module, std::move(interpreterOptions));
  return std::move(result);
}

Error MmxReference::run(StringRef name, ArrayRef<MmxRoleBuffer> buffers) {
  auto function = module->lookupSymbol<func::FuncOp>(name);
  if (!function)
    return makeError("expected program \"prefill\" or \"decode\", but got \"" +
                     name + "\"");
  auto arguments = readArguments(function, buffers);
  if (!arguments)
    return arguments.takeError();
  auto results = interpreter->run(function, std::move(*arguments));
  if (!results)
    return results.takeError();
  for (auto [index, result] : enumerate(*results)) {
    auto role = function.getResultAttrOfType<StringAttr>(index, "mmx.role");
    const MmxRoleBuffer *buffer = findBuffer(buffers, role);
    if (!buffer)
      continue;
    if (Error error = checkBuffer(*buffer))
      return error;
    if (Error error = writeBuffer(result, *buffer))
      return error;
  }
  return Error::success();
}
