//===- FuzzCheckpointIndex.cpp - The compiler reads safetensors headers ---===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Model/CheckpointIndex.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

static fs::path makeFolder() {
  char pattern[] = "/tmp/mmx-fuzz-XXXXXX";
  if (!::mkdtemp(pattern))
    std::abort();
  return pattern;
}

/// The first byte says which of the two files the rest is.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fs::path folder = makeFolder();
  if (size == 0)
    return 0;
  fs::path path = folder / (data[0] == 1 ? "model.safetensors.index.json"
                                         : "model.safetensors");
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(data + 1), size - 1);
  file.close();
  llvm::consumeError(mmx::CheckpointIndex::open(folder.string()).takeError());
  fs::remove(path);
  return 0;
}
