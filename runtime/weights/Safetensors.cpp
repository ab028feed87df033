//===- Safetensors.cpp - One safetensors file -----------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/Safetensors.h"

#include "runtime/package/Element.h"
#include "runtime/support/Error.h"
#include "runtime/support/JsonText.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <set>

using namespace mmx::runtime;
using nlohmann::json;

/// The limit of the format's own implementation.
static constexpr uint64_t maxHeader = 100'000'000;

int64_t mmx::runtime::storedElementSize(std::string_view element) {
  static constexpr std::pair<std::string_view, int64_t> sizes[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
      {"U32", 4},  {"F32", 4}, {"I64", 8}, {"U64", 8},     {"F64", 8}};
  for (auto [name, size] : sizes)
    if (name == element)
      return size;
  return 0;
}

/// Parses JSON whose outermost object has no key twice.
static json parseObject(std::string_view text) {
  refuseDeepJson(text);
  std::set<std::string> keys;
  auto onEvent = [&](int depth, json::parse_event_t event, json &value) {
    if (depth == 1 && event == json::parse_event_t::key &&
        !keys.insert(value.get<std::string>()).second)
      fail("tensor ", value.dump(), " is described twice");
    return true;
  };
  try {
    json object = json::parse(text.begin(), text.end(), onEvent);
    if (!object.is_object())
      fail("expected a JSON object");
    return object;
  } catch (const json::exception &error) {
    fail("not JSON: ", error.what());
  }
}

static uint64_t unsignedValue(const json &value, const char *what) {
  if (!value.is_number_unsigned())
    fail("expected ", what, " to be a non-negative integer, but got ",
         shortJson(value));
  return value.get<uint64_t>();
}

static const json &member(const json &object, const char *key,
                          json::value_t type) {
  auto found = object.find(key);
  if (found == object.end() || found->type() != type)
    fail("expected a member \"", key, "\" of another type or at all");
  return *found;
}

/// Reads one entry; offsets are still relative to the data section.
static Safetensors::Tensor parseTensor(const std::string &name,
                                       const json &entry, uint64_t dataSize) {
  if (!entry.is_object())
    fail("expected an object");
  Safetensors::Tensor tensor;
  tensor.info.name = name;
  tensor.info.element =
      member(entry, "dtype", json::value_t::string).get<std::string>();
  int64_t size = storedElementSize(tensor.info.element);
  if (size == 0)
    fail("unknown dtype \"", tensor.info.element, "\"");
  for (const json &extent : member(entry, "shape", json::value_t::array))
    tensor.info.shape.push_back(
        std::min<uint64_t>(unsignedValue(extent, "an extent"), INT64_MAX));
  const json &offsets = member(entry, "data_offsets", json::value_t::array);
  if (offsets.size() != 2)
    fail("expected two data_offsets, but got ", offsets.size());
  uint64_t begin = unsignedValue(offsets[0], "an offset");
  uint64_t end = unsignedValue(offsets[1], "an offset");
  if (begin > end)
    fail("ends at byte ", end, ", before its begin at ", begin);
  if (end > dataSize)
    fail("expected data up to byte ", end, ", but the file has ", dataSize,
         " bytes of data: ", end - dataSize, " bytes are missing");
  std::optional<int64_t> count = checkedProduct(tensor.info.shape);
  if (!count || uint64_t(*count) > (uint64_t(1) << 60) / size ||
      uint64_t(*count * size) != end - begin)
    fail("the shape ", listText(tensor.info.shape), " of ", tensor.info.element,
         " and ", end - begin, " bytes do not agree");
  tensor.offset = begin;
  tensor.bytes = end - begin;
  return tensor;
}

/// Every byte of the data section belongs to one tensor.
static void checkPlaces(std::vector<const Safetensors::Tensor *> tensors,
                        uint64_t dataSize) {
  std::sort(tensors.begin(), tensors.end(), [](auto *a, auto *b) {
    return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
  });
  uint64_t end = 0;
  for (const Safetensors::Tensor *tensor : tensors) {
    if (tensor->offset != end)
      fail("tensor \"", tensor->info.name, "\": expected its data at byte ",
           end, ", but got ", tensor->offset, ": tensors overlap or leave a ",
           "gap");
    end += tensor->bytes;
  }
  if (end != dataSize)
    fail("expected ", end, " bytes of data, but got ", dataSize);
}

void Safetensors::parseHeader() {
  std::span<const uint8_t> bytes = file.bytes();
  if (bytes.size() < 8)
    fail("expected at least 8 bytes, but got ", bytes.size());
  uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  if (length > maxHeader)
    fail("expected a header of at most ", maxHeader, " bytes, but got ",
         length);
  if (length > bytes.size() - 8)
    fail("expected a header of ", length, " bytes, but the file has only ",
         bytes.size() - 8, " bytes after its length");
  uint64_t dataStart = 8 + length, dataSize = bytes.size() - dataStart;
  json header =
      parseObject({reinterpret_cast<const char *>(bytes.data()) + 8, length});
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    try {
      table.emplace(name, parseTensor(name, entry, dataSize));
    } catch (const Error &error) {
      fail("tensor \"", name, "\": ", error.what());
    }
  }
  std::vector<const Tensor *> all;
  for (const auto &[name, tensor] : table)
    all.push_back(&tensor);
  checkPlaces(std::move(all), dataSize);
  for (auto &[name, tensor] : table)
    tensor.offset += dataStart;
}

Safetensors::Safetensors(std::string path) : file(std::move(path)) {
  try {
    parseHeader();
  } catch (const Error &error) {
    fail(file.path(), ": ", error.what());
  }
}

const Safetensors::Tensor *Safetensors::find(std::string_view name) const {
  auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

template <typename T>
std::vector<T> Safetensors::values(std::string_view name,
                                   std::string_view element) const {
  const Tensor *tensor = find(name);
  if (!tensor)
    fail(path(), ": has no tensor \"", name, "\"");
  if (tensor->info.element != element)
    fail(path(), ": tensor \"", name, "\": expected ", element, ", but got ",
         tensor->info.element);
  std::vector<T> result(tensor->bytes / sizeof(T));
  if (!result.empty())
    std::memcpy(result.data(), bytes(*tensor).data(), tensor->bytes);
  return result;
}

template std::vector<float> Safetensors::values(std::string_view,
                                                std::string_view) const;
template std::vector<int32_t> Safetensors::values(std::string_view,
                                                  std::string_view) const;
