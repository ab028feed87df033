//===- FuzzGenerationConfig.cpp - The runtime reads generation_config -----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/chat/GenerationConfig.h"
#include "runtime/support/Error.h"

#include <cstdlib>

using namespace mmx::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  try {
    GenerationConfig config = parseGenerationConfig(text, "config");
    // Negations, so that what is no number is caught, too.
    if (config.temperature && !(*config.temperature >= 0))
      std::abort();
    if (config.topP && !(*config.topP >= 0 && *config.topP <= 1))
      std::abort();
    if (config.topK && *config.topK < 0)
      std::abort();
    for (int32_t id : config.stopIds)
      if (id < 0)
        std::abort();
  } catch (const Error &) {
  }
  return 0;
}
