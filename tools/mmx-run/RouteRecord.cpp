//===- RouteRecord.cpp - Which experts the tokens went to -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RouteRecord.h"

#include "runtime/support/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <set>

using namespace mmx::runtime;
using namespace mmx::tool;

void RouteRecord::append(const StepOutputs &outputs) {
  layers.resize(outputs.experts.size());
  for (size_t layer = 0; layer < layers.size(); ++layer)
    layers[layer].insert(layers[layer].end(), outputs.experts[layer].begin(),
                         outputs.experts[layer].end());
}

void RouteRecord::give(StepInputs &inputs) const {
  for (const std::vector<int32_t> &recorded : layers) {
    std::vector<int32_t> &given = inputs.routing.emplace_back();
    for (int32_t position : inputs.positions) {
      if ((position + 1) * width > int64_t(recorded.size()))
        fail("no experts are recorded for the token at position ", position);
      auto begin = recorded.begin() + position * width;
      given.insert(given.end(), begin, begin + width);
    }
  }
}

double RouteRecord::shareOfOthers(const RouteRecord &other) const {
  int64_t different = 0, all = 0;
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    auto expertsOf = [&](const RouteRecord &record, int64_t token) {
      auto begin = record.layers[layer].begin() + token * width;
      return std::set<int32_t>(begin, begin + width);
    };
    int64_t tokens = layers[layer].size() / width;
    for (int64_t token = 0; token < tokens; ++token, ++all)
      different += expertsOf(*this, token) != expertsOf(other, token);
  }
  return all > 0 ? double(different) / double(all) : 0;
}

static std::string tensorName(const std::string &prompt, size_t layer) {
  return concat(prompt, ".routing.", layer);
}

void RouteFile::add(const std::string &name, const RouteRecord &record) {
  width = record.width;
  for (size_t layer = 0; layer < record.layers.size(); ++layer)
    tensors[tensorName(name, layer)] = record.layers[layer];
}

void RouteFile::write(const std::string &path) const {
  nlohmann::json header = nlohmann::json::object();
  size_t offset = 0;
  for (const auto &[name, values] : tensors) {
    size_t end = offset + values.size() * sizeof(int32_t);
    header[name] = {{"dtype", "I32"},
                    {"shape", {int64_t(values.size()) / width, width}},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t length = text.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(&length), sizeof(length));
  file << text;
  for (const auto &[name, values] : tensors)
    file.write(reinterpret_cast<const char *>(values.data()),
               values.size() * sizeof(int32_t));
  file.close();
  if (!file)
    fail(path, ": cannot be written");
}

void RouteFile::read(const Safetensors &file, const std::string &name,
                     RouteRecord &record) {
  record.clear();
  while (file.find(tensorName(name, record.layers.size())))
    record.layers.push_back(
        file.values<int32_t>(tensorName(name, record.layers.size()), "I32"));
  if (record.layers.empty())
    fail(file.path(), ": has no tensor ", tensorName(name, 0));
}
