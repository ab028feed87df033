//===- FuzzShardIndex.cpp - The runtime reads the index of shards ---------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Error.h"
#include "runtime/weights/Checkpoint.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace mmx::runtime;
namespace fs = std::filesystem;

/// A folder with one shard that holds the tensor "a".
static fs::path makeFolder() {
  char pattern[] = "/tmp/mmx-fuzz-XXXXXX";
  if (!::mkdtemp(pattern))
    std::abort();
  std::string header =
      R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})";
  uint64_t length = header.size();
  std::ofstream shard(fs::path(pattern) / "a.safetensors", std::ios::binary);
  shard.write(reinterpret_cast<const char *>(&length), 8);
  shard << header << "abcd";
  return pattern;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fs::path folder = makeFolder();
  std::ofstream index(folder / "model.safetensors.index.json",
                      std::ios::binary);
  index.write(reinterpret_cast<const char *>(data), size);
  index.close();
  try {
    Checkpoint checkpoint(folder.string());
  } catch (const Error &) {
  }
  return 0;
}
