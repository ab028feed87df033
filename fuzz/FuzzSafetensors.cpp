//===- FuzzSafetensors.cpp - The runtime reads safetensors files ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryFile.h"

#include "runtime/support/Error.h"
#include "runtime/weights/Safetensors.h"

using namespace mmx::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mmx::fuzz::MemoryFile file;
  file.set(data, size);
  try {
    Safetensors tensors(file.path());
    uint64_t sum = 0;
    for (const auto &[name, tensor] : tensors.tensors())
      for (uint8_t byte : tensors.bytes(tensor))
        sum += byte;
    volatile uint64_t used = sum;
    (void)used;
  } catch (const Error &) {
  }
  return 0;
}
