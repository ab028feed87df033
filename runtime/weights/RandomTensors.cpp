//===- RandomTensors.cpp - Weights drawn from a seed ----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/RandomTensors.h"

#include "runtime/package/Element.h"
#include "runtime/support/Error.h"
#include "runtime/weights/ElementConversion.h"

#include <algorithm>
#include <cmath>

using namespace mmx;
using namespace mmx::runtime;

/// The finaliser of SplitMix64.
static uint64_t mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

static uint64_t hashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char letter : name)
    hash = (hash ^ letter) * 0x100000001b3;
  return hash;
}

/// Grows the shape of a tensor to what `source` needs of it. Sources that
/// slice tell the extent of the leading dimension only from below.
static void extend(std::vector<int64_t> &shape, const package::Source &source,
                   std::vector<int64_t> part) {
  if (source.rows() > 0)
    part[0] = source.first() + source.rows();
  if (source.index() >= 0)
    part.insert(part.begin(), source.index() + 1);
  if (shape.size() != part.size())
    shape = std::move(part);
  else
    shape[0] = std::max(shape[0], part[0]);
}

RandomTensors::RandomTensors(const package::Package &package, uint64_t seed)
    : seed(seed) {
  for (const package::Weight *weight : *package.weights()) {
    std::vector<int64_t> part(weight->shape()->begin(), weight->shape()->end());
    if (weight->sources()->size() > 1)
      part.erase(part.begin());
    for (const package::Source *source : *weight->sources()) {
      TensorInfo &tensor = tensors[source->name()->str()];
      tensor.name = source->name()->str();
      tensor.element = "F32";
      extend(tensor.shape, *source, part);
    }
  }
}

const TensorInfo *RandomTensors::find(std::string_view name) const {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

std::string RandomTensors::describe(std::string_view name) const {
  return concat("random:", seed, ": tensor \"", name, "\"");
}

void RandomTensors::read(const TensorInfo &tensor, int64_t first, int64_t count,
                         package::Element element, std::byte *out) const {
  uint64_t key = mix(seed + hashName(tensor.name));
  bool vector = tensor.shape.size() == 1;
  float scale = vector ? 0.25f : std::sqrt(3.0f / tensor.shape.back());
  std::vector<float> block(std::min<int64_t>(count, 4096));
  for (int64_t done = 0; done < count;) {
    int64_t size = std::min<int64_t>(count - done, block.size());
    for (int64_t i = 0; i < size; ++i) {
      uint64_t bits = mix(key + 0x9e3779b97f4a7c15 * (first + done + i + 1));
      float unit = float(int64_t(bits) >> 40) * 0x1p-23f;
      block[i] = floatFromBf16(bf16FromFloat(scale * unit + (vector ? 1 : 0)));
    }
    convertElements(block.data(), "F32", size, element, out);
    out += size * elementSize(element);
    done += size;
  }
}

const void *RandomTensors::data(const TensorInfo &tensor) const {
  std::lock_guard lock(cacheMutex);
  std::vector<float> &values = cache[tensor.name];
  if (values.empty()) {
    values.resize(checkedProduct(tensor.shape).value());
    read(tensor, 0, values.size(), package::Element::F32,
         reinterpret_cast<std::byte *>(values.data()));
  }
  return values.data();
}
