//===- CheckpointIndex.cpp - Names, types and shapes of a checkpoint ------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A safetensors file is the length of its header (8 bytes, little endian), the
// header in JSON and the data: {"name": {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [begin, end]}, ..., "__metadata__": {...}}, with offsets
// from the end of the header.
//
//===----------------------------------------------------------------------===//

#include "mmx/Model/CheckpointIndex.h"

#include "JSONReader.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace llvm;
using namespace mmx;

static constexpr uint64_t maxHeaderBytes = 100 << 20;
static constexpr uint64_t maxIndexBytes = 256 << 20;

/// Bytes of an element; 0 for types that safetensors does not have.
static uint64_t getElementBytes(StringRef element) {
  return StringSwitch<uint64_t>(element)
      .Cases({"BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3"}, 1)
      .Cases({"U16", "I16", "F16", "BF16"}, 2)
      .Cases({"U32", "I32", "F32"}, 4)
      .Cases({"U64", "I64", "F64"}, 8)
      .Default(0);
}

/// Reads `count` non-negative integers, or any number of them if it is -1.
static bool readNumbers(const json::Object &object, StringRef key,
                        int64_t count, SmallVectorImpl<int64_t> &numbers) {
  const json::Array *array = object.getArray(key);
  if (!array || (count >= 0 && array->size() != static_cast<size_t>(count)))
    return false;
  for (const json::Value &value : *array) {
    std::optional<int64_t> number = value.getAsInteger();
    if (!number || *number < 0)
      return false;
    numbers.push_back(*number);
  }
  return true;
}

/// Checks one entry of a header against `dataBytes`, the bytes of data that
/// the file really has.
static Error readTensor(StringRef name, const json::Value &value,
                        StringRef file, uint64_t dataBytes, TensorInfo &info) {
  auto wrong = [&](const Twine &what) {
    return makeError(file + ": tensor \"" + name + "\": " + what);
  };
  const json::Object *object = value.getAsObject();
  if (!object)
    return wrong("expected an object, but got " + describe(value));
  std::optional<StringRef> element = object->getString("dtype");
  if (!element || getElementBytes(*element) == 0)
    return wrong("expected a known \"dtype\"" +
                 (element ? ", but got \"" + *element + "\"" : Twine()));
  SmallVector<int64_t, 2> offsets;
  if (!readNumbers(*object, "shape", -1, info.shape))
    return wrong("expected \"shape\" to be an array of sizes");
  if (!readNumbers(*object, "data_offsets", 2, offsets))
    return wrong("expected \"data_offsets\" to be two offsets");
  uint64_t bytes = getElementBytes(*element);
  bool overflow = false;
  for (int64_t size : info.shape) {
    uint64_t product;
    overflow |= __builtin_mul_overflow(bytes, uint64_t(size), &product);
    bytes = product;
  }
  if (overflow || offsets[1] < offsets[0] ||
      uint64_t(offsets[1] - offsets[0]) != bytes)
    return wrong("expected as many bytes as its shape and type need, but got "
                 "offsets " +
                 Twine(offsets[0]) + " and " + Twine(offsets[1]));
  if (uint64_t(offsets[1]) > dataBytes)
    return wrong("expected data up to byte " + Twine(offsets[1]) +
                 ", but the file ends " +
                 Twine(uint64_t(offsets[1]) - dataBytes) + " bytes earlier");
  info.element = element->str();
  info.file = file.str();
  return Error::success();
}

Error CheckpointIndex::readHeader(StringRef file) {
  uint64_t fileBytes = 0;
  if (sys::fs::exists(file) && !sys::fs::is_regular_file(file))
    return makeError(file + ": expected a regular file");
  if (std::error_code code = sys::fs::file_size(file, fileBytes))
    return makeError(file + ": cannot be read: " + code.message());
  if (fileBytes < 8)
    return makeError(file + ": expected a header length of 8 bytes, but got " +
                     Twine(fileBytes) + " bytes");
  auto prefix = MemoryBuffer::getFileSlice(file, 8, 0);
  if (!prefix)
    return makeError(file + ": cannot be read: " + prefix.getError().message());
  uint64_t headerBytes = support::endian::read64le((*prefix)->getBufferStart());
  if (headerBytes > maxHeaderBytes || headerBytes > fileBytes - 8)
    return makeError(file + ": expected a header of at most " +
                     Twine(std::min(maxHeaderBytes, fileBytes - 8)) +
                     " bytes, but got " + Twine(headerBytes));
  auto text = MemoryBuffer::getFileSlice(file, headerBytes, 8);
  if (!text)
    return makeError(file + ": cannot be read: " + text.getError().message());
  Expected<json::Value> value = parseJSON((*text)->getBuffer(), file);
  if (!value)
    return value.takeError();
  const json::Object *header = value->getAsObject();
  if (!header)
    return makeError(file + ": expected a header that is an object, but got " +
                     describe(*value));
  for (const auto &[key, entry] : *header) {
    if (StringRef(key) == "__metadata__")
      continue;
    TensorInfo info;
    if (Error error =
            readTensor(key, entry, file, fileBytes - 8 - headerBytes, info))
      return error;
    auto [position, inserted] =
        tensors.try_emplace(StringRef(key), std::move(info));
    if (!inserted)
      return makeError(file + ": tensor \"" + StringRef(key) +
                       "\" is also in " + position->second.file);
  }
  return Error::success();
}

Error CheckpointIndex::readIndex(StringRef indexFile) {
  Expected<json::Value> value = readJSONFile(indexFile, maxIndexBytes);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  const json::Object *map = object ? object->getObject("weight_map") : nullptr;
  if (!map)
    return makeError(indexFile + ": expected an object \"weight_map\"");
  std::set<std::string> files;
  for (const auto &[name, entry] : *map) {
    std::optional<StringRef> file = entry.getAsString();
    if (!file || file->empty() || *file == "." || *file == ".." ||
        file->contains('/') || file->contains('\0'))
      return makeError(indexFile +
                       ": expected the name of a file beside the "
                       "index for tensor \"" +
                       StringRef(name) + "\", but got " + describe(entry));
    files.insert(file->str());
  }
  for (const std::string &file : files) {
    SmallString<128> path(directory);
    sys::path::append(path, file);
    if (Error error = readHeader(path))
      return error;
  }
  for (const auto &[name, entry] : *map)
    if (!find(name))
      return makeError(indexFile + ": tensor \"" + StringRef(name) +
                       "\" is not in " + *entry.getAsString());
  return Error::success();
}

Expected<std::optional<CheckpointIndex>>
CheckpointIndex::open(StringRef directory) {
  CheckpointIndex index;
  index.directory = directory.str();
  SmallString<128> shards(directory), single(directory);
  sys::path::append(shards, "model.safetensors.index.json");
  sys::path::append(single, "model.safetensors");
  if (sys::fs::exists(shards)) {
    if (Error error = index.readIndex(shards))
      return std::move(error);
  } else if (sys::fs::exists(single)) {
    if (Error error = index.readHeader(single))
      return std::move(error);
  } else {
    return std::nullopt;
  }
  return std::move(index);
}

const TensorInfo *CheckpointIndex::find(StringRef name) const {
  auto position = tensors.find(name);
  return position == tensors.end() ? nullptr : &position->second;
}
