//===- GoldenCheckpoint.cpp - Tensors of a golden checkpoint --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GoldenCheckpoint.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

GoldenCheckpoint::GoldenCheckpoint(const std::string &name)
    : path(std::string(MMX_GOLDEN_DIR) + "/" + name) {
  for (const auto &entry : std::filesystem::directory_iterator(path))
    if (entry.path().extension() == ".safetensors")
      readFile(entry.path());
}

void GoldenCheckpoint::readFile(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  uint64_t length = 0;
  stream.read(reinterpret_cast<char *>(&length), sizeof(length));
  std::string header(length, ' ');
  stream.read(header.data(), length);
  const nlohmann::json json = nlohmann::json::parse(header);
  for (const auto &[name, entry] : json.items()) {
    if (name == "__metadata__")
      continue;
    std::vector<uint64_t> offsets = entry["data_offsets"];
    Tensor tensor{entry["dtype"], entry["shape"],
                  std::vector<char>(offsets[1] - offsets[0])};
    stream.seekg(8 + length + offsets[0]);
    stream.read(tensor.bytes.data(), tensor.bytes.size());
    tensors.emplace(name, std::move(tensor));
  }
}

template <typename T>
static std::vector<T> copyBytes(const GoldenCheckpoint::Tensor &tensor) {
  std::vector<T> result(tensor.bytes.size() / sizeof(T));
  std::memcpy(result.data(), tensor.bytes.data(), tensor.bytes.size());
  return result;
}

std::vector<float> GoldenCheckpoint::getFloats(const std::string &name) const {
  return copyBytes<float>(tensors.at(name));
}

std::vector<int32_t> GoldenCheckpoint::getInts(const std::string &name) const {
  return copyBytes<int32_t>(tensors.at(name));
}

int GoldenCheckpoint::fetch(void *context, const char *name, MmxTensor *out) {
  auto *self = static_cast<GoldenCheckpoint *>(context);
  auto position = self->tensors.find(name);
  if (position == self->tensors.end())
    return 1;
  const Tensor &tensor = position->second;
  *out = {tensor.bytes.data(), tensor.element.c_str(),
          static_cast<int64_t>(tensor.shape.size()), tensor.shape.data()};
  return 0;
}
