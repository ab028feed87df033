//===- GenerationConfig.h - How a model is meant to be sampled --*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generation_config.json of a checkpoint. A pure function; Error for values
// that cannot be meant, naming the file and the key. Keys that are not known
// are ignored, and null is the same as no key.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_CHAT_GENERATIONCONFIG_H
#define MMX_RUNTIME_CHAT_GENERATIONCONFIG_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mmx::runtime {

struct GenerationConfig {
  bool sample = false;               ///< do_sample: else the best id is taken
  std::optional<double> temperature; ///< 0 to 100
  std::optional<int64_t> topK;       ///< 0: all
  std::optional<double> topP;        ///< 0 to 1
  std::vector<int32_t> stopIds;      ///< eos_token_id: one or a list
};

/// `file` names the text in messages.
GenerationConfig parseGenerationConfig(std::string_view text,
                                       const std::string &file);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_CHAT_GENERATIONCONFIG_H
