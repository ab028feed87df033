//===- Checkpoint.cpp - The safetensors files of a model ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/Checkpoint.h"

#include "runtime/support/Error.h"
#include "runtime/support/JsonText.h"
#include "runtime/weights/ElementConversion.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>

using namespace mmx;
using namespace mmx::runtime;
using nlohmann::json;
namespace fs = std::filesystem;

/// The member weight_map of an index file: tensor name to file name.
static std::map<std::string, std::string> readIndex(const std::string &path) {
  MappedFile file(path);
  std::map<std::string, std::string> result;
  try {
    std::string_view text(reinterpret_cast<const char *>(file.bytes().data()),
                          file.bytes().size());
    refuseDeepJson(text);
    json index = json::parse(text.begin(), text.end());
    if (!index.is_object() || !index.contains("weight_map") ||
        !index["weight_map"].is_object())
      fail("expected an object \"weight_map\"");
    for (const auto &[name, shard] : index["weight_map"].items()) {
      if (!shard.is_string())
        fail("tensor \"", name, "\": expected a file name");
      std::string text = shard.get<std::string>();
      // A file beside the index, never one elsewhere.
      if (text.empty() || text == "." || text == ".." ||
          text.find_first_of(std::string("/\\\0", 3)) != std::string::npos)
        fail("tensor \"", name, "\": expected a plain file name, but got \"",
             text, "\"");
      result.emplace(name, text);
    }
  } catch (const json::exception &error) {
    fail(path, ": not JSON: ", error.what());
  } catch (const Error &error) {
    fail(path, ": ", error.what());
  }
  return result;
}

void Checkpoint::openIndex(const std::string &directory,
                           const std::string &indexPath) {
  std::map<std::string, const Safetensors *> files;
  for (const auto &[name, shard] : readIndex(indexPath)) {
    const Safetensors *&file = files[shard];
    if (!file) {
      fs::path path = fs::path(directory) / shard;
      if (!fs::is_regular_file(path))
        fail(indexPath, ": tensor \"", name, "\" stands in ", path.string(),
             ", which is missing");
      shards.push_back(std::make_unique<Safetensors>(path.string()));
      file = shards.back().get();
    }
    const Safetensors::Tensor *tensor = file->find(name);
    if (!tensor)
      fail(indexPath, ": says that tensor \"", name, "\" stands in ",
           file->path(), ", but it does not");
    places.emplace(name, Place{file, tensor});
  }
  // What the index leaves out of a file that it names is there nevertheless.
  for (const std::unique_ptr<Safetensors> &file : shards)
    for (const auto &[name, tensor] : file->tensors()) {
      auto [place, isNew] = places.emplace(name, Place{file.get(), &tensor});
      if (!isNew && place->second.tensor != &tensor)
        fail(file->path(), ": tensor \"", name, "\" is also in ",
             place->second.file->path());
    }
}

Checkpoint::Checkpoint(const std::string &directory) : directory(directory) {
  fs::path index = fs::path(directory) / "model.safetensors.index.json";
  fs::path single = fs::path(directory) / "model.safetensors";
  if (fs::exists(index)) {
    openIndex(directory, index.string());
    return;
  }
  if (!fs::exists(single))
    fail(directory, ": expected model.safetensors or ",
         "model.safetensors.index.json; use --weights DIR if the weights ",
         "stand elsewhere");
  shards.push_back(std::make_unique<Safetensors>(single.string()));
  for (const auto &[name, tensor] : shards.back()->tensors())
    places.emplace(name, Place{shards.back().get(), &tensor});
}

const TensorInfo *Checkpoint::find(std::string_view name) const {
  auto found = places.find(name);
  return found == places.end() ? nullptr : &found->second.tensor->info;
}

std::string Checkpoint::describe(std::string_view name) const {
  auto found = places.find(name);
  return concat(found == places.end() ? directory : found->second.file->path(),
                ": tensor \"", name, "\"");
}

const Checkpoint::Place &Checkpoint::place(const TensorInfo &tensor) const {
  return places.find(tensor.name)->second;
}

void Checkpoint::read(const TensorInfo &tensor, int64_t first, int64_t count,
                      package::Element element, std::byte *out) const {
  const Place &from = place(tensor);
  int64_t size = storedElementSize(tensor.element);
  try {
    convertElements(from.file->bytes(*from.tensor).data() + first * size,
                    tensor.element, count, element, out);
  } catch (const Error &error) {
    fail(describe(tensor.name), ": ", error.what());
  }
}

void Checkpoint::drop(const TensorInfo &tensor, int64_t first,
                      int64_t count) const {
  const Place &from = place(tensor);
  int64_t size = storedElementSize(tensor.element);
  from.file->drop(*from.tensor, first * size, count * size);
}

const void *Checkpoint::data(const TensorInfo &tensor) const {
  const Place &from = place(tensor);
  std::span<const uint8_t> bytes = from.file->bytes(*from.tensor);
  if (reinterpret_cast<uintptr_t>(bytes.data()) %
          storedElementSize(tensor.element) ==
      0)
    return bytes.data();
  std::lock_guard lock(copiesMutex);
  auto &copy = copies[&tensor];
  if (copy.empty()) {
    copy.resize(bytes.size() / sizeof(std::max_align_t) + 1);
    if (!bytes.empty())
      std::memcpy(copy.data(), bytes.data(), bytes.size());
  }
  return copy.data();
}
