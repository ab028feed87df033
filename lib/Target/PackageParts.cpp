//===- PackageParts.cpp - Pieces of a package -----------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/PackageParts.h"

#include "llvm/Support/SHA256.h"
#include <cstring>

using namespace llvm;
using namespace mlir;
using namespace mmx;

std::string mmx::getPackageProducer() { return "mmx " MMX_VERSION; }

package::Element mmx::getPackageElement(Type type) {
  if (type.isBF16())
    return package::Element::BF16;
  if (type.isF64())
    return package::Element::F64;
  if (type.isInteger(8))
    return package::Element::I8;
  return type.isInteger(32) ? package::Element::I32 : package::Element::F32;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static std::vector<int32_t> getList(DictionaryAttr model, StringRef name) {
  auto list = model.getAs<DenseI64ArrayAttr>(name);
  if (!list)
    return {};
  return {list.asArrayRef().begin(), list.asArrayRef().end()};
}

Expected<flatbuffers::Offset<package::Model>>
mmx::packModel(flatbuffers::FlatBufferBuilder &builder, ModuleOp module) {
  auto model = module->getAttrOfType<DictionaryAttr>("mmx.model");
  if (!model)
    return createStringError(inconvertibleErrorCode(),
                             "expected a module with the attribute mmx.model");
  auto number = [&](StringRef name) -> int64_t {
    auto attr = model.getAs<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  };
  auto type = model.getAs<StringAttr>("type");
  std::vector<int32_t> lightning = getList(model, "lightning_layers"),
                       softmax = getList(model, "softmax_layers"),
                       stops = getList(model, "stop_ids");
  return package::CreateModelDirect(
      builder, type ? type.str().c_str() : "", number("vocab"),
      number("hidden"), number("layers"), number("heads"), number("kv_heads"),
      number("head_dim"), number("experts"), number("experts_per_token"),
      number("page"), number("max_positions"), &lightning, &softmax, &stops,
      number("parameters"));
}

flatbuffers::Offset<package::Weight>
mmx::packWeight(flatbuffers::FlatBufferBuilder &builder, GlobalOp global,
                int64_t panel, int64_t along) {
  auto type = cast<RankedTensorType>(global.getType());
  std::vector<flatbuffers::Offset<package::Source>> sources;
  for (auto source : global.getSources().getAsRange<SourceAttr>())
    sources.push_back(package::CreateSourceDirect(
        builder, source.getName().str().c_str(), source.getIndex(),
        source.getFirst(), source.getRows()));
  std::vector<int64_t> shape = type.getShape().vec();
  // One weight may be there in two layouts, and names are unique.
  std::string name = global.getSymName().str();
  if (panel != 0)
    name += ".panel" + std::to_string(panel) + "." + std::to_string(along);
  return package::CreateWeightDirect(builder, name.c_str(),
                                     getPackageElement(type.getElementType()),
                                     &shape, panel, along, &sources);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::vector<uint8_t>
mmx::finishPackage(flatbuffers::FlatBufferBuilder &builder,
                   flatbuffers::Offset<package::Package> root) {
  constexpr size_t headerSize = 64;
  package::FinishPackageBuffer(builder, root);
  ArrayRef<uint8_t> body(builder.GetBufferPointer(), builder.GetSize());
  std::array<uint8_t, 32> digest = SHA256::hash(body);
  std::vector<uint8_t> file(headerSize + body.size());
  std::memcpy(file.data(), "MMXPKG01", 8);
  copy(digest, file.begin() + 8);
  copy(body, file.begin() + headerSize);
  return file;
}

Expected<std::vector<uint8_t>> mmx::writeModelDescription(ModuleOp module) {
  flatbuffers::FlatBufferBuilder builder;
  auto model = packModel(builder, module);
  if (!model)
    return model.takeError();
  std::vector<flatbuffers::Offset<package::Weight>> weights;
  for (GlobalOp global : module.getOps<GlobalOp>())
    weights.push_back(packWeight(builder, global));
  std::vector<flatbuffers::Offset<flatbuffers::String>> features;
  std::vector<flatbuffers::Offset<package::Object>> objects;
  std::vector<flatbuffers::Offset<package::Kernel>> kernels;
  std::vector<flatbuffers::Offset<package::Program>> programs;
  auto root = package::CreatePackageDirect(
      builder, packageVersion, getPackageProducer().c_str(), "reference",
      &features, "f32", *model, &objects, &kernels, &weights, &programs);
  return finishPackage(builder, root);
}
