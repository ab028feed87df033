//===- FuzzTextStream.cpp - Answers arrive in parts of any length ---------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Up to the second zero there are two stop texts; the rest is an answer, whose
// parts have the lengths that its own bytes say.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TextStream.h"

#include <cstdint>
#include <cstdlib>

using namespace mmx::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view rest(reinterpret_cast<const char *>(data), size);
  std::vector<std::string> stops;
  for (int i = 0; i < 2; ++i) {
    size_t end = std::min(rest.find('\0'), rest.size());
    stops.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  size_t firstEnd = std::string_view::npos, expected = rest.size();
  for (const std::string &stop : stops)
    if (size_t place = rest.find(stop);
        !stop.empty() && place != std::string_view::npos)
      if (size_t end = place + stop.size();
          end < firstEnd || (end == firstEnd && place < expected)) {
        firstEnd = end;
        expected = place;
      }

  TextStream stream(stops);
  std::string written;
  for (size_t begin = 0; begin < rest.size();) {
    size_t length = 1 + (static_cast<uint8_t>(rest[begin]) & 7);
    written += stream.push(rest.substr(begin, length));
    begin += length;
  }
  written += stream.finish();
  if (written != rest.substr(0, expected) ||
      stream.stopped() != (firstEnd != std::string_view::npos))
    std::abort();
  return 0;
}
