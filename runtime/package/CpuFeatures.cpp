//===- CpuFeatures.cpp - Features of this machine -------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/package/CpuFeatures.h"

#include <fstream>
#include <sstream>

using namespace mmx::runtime;

std::set<std::string, std::less<>>
mmx::runtime::parseCpuFeatures(const std::string &text) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    // x86 says "flags", Arm says "Features".
    size_t colon = line.find(':');
    if (colon == std::string::npos ||
        !(line.starts_with("flags") || line.starts_with("Features")))
      continue;
    std::istringstream words(line.substr(colon + 1));
    std::set<std::string, std::less<>> features;
    std::string word;
    while (words >> word)
      features.insert(word);
    return features;
  }
  return {};
}

std::set<std::string, std::less<>> mmx::runtime::cpuFeatures() {
  std::ifstream file("/proc/cpuinfo");
  std::ostringstream text;
  text << file.rdbuf();
  return parseCpuFeatures(std::move(text).str());
}
