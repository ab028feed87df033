//===- JSONReader.cpp - Checked access to JSON files ----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JSONReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace mmx;

Error mmx::makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// The deepest nesting of brackets outside of strings.
static unsigned getNesting(StringRef text) {
  unsigned depth = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

Expected<json::Value> mmx::parseJSON(StringRef text, StringRef file) {
  constexpr unsigned maxNesting = 64;
  if (unsigned nesting = getNesting(text); nesting > maxNesting)
    return makeError(file + ": expected JSON nested at most " +
                     Twine(maxNesting) + " levels deep, but got " +
                     Twine(nesting));
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return makeError(
        file + ": expected JSON, but got: " + toString(value.takeError()));
  return value;
}

Expected<std::unique_ptr<MemoryBuffer>> mmx::readTextFile(StringRef file,
                                                          uint64_t maxBytes) {
  uint64_t size = 0;
  // Opening a pipe would wait for a writer.
  if (sys::fs::exists(file) && !sys::fs::is_regular_file(file))
    return makeError(file + ": expected a regular file");
  if (std::error_code code = sys::fs::file_size(file, size))
    return makeError(file + ": cannot be read: " + code.message());
  if (size > maxBytes)
    return makeError(file + ": expected at most " + Twine(maxBytes) +
                     " bytes, but got " + Twine(size));
  auto buffer = MemoryBuffer::getFile(file);
  if (!buffer)
    return makeError(file + ": cannot be read: " + buffer.getError().message());
  return std::move(*buffer);
}

Expected<json::Value> mmx::readJSONFile(StringRef file, uint64_t maxBytes) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readTextFile(file, maxBytes);
  if (!buffer)
    return buffer.takeError();
  return parseJSON((*buffer)->getBuffer(), file);
}

std::string mmx::describe(const json::Value &value) {
  switch (value.kind()) {
  case json::Value::Array:
    return "an array of " + std::to_string(value.getAsArray()->size());
  case json::Value::Object:
    return "an object";
  case json::Value::String: {
    StringRef text = *value.getAsString();
    std::string cut = text.take_front(60).str();
    return "\"" + json::fixUTF8(cut) + (text.size() > 60 ? "..." : "") + "\"";
  }
  default:
    return formatv("{0}", value);
  }
}

const json::Value *ObjectReader::find(StringRef key) const {
  const json::Value *value = object.get(key);
  return value && value->kind() != json::Value::Null ? value : nullptr;
}

int64_t ObjectReader::integer(StringRef key, int64_t fallback, int64_t low,
                              int64_t high) {
  const json::Value *value = find(key);
  if (!value)
    return fallback;
  std::optional<int64_t> number = value->getAsInteger();
  if (number && *number >= low && *number <= high)
    return *number;
  fail(key, "an integer from " + Twine(low) + " to " + Twine(high));
  return fallback;
}

double ObjectReader::number(StringRef key, double fallback, double low,
                            double high) {
  const json::Value *value = find(key);
  if (!value)
    return fallback;
  std::optional<double> number = value->getAsNumber();
  if (number && *number >= low && *number <= high)
    return *number;
  fail(key, "a number from " + describe(low) + " to " + describe(high));
  return fallback;
}

bool ObjectReader::boolean(StringRef key, bool fallback) {
  const json::Value *value = find(key);
  if (!value)
    return fallback;
  if (std::optional<bool> flag = value->getAsBoolean())
    return *flag;
  fail(key, "true or false");
  return fallback;
}

std::string ObjectReader::string(StringRef key, StringRef fallback) {
  const json::Value *value = find(key);
  if (!value)
    return fallback.str();
  if (std::optional<StringRef> text = value->getAsString())
    return text->str();
  fail(key, "a string");
  return fallback.str();
}

int64_t ObjectReader::uniformInteger(StringRef key, int64_t fallback,
                                     int64_t low, int64_t high) {
  const json::Value *value = find(key);
  if (!value || !value->getAsArray())
    return integer(key, fallback, low, high);
  std::vector<int64_t> list = integers(key, low, high);
  if (!list.empty() && all_equal(list))
    return list.front();
  if (list.size() == value->getAsArray()->size())
    failWith("expected the same number for all layers in \"" + key +
             "\", but got a list of " + Twine(list.size()) +
             (list.empty() ? "" : " with different ones"));
  return fallback;
}

std::vector<int64_t> ObjectReader::integers(StringRef key, int64_t low,
                                            int64_t high) {
  const json::Value *value = find(key);
  if (!value)
    return {};
  const json::Array *array = value->getAsArray();
  if (!array) {
    int64_t one = integer(key, low - 1, low, high);
    return one < low ? std::vector<int64_t>() : std::vector<int64_t>{one};
  }
  std::vector<int64_t> result;
  for (auto [index, element] : enumerate(*array)) {
    std::optional<int64_t> number = element.getAsInteger();
    if (!number || *number < low || *number > high) {
      failWith("expected integers from " + Twine(low) + " to " + Twine(high) +
               " in \"" + key + "\", but got " + describe(element) +
               " at index " + Twine(index));
      break;
    }
    result.push_back(*number);
  }
  return result;
}

void ObjectReader::fail(StringRef key, const Twine &expected) {
  const json::Value *value = object.get(key);
  failWith("expected " + expected + " for \"" + key + "\", but got " +
           (value ? describe(*value) : "nothing"));
}

void ObjectReader::failWith(const Twine &message) {
  errors.push_back((file + ": " + message).str());
}

void ObjectReader::warn(const Twine &message) {
  warnings.push_back((file + ": " + message).str());
}

void ObjectReader::take(ObjectReader &other) {
  errors.insert(errors.end(), other.errors.begin(), other.errors.end());
  warnings.insert(warnings.end(), other.warnings.begin(), other.warnings.end());
  other.errors.clear();
  other.warnings.clear();
}

Error ObjectReader::takeError() {
  if (errors.empty())
    return Error::success();
  std::string all = join(errors, "\n");
  errors.clear();
  return makeError(all);
}
