//===- GenerationConfig.cpp - How a model is meant to be sampled ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/chat/GenerationConfig.h"

#include "runtime/support/Error.h"
#include "runtime/support/JsonText.h"

#include <nlohmann/json.hpp>

using namespace mmx::runtime;
using nlohmann::json;

namespace {

/// Reads keys of one object; messages say what was expected of which.
class KeyReader {
public:
  KeyReader(const json &object, const std::string &file)
      : object(object), file(file) {}

  /// Null if the key is missing or null.
  const json *find(const char *key) const {
    auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }
  [[noreturn]] void refuse(const char *key, const char *expected) const {
    fail(file, ": expected ", key, " as ", expected, ", but got ",
         shortJson(object[key]));
  }
  std::optional<double> number(const char *key, double most,
                               const char *expected) const {
    const json *value = find(key);
    if (!value)
      return std::nullopt;
    if (!value->is_number() || !(value->get<double>() >= 0) ||
        !(value->get<double>() <= most))
      refuse(key, expected);
    return value->get<double>();
  }

private:
  const json &object;
  const std::string &file;
};

} // namespace

static void readStopIds(const KeyReader &reader, std::vector<int32_t> &ids) {
  const json *value = reader.find("eos_token_id");
  if (!value)
    return;
  auto add = [&](const json &id) {
    if (!id.is_number_integer() || id < 0 || id > INT32_MAX)
      reader.refuse("eos_token_id", "an id or a list of ids");
    ids.push_back(id);
  };
  if (!value->is_array())
    return add(*value);
  for (const json &id : *value)
    add(id);
}

GenerationConfig mmx::runtime::parseGenerationConfig(std::string_view text,
                                                     const std::string &file) {
  refuseDeepJson(text, file);
  json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object())
    fail(file, ": expected a JSON object");
  KeyReader reader(root, file);
  GenerationConfig config;
  if (const json *sample = reader.find("do_sample")) {
    if (!sample->is_boolean())
      reader.refuse("do_sample", "true or false");
    config.sample = *sample;
  }
  config.temperature =
      reader.number("temperature", 100, "a number from 0 to 100");
  config.topP = reader.number("top_p", 1, "a number from 0 to 1");
  if (const json *topK = reader.find("top_k")) {
    if (!topK->is_number_integer() || *topK < 0 || *topK > INT32_MAX)
      reader.refuse("top_k", "a whole number, 0 for all");
    config.topK = *topK;
  }
  readStopIds(reader, config.stopIds);
  return config;
}
