//===- Numbers.cpp - Lists of numbers on a command line -------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"

#include "runtime/support/Error.h"

#include <charconv>

std::vector<int32_t> mmx::tool::parseIds(const std::string &text,
                                         const std::string &what) {
  std::vector<int32_t> ids;
  std::istringstream items(text);
  std::string item;
  while (std::getline(items, item, ',')) {
    size_t used = 0;
    long long id = -1;
    try {
      id = std::stoll(item, &used);
    } catch (const std::exception &) {
      used = 0;
    }
    if (used == 0 || used != item.size() || id < 0 || id > INT32_MAX)
      mmx::runtime::fail(what,
                         ": expected numbers with commas between them, "
                         "but got \"",
                         item, "\" in \"", text, "\"");
    ids.push_back(int32_t(id));
  }
  return ids;
}

std::vector<int64_t> mmx::tool::parseLengths(const std::string &text,
                                             const std::string &option) {
  std::vector<int64_t> lengths;
  std::istringstream items(text);
  std::string item;
  while (std::getline(items, item, ',')) {
    int64_t value = 0;
    auto [end, error] =
        std::from_chars(item.data(), item.data() + item.size(), value);
    std::string_view unit(end, item.data() + item.size() - end);
    int64_t scale = unit == "k" ? 1 << 10 : unit == "M" ? 1 << 20 : 1;
    bool known = unit.empty() || scale > 1;
    if (error != std::errc() || !known || value < 1 ||
        value > INT32_MAX / scale)
      mmx::runtime::fail(option,
                         ": expected numbers such as 512, 16k or 1M "
                         "with commas between them, but got \"",
                         item, "\" in \"", text, "\"");
    lengths.push_back(value * scale);
  }
  return lengths;
}
