//===- CheckedTensors.h - Tensors that hold finite numbers ------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A source that passes on another one's tensors and looks at every element on
// its way: throws Error, which names the tensor and the element, at the first
// that is infinite or no number. Any number of threads, as the other one.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_WEIGHTS_CHECKEDTENSORS_H
#define MMX_RUNTIME_WEIGHTS_CHECKEDTENSORS_H

#include "runtime/weights/TensorSource.h"

#include <memory>
#include <utility>

namespace mmx::runtime {

class CheckedTensors final : public TensorSource {
public:
  explicit CheckedTensors(std::unique_ptr<TensorSource> source)
      : source(std::move(source)) {}

  const TensorInfo *find(std::string_view name) const override {
    return source->find(name);
  }
  std::string describe(std::string_view name) const override {
    return source->describe(name);
  }
  void read(const TensorInfo &tensor, int64_t first, int64_t count,
            package::Element element, std::byte *out) const override;
  void drop(const TensorInfo &tensor, int64_t first,
            int64_t count) const override {
    source->drop(tensor, first, count);
  }
  /// Types that the runtime does not convert are not looked at.
  const void *data(const TensorInfo &tensor) const override;

private:
  [[noreturn]] void refuse(const TensorInfo &tensor, int64_t element,
                           float value) const;

  std::unique_ptr<TensorSource> source;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_WEIGHTS_CHECKEDTENSORS_H
