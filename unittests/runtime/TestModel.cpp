//===- TestModel.cpp - A hand-made package and what it computes -----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "runtime/package/Package.h"
#include "runtime/support/MappedFile.h"
#include "runtime/weights/ElementConversion.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace mmx;
using namespace mmx::test;
using flatbuffers::Offset;

static constexpr int64_t width = 4, vocab = 10;

namespace {

/// Builds the FlatBuffer of the test model.
class PackageBuilder {
public:
  explicit PackageBuilder(const TestModelOptions &options) : options(options) {}
  std::vector<uint8_t> build();

private:
  using Code = std::vector<int64_t>;
  static Code constant(int64_t value) { return {0, value}; }
  static Code symbol(int64_t number) { return {1, number}; }
  static Code plus(Code a, int64_t b) {
    a.insert(a.end(), {0, b, int64_t(package::Opcode::Add), 0});
    return a;
  }
  static Code times(Code a, int64_t b) {
    a.insert(a.end(), {0, b, int64_t(package::Opcode::Multiply), 0});
    return a;
  }
  static Code ceilDivide(Code a, int64_t b) {
    a.insert(a.end(), {0, b, int64_t(package::Opcode::CeilDivide), 0});
    return a;
  }
  std::vector<Offset<package::Expression>>
  expressions(const std::vector<Code> &codes) {
    std::vector<Offset<package::Expression>> result;
    for (const Code &code : codes)
      result.push_back(package::CreateExpressionDirect(builder, &code));
    return result;
  }
  Offset<package::Buffer> input(const char *role, std::vector<Code> shape,
                                package::Element element) {
    auto extents = expressions(shape);
    return package::CreateBufferDirect(builder, package::BufferKind::Input,
                                       element, &extents, role);
  }
  Offset<package::Buffer> weight(uint32_t number, std::vector<Code> shape) {
    auto extents = expressions(shape);
    return package::CreateBufferDirect(builder, package::BufferKind::Weight,
                                       package::Element::F32, &extents, nullptr,
                                       number);
  }
  Offset<package::Buffer> temporary(std::vector<Code> shape, Code offset) {
    auto extents = expressions(shape);
    auto place = package::CreateExpressionDirect(builder, &offset);
    return package::CreateBufferDirect(builder, package::BufferKind::Temporary,
                                       package::Element::F32, &extents, nullptr,
                                       0, nullptr, place);
  }
  Offset<package::Kernel> kernel(const char *name, const char *symbolName,
                                 uint32_t extents, std::vector<Code> grid) {
    auto cells = expressions(grid);
    return package::CreateKernelDirect(builder, name, symbolName, 0, extents,
                                       &cells, options.scratch,
                                       gpuKernel(std::string_view(name)));
  }
  Offset<package::Launch> launch(uint32_t number, std::vector<uint32_t> buffers,
                                 std::vector<Code> extents) {
    auto values = expressions(extents);
    return package::CreateLaunchDirect(builder, number, &buffers, &values);
  }
  Offset<package::GpuKernel> gpuKernel(std::string_view name);
  Offset<package::Program> program(const char *name);
  Offset<package::Model> model();
  std::vector<Offset<package::Kernel>> kernels();
  std::vector<Offset<package::Weight>> weights();

  const TestModelOptions &options;
  flatbuffers::FlatBufferBuilder builder;
};

} // namespace

Offset<package::Program> PackageBuilder::program(const char *name) {
  using package::Element;
  Code tokens = symbol(0), sequences = symbol(1), outputs = symbol(2),
       slots = symbol(3), rows = symbol(4), columns = symbol(5);
  Code w = constant(width), one = constant(1);
  Code rowBytes = times(tokens, width * 4);
  float rate = 0.5f;
  std::vector<uint8_t> rateBytes(4);
  std::memcpy(rateBytes.data(), &rate, 4);
  auto rateShape = expressions({one});
  std::vector<Offset<package::Buffer>> buffers = {
      input("ids", {tokens}, Element::I32),
      weight(0, {constant(vocab), w}),
      temporary({tokens, w}, constant(0)),
      input("starts", {plus(sequences, 1)}, Element::I32),
      input("slots", {sequences}, Element::I32),
      input("state.0", {slots, one, w, w}, Element::F32),
      package::CreateBufferDirect(builder, package::BufferKind::Constant,
                                  Element::F32, &rateShape, nullptr, 0,
                                  &rateBytes),
      input("past", {sequences}, Element::I32),
      input("cache_rows", {tokens}, Element::I32),
      input("pages", {sequences, columns}, Element::I32),
      input("key_cache.1", {rows, one, w}, Element::F32),
      input("value_cache.1", {rows, one, w}, Element::F32),
      temporary({tokens, w}, rowBytes),
      input("logit_rows", {outputs}, Element::I32),
      weight(1, {constant(vocab), w}),
      input("logits", {outputs, constant(vocab)}, Element::F32)};
  std::vector<Offset<package::Launch>> launches = {
      launch(0, {0, 1, 2}, {tokens}), launch(1, {2, 3, 4, 5, 6}, {sequences}),
      launch(2, {2, 3, 7, 8, 9, 10, 12},
             {sequences, options.badExtent ? symbol(6) : columns}),
      launch(options.headKernel, {12, 13, 14, 15}, {outputs, constant(vocab)})};
  Code arena = times(tokens, (options.smallArena ? 1 : 2) * width * 4);
  return package::CreateProgramDirect(
      builder, name, &buffers, &launches,
      package::CreateExpressionDirect(builder, &arena));
}

Offset<package::Model> PackageBuilder::model() {
  std::vector<int32_t> lightning = {0}, softmax = {1}, stop = {9};
  return package::CreateModelDirect(
      builder, "test", vocab, width, /*layers=*/2, /*heads=*/1, /*kv_heads=*/1,
      /*head_dim=*/width, /*experts=*/0, options.expertsPerToken, /*page=*/4,
      options.maxPositions, &lightning, &softmax, &stop, 80);
}

Offset<package::GpuKernel> PackageBuilder::gpuKernel(std::string_view name) {
  if (!options.gpu.value_or(options.target != "cpu"))
    return 0;
  std::vector<Offset<package::TensorMap>> maps;
  if (options.mapView && name == "embed") {
    auto dims = expressions({constant(width), symbol(0)});
    auto strides = expressions({constant(width * 4)});
    maps.push_back(package::CreateTensorMapDirect(
        builder, *options.mapView, package::Element::F32, &dims, &strides,
        &options.mapBox, options.mapSwizzle));
  }
  return package::CreateGpuKernelDirect(
      builder, options.threads, /*shared=*/1024,
      options.cluster.empty() ? nullptr : &options.cluster, /*registers=*/0,
      /*spills=*/0, &maps, options.programmatic);
}

std::vector<Offset<package::Kernel>> PackageBuilder::kernels() {
  Code n0 = symbol(0);
  return {kernel("embed", options.embedSymbol.c_str(), 1, {n0}),
          kernel("recur", "test_recur", 1, {n0}),
          kernel("attend", "test_attend", 2, {n0}),
          kernel("head", "test_head", 2, {n0, ceilDivide(symbol(1), 4)})};
}

std::vector<Offset<package::Weight>> PackageBuilder::weights() {
  std::vector<int64_t> shape = {vocab, width};
  auto make = [&](const char *name, const char *tensor, int64_t panel) {
    std::vector<Offset<package::Source>> sources = {
        package::CreateSourceDirect(builder, tensor)};
    return package::CreateWeightDirect(builder, name, package::Element::F32,
                                       &shape, panel, 0, &sources);
  };
  return {make("table", "model.embed_tokens.weight", 0),
          make("head", "lm_head.weight", 4)};
}

std::vector<uint8_t> PackageBuilder::build() {
  std::vector<uint8_t> image = {1, 2, 3, 4};
  if (options.withObject) {
    runtime::MappedFile file(options.objectFile);
    image.assign(file.bytes().begin(), file.bytes().end());
  }
  std::vector<Offset<package::Object>> objects = {package::CreateObjectDirect(
      builder, &image, options.ptx.empty() ? nullptr : options.ptx.c_str())};
  std::vector<Offset<flatbuffers::String>> features;
  for (const std::string &feature : options.features)
    features.push_back(builder.CreateString(feature));
  auto theModel = model();
  auto theKernels = kernels();
  auto theWeights = weights();
  std::vector<Offset<package::Program>> programs = {program("prefill"),
                                                    program("decode")};
  std::vector<flatbuffers::Offset<package::TextFile>> texts;
  for (const auto &[name, bytes] : options.texts) {
    std::vector<uint8_t> data(bytes.begin(), bytes.end());
    texts.push_back(
        package::CreateTextFileDirect(builder, name.c_str(), &data));
  }
  auto root = package::CreatePackageDirect(
      builder, options.version, "test", options.target.c_str(), &features,
      "f32", theModel, &objects, &theKernels, &theWeights, &programs,
      texts.empty() ? nullptr : &texts);
  package::FinishPackageBuffer(builder, root);
  return seal({builder.GetBufferPointer(), builder.GetSize()});
}

std::vector<uint8_t> test::makeTestPackage(const TestModelOptions &options) {
  return PackageBuilder(options).build();
}

std::vector<uint8_t> test::seal(std::span<const uint8_t> flatBuffer) {
  std::vector<uint8_t> bytes = runtime::packageHeader(flatBuffer);
  bytes.insert(bytes.end(), flatBuffer.begin(), flatBuffer.end());
  return bytes;
}

void MemoryTensors::add(std::string name, std::vector<int64_t> shape,
                        std::vector<float> values) {
  tensors[name] = {{name, "F32", std::move(shape)}, std::move(values)};
}

const runtime::TensorInfo *MemoryTensors::find(std::string_view name) const {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second.first;
}

std::string MemoryTensors::describe(std::string_view name) const {
  return runtime::concat("memory: tensor \"", name, "\"");
}

void MemoryTensors::read(const runtime::TensorInfo &tensor, int64_t first,
                         int64_t count, package::Element element,
                         std::byte *out) const {
  runtime::convertElements(tensors.find(tensor.name)->second.second.data() +
                               first,
                           "F32", count, element, out);
}

const void *MemoryTensors::data(const runtime::TensorInfo &tensor) const {
  return tensors.find(tensor.name)->second.second.data();
}

static float tableValue(int64_t id, int64_t c) {
  return float((id * 3 + c * 5) % 7) - 3;
}

static float headValue(int64_t id, int64_t c) {
  return id == 7 ? 0 : float((id * 5 + c * 3) % 11) - 5;
}

MemoryTensors test::testWeights() {
  std::vector<float> table, head;
  for (int64_t id = 0; id < vocab; ++id) {
    for (int64_t c = 0; c < width; ++c) {
      table.push_back(tableValue(id, c));
      head.push_back(headValue(id, c));
    }
  }
  MemoryTensors tensors;
  tensors.add("model.embed_tokens.weight", {vocab, width}, table);
  tensors.add("lm_head.weight", {vocab, width}, head);
  return tensors;
}

std::vector<float> test::expectedLogits(std::span<const int32_t> ids) {
  float state[width] = {}, cached[width] = {};
  std::vector<float> logits;
  for (int32_t id : ids) {
    for (int64_t c = 0; c < width; ++c) {
      state[c] = 0.5f * state[c] + tableValue(id, c);
      cached[c] += state[c];
    }
    for (int64_t v = 0; v < vocab; ++v) {
      float sum = 0;
      for (int64_t c = 0; c < width; ++c)
        sum += cached[c] * headValue(v, c);
      logits.push_back(sum);
    }
  }
  return logits;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "mmx-test-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    runtime::fail("cannot make a temporary folder");
  directory = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  std::filesystem::remove_all(directory, error);
}

std::string TemporaryDirectory::write(const std::string &name,
                                      std::string_view bytes) const {
  std::filesystem::path path = directory / name;
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), bytes.size());
  return path.string();
}

std::string test::safetensorsBytes(const std::string &header,
                                   std::string_view data) {
  uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char *>(&length), 8);
  return bytes + header + std::string(data);
}
