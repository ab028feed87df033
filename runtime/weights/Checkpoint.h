//===- Checkpoint.h - The safetensors files of a model ----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens every shard at once and checks the index against them: a file it names
// that is missing and a tensor that is not where the index says are errors.
// Shards may be numbered from anything; only the index counts. Immutable
// afterwards.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_WEIGHTS_CHECKPOINT_H
#define MMX_RUNTIME_WEIGHTS_CHECKPOINT_H

#include "runtime/weights/Safetensors.h"

#include <memory>
#include <mutex>

namespace mmx::runtime {

class Checkpoint final : public TensorSource {
public:
  /// `directory` holds model.safetensors.index.json and its shards, or
  /// model.safetensors.
  explicit Checkpoint(const std::string &directory);

  const TensorInfo *find(std::string_view name) const override;
  std::string describe(std::string_view name) const override;
  void read(const TensorInfo &tensor, int64_t first, int64_t count,
            package::Element element, std::byte *out) const override;
  void drop(const TensorInfo &tensor, int64_t first,
            int64_t count) const override;
  const void *data(const TensorInfo &tensor) const override;

  /// The files, for a digest of what they describe.
  const std::vector<std::unique_ptr<Safetensors>> &files() const {
    return shards;
  }

private:
  struct Place {
    const Safetensors *file;
    const Safetensors::Tensor *tensor;
  };
  void openIndex(const std::string &directory, const std::string &indexPath);
  const Place &place(const TensorInfo &tensor) const;

  std::string directory;
  std::vector<std::unique_ptr<Safetensors>> shards;
  std::map<std::string, Place, std::less<>> places;
  /// Copies of tensors that stand misaligned in their file.
  mutable std::mutex copiesMutex;
  mutable std::map<const TensorInfo *, std::vector<std::max_align_t>> copies;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_WEIGHTS_CHECKPOINT_H
