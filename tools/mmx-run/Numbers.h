//===- Numbers.h - Lists of numbers on a command line -----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whole text or nothing: what is left over, out of range or empty is an Error
// that names the option and shows the text.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_MMXRUN_NUMBERS_H
#define MMX_TOOLS_MMXRUN_NUMBERS_H

#include <cstdint>
#include <string>
#include <vector>

namespace mmx::tool {

/// "1,2,3" to token ids, of the option --ids.
std::vector<int32_t> parseIds(const std::string &text,
                              const std::string &what = "--ids");

/// "1k,64k,1M" to tokens: k is 1024, M is 1024 k.
std::vector<int64_t> parseLengths(const std::string &text,
                                  const std::string &option);

} // namespace mmx::tool

#endif // MMX_TOOLS_MMXRUN_NUMBERS_H
