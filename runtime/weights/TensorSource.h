//===- TensorSource.h - Where weights come from -----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A set of named tensors: the files of a checkpoint (Checkpoint.h) or numbers
// drawn from a seed (RandomTensors.h). After construction every call is safe
// from several threads. TensorInfo pointers live as long as the source.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_WEIGHTS_TENSORSOURCE_H
#define MMX_RUNTIME_WEIGHTS_TENSORSOURCE_H

#include "mmx/package_generated.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mmx::runtime {

struct TensorInfo {
  std::string name;
  std::string element; ///< as safetensors spells it: "F32", "BF16", ...
  std::vector<int64_t> shape;
};

class TensorSource {
public:
  virtual ~TensorSource() = default;

  /// The tensor called `name`, or null.
  virtual const TensorInfo *find(std::string_view name) const = 0;

  /// Names the tensor and where it stands, for messages.
  virtual std::string describe(std::string_view name) const = 0;

  /// Writes elements [first, first + count) in row-major order, converted to
  /// `element` (F32 or BF16), to `out`. Throws if the stored type cannot be
  /// converted.
  virtual void read(const TensorInfo &tensor, int64_t first, int64_t count,
                    package::Element element, std::byte *out) const = 0;

  /// Says that these elements will not be read again soon.
  virtual void drop(const TensorInfo &tensor, int64_t first,
                    int64_t count) const {}

  /// The whole tensor in its stored type, row-major, aligned to its elements;
  /// lives as long as the source.
  virtual const void *data(const TensorInfo &tensor) const = 0;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_WEIGHTS_TENSORSOURCE_H
