//===- CudaTensorMaps.cpp - Tensor maps of one kernel ---------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CudaTensorMaps.h"

#include "runtime/package/Expression.h"

#include <bit>

using namespace mmx;
using namespace mmx::runtime;

/// Sizes change with every prompt: old maps are dropped now and then.
static constexpr size_t mostKept = 1024;

static int dataType(package::Element element) {
  switch (element) {
  case package::Element::BF16:
    return cuda::mapBFloat16;
  case package::Element::I32:
    return cuda::mapInt32;
  case package::Element::I8:
    return cuda::mapUInt8;
  case package::Element::F64:
    return cuda::mapFloat64;
  default:
    return cuda::mapFloat32;
  }
}

/// 0, 32, 64, 128 bytes to CUtensorMapSwizzle 0, 1, 2, 3.
static int swizzleMode(uint32_t bytes) {
  return bytes == 0 ? 0 : std::countr_zero(bytes) - 4;
}

static std::vector<uint64_t> evaluate(
    const flatbuffers::Vector<flatbuffers::Offset<package::Expression>> &list,
    std::span<const int64_t> extents) {
  std::vector<uint64_t> values;
  for (const package::Expression *expression : list)
    values.push_back(Expression(*expression).evaluate(extents));
  return values;
}

cuda::TensorMap CudaTensorMaps::make(const package::TensorMap &recipe,
                                     std::byte *address,
                                     std::span<const int64_t> extents) const {
  std::vector<uint64_t> dims = evaluate(*recipe.dims(), extents);
  std::vector<uint64_t> strides = evaluate(*recipe.strides(), extents);
  std::vector<uint32_t> box(recipe.box()->begin(), recipe.box()->end());
  std::vector<uint32_t> elementStrides(dims.size(), 1);
  cuda::TensorMap map;
  cuda::Result result = api.tensorMapEncodeTiled(
      &map, dataType(recipe.element()), dims.size(), address, dims.data(),
      strides.data(), box.data(), elementStrides.data(), /*interleave=*/0,
      swizzleMode(recipe.swizzle()), cuda::promote128Bytes, recipe.fill_nan());
  api.check(result, "making the tensor map of view ", recipe.view(),
            " with dimensions ", listText(dims), ", strides ",
            listText(strides), ", box ", listText(box), ", swizzle ",
            recipe.swizzle());
  return map;
}

std::span<const cuda::TensorMap>
CudaTensorMaps::of(const KernelLaunch &launch) {
  if (!kernel.tensor_maps() || kernel.tensor_maps()->size() == 0)
    return {};
  std::vector<int64_t> key;
  for (const package::TensorMap *recipe : *kernel.tensor_maps())
    key.push_back(std::bit_cast<int64_t>(launch.buffers[recipe->view()]));
  key.insert(key.end(), launch.extents.begin(), launch.extents.end());
  auto found = made.find(key);
  if (found != made.end())
    return found->second;
  std::vector<cuda::TensorMap> maps;
  for (const package::TensorMap *recipe : *kernel.tensor_maps())
    maps.push_back(
        make(*recipe, launch.buffers[recipe->view()], launch.extents));
  if (made.size() >= mostKept)
    made.clear();
  return made.emplace(std::move(key), std::move(maps)).first->second;
}
