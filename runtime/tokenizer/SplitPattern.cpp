//===- SplitPattern.cpp - Cuts text by a regular expression ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/SplitPattern.h"

#include "runtime/support/Error.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

using namespace mmx::runtime;

static std::string messageOf(int error) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(error, text, sizeof(text));
  return reinterpret_cast<const char *>(text);
}

SplitPattern::SplitPattern(const std::string &pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code *compiled = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF, &error, &offset,
      nullptr);
  if (!compiled)
    fail("the split pattern is not understood at offset ", offset, ": ",
         messageOf(error), ": ", pattern);
  code = std::shared_ptr<void>(compiled, [](void *pointer) {
    pcre2_code_free(static_cast<pcre2_code *>(pointer));
  });
  // Without machine code matching is slower, not different.
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
}

void SplitPattern::split(
    std::string_view text,
    const std::function<void(std::string_view)> &sink) const {
  auto *pattern = static_cast<const pcre2_code *>(code.get());
  std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data *)> match(
      pcre2_match_data_create_from_pattern(pattern, nullptr),
      pcre2_match_data_free);
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    int count =
        pcre2_match(pattern, reinterpret_cast<PCRE2_SPTR>(text.data()),
                    text.size(), at, PCRE2_NOTEMPTY, match.get(), nullptr);
    if (count == PCRE2_ERROR_NOMATCH)
      break;
    if (count < 0)
      fail("splitting text failed: ", messageOf(count));
    const PCRE2_SIZE *range = pcre2_get_ovector_pointer(match.get());
    if (range[0] > done)
      sink(text.substr(done, range[0] - done));
    sink(text.substr(range[0], range[1] - range[0]));
    at = done = range[1];
  }
  if (done < text.size())
    sink(text.substr(done));
}
