//===- FuzzModelConfig.cpp - The compiler reads a config.json -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryFile.h"

#include "mmx/Model/ModelConfig.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mmx::fuzz::MemoryFile file;
  file.set(data, size);
  std::vector<std::string> warnings;
  llvm::consumeError(mmx::readModelConfig(file.path(), warnings).takeError());
  return 0;
}
