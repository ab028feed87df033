//===- GoldenCheckpoint.h - Tensors of a golden checkpoint ------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_UNITTESTS_COMPILER_GOLDENCHECKPOINT_H
#define MMX_UNITTESTS_COMPILER_GOLDENCHECKPOINT_H

#include "compiler_api.h"
#include <map>
#include <string>
#include <vector>

/// All tensors of the safetensors files in a folder of test/golden: the
/// weights, and what golden.safetensors expects. Files are trusted.
class GoldenCheckpoint {
public:
  struct Tensor {
    std::string element;
    std::vector<int64_t> shape;
    std::vector<char> bytes;
  };

  explicit GoldenCheckpoint(const std::string &name);

  const std::string &getPath() const { return path; }
  bool has(const std::string &name) const { return tensors.count(name); }
  std::vector<float> getFloats(const std::string &name) const;
  std::vector<int32_t> getInts(const std::string &name) const;

  /// For mmxReferenceOpen; `context` is the checkpoint.
  static int fetch(void *context, const char *name, MmxTensor *out);

private:
  void readFile(const std::string &file);

  std::string path;
  std::map<std::string, Tensor> tensors;
};

#endif // MMX_UNITTESTS_COMPILER_GOLDENCHECKPOINT_H
