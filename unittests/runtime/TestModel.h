//===- TestModel.h - A hand-made package and what it computes ---*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two layers over rows of width 4: layer 0 replaces each row by a decaying sum
// of the rows so far (its recurrent state), layer 1 by the sum over the rows
// in its cache. Vocabulary 10, pages of 4 rows. All values are small multiples
// of powers of two, so every order of summation gives the same float.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_UNITTESTS_RUNTIME_TESTMODEL_H
#define MMX_UNITTESTS_RUNTIME_TESTMODEL_H

#include "runtime/support/Error.h"
#include "runtime/weights/TensorSource.h"

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mmx::test {

struct TestModelOptions {
  std::string target = "cpu";
  std::vector<std::string> features;
  std::string embedSymbol = "test_embed";
  uint32_t version = 1;
  bool withObject = true; ///< else an object of four bytes, not ELF
  std::string objectFile = MMX_TEST_KERNELS;
  int64_t maxPositions = 1000;
  int64_t expertsPerToken = 0;
  uint32_t headKernel = 3;
  bool smallArena = false;
  bool badExtent = false;
  /// Kernels have the table of GPUs; by default if the target is one.
  std::optional<bool> gpu;
  uint32_t threads = 32;
  std::vector<uint32_t> cluster;
  bool programmatic = false;
  /// A tensor map of this view of the kernel "embed".
  std::optional<uint32_t> mapView;
  std::vector<uint32_t> mapBox = {4, 1};
  uint32_t mapSwizzle = 0;
  std::string ptx;
  /// Text files by name.
  std::vector<std::pair<std::string, std::string>> texts;
  /// Bytes of scratch of each kernel.
  uint64_t scratch = 64;
};

/// The bytes of the package file.
std::vector<uint8_t> makeTestPackage(const TestModelOptions &options = {});

/// Puts magic and digest before a FlatBuffer.
std::vector<uint8_t> seal(std::span<const uint8_t> flatBuffer);

/// Tensors held in memory.
class MemoryTensors final : public runtime::TensorSource {
public:
  void add(std::string name, std::vector<int64_t> shape,
           std::vector<float> values);
  const runtime::TensorInfo *find(std::string_view name) const override;
  std::string describe(std::string_view name) const override;
  void read(const runtime::TensorInfo &tensor, int64_t first, int64_t count,
            package::Element element, std::byte *out) const override;
  const void *data(const runtime::TensorInfo &tensor) const override;

private:
  std::map<std::string, std::pair<runtime::TensorInfo, std::vector<float>>,
           std::less<>>
      tensors;
};

/// The weights of the test model; row 7 of the head is zero.
MemoryTensors testWeights();

/// Logits [length, 10] of the model on `ids`, worked out directly.
std::vector<float> expectedLogits(std::span<const int32_t> ids);

/// A folder that is removed with the object.
class TemporaryDirectory {
public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  const std::filesystem::path &path() const { return directory; }
  /// Writes a file and returns its path.
  std::string write(const std::string &name, std::string_view bytes) const;

private:
  std::filesystem::path directory;
};

/// The bytes of a safetensors file.
std::string safetensorsBytes(const std::string &header, std::string_view data);

/// The message of the Error that `call` throws; "" if it throws none.
template <typename Call> std::string errorOf(Call call) {
  try {
    call();
  } catch (const runtime::Error &error) {
    return error.what();
  }
  return "";
}

} // namespace mmx::test

#endif // MMX_UNITTESTS_RUNTIME_TESTMODEL_H
