//===- TextStream.cpp - Text as ids arrive --------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TextStream.h"

#include <algorithm>
#include <tuple>
#include <utility>

using namespace mmx::runtime;

size_t mmx::runtime::unfinishedBytes(std::string_view text) {
  for (size_t count = 1; count <= std::min<size_t>(3, text.size()); ++count) {
    auto byte = static_cast<unsigned char>(text[text.size() - count]);
    if (byte >= 0xc0) {
      size_t length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf8 ? 4 : 1;
      return length > count ? count : 0;
    }
    if (byte < 0x80)
      return 0;
  }
  return 0;
}

TextStream::TextStream(std::vector<std::string> stops)
    : stops(std::move(stops)) {
  std::erase_if(this->stops,
                [](const std::string &stop) { return stop.empty(); });
}

std::string TextStream::push(std::string_view bytes) {
  if (hasStopped)
    return "";
  held += bytes;
  // By their ends, so that it does not matter which parts the text came in.
  size_t firstEnd = std::string::npos, begin = 0;
  for (const std::string &stop : stops)
    if (size_t place = held.find(stop); place != std::string::npos)
      if (size_t end = place + stop.size();
          std::tie(end, place) < std::tie(firstEnd, begin)) {
        firstEnd = end;
        begin = place;
      }
  if (firstEnd != std::string::npos) {
    hasStopped = true;
    return std::exchange(held, "").substr(0, begin);
  }
  size_t keep = unfinishedBytes(held);
  for (const std::string &stop : stops)
    for (size_t count = std::min(stop.size() - 1, held.size()); count > keep;
         --count)
      if (held.ends_with(std::string_view(stop).substr(0, count)))
        keep = count;
  std::string text = held.substr(0, held.size() - keep);
  held.erase(0, text.size());
  return text;
}

std::string TextStream::finish() { return std::exchange(held, ""); }
