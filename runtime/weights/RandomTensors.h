//===- RandomTensors.h - Weights drawn from a seed --------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors with the names and shapes that a package asks for and values that
// depend on the seed, the name and the position only: not on the package's
// layouts, types or machine. All are exact in bf16. Vectors (norms) are near
// 1; matrices are uniform with the variance that keeps the norm of a product.
// Immutable but for the cache behind data(), which a mutex guards.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_WEIGHTS_RANDOMTENSORS_H
#define MMX_RUNTIME_WEIGHTS_RANDOMTENSORS_H

#include "runtime/weights/TensorSource.h"

#include <map>
#include <mutex>

namespace mmx::runtime {

class RandomTensors final : public TensorSource {
public:
  RandomTensors(const package::Package &package, uint64_t seed);

  const TensorInfo *find(std::string_view name) const override;
  std::string describe(std::string_view name) const override;
  void read(const TensorInfo &tensor, int64_t first, int64_t count,
            package::Element element, std::byte *out) const override;
  const void *data(const TensorInfo &tensor) const override;

private:
  uint64_t seed;
  std::map<std::string, TensorInfo, std::less<>> tensors;
  mutable std::mutex cacheMutex;
  mutable std::map<std::string, std::vector<float>> cache;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_WEIGHTS_RANDOMTENSORS_H
