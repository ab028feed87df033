//===- Cache.cpp - Looks after compiled packages --------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "runtime/engine/PackageCache.h"
#include "runtime/support/Error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>

using namespace mmx::runtime;
using namespace mmx::tool;
using nlohmann::json;

CLI::App *mmx::tool::addCache(CLI::App &app, CacheOptions &options) {
  CLI::App *cache = app.add_subcommand(
      "cache", "compiled packages: list them, verify (and remove the damaged "
               "ones), or clear");
  cache->add_option("ACTION", options.action, "list, verify or clear")
      ->required()
      ->check(CLI::IsMember({"list", "verify", "clear"}));
  cache->add_flag("--json", options.json, "answer in JSON");
  return cache;
}

/// "3 d", "2 h", "5 min", "12 s".
static std::string ageText(double seconds) {
  int64_t age = std::max<int64_t>(0, seconds);
  return age >= 86400  ? concat(age / 86400, " d")
         : age >= 3600 ? concat(age / 3600, " h")
         : age >= 60   ? concat(age / 60, " min")
                       : concat(age, " s");
}

static void print(const std::vector<CacheEntry> &entries, const char *done,
                  bool asJson) {
  uint64_t bytes = 0;
  json list = json::array();
  for (const CacheEntry &entry : entries) {
    bytes += entry.bytes;
    list.push_back({{"path", entry.path},
                    {"bytes", entry.bytes},
                    {"age_s", entry.ageSeconds},
                    {"problem", entry.problem},
                    {"summary", entry.summary}});
    if (!asJson)
      std::cout
          << std::filesystem::path(entry.path).filename().string().substr(0, 16)
          << "  " << entry.bytes << " bytes, " << ageText(entry.ageSeconds)
          << " old, "
          << (entry.problem.empty() ? entry.summary
                                    : "damaged: " + entry.problem)
          << "\n";
  }
  if (asJson)
    std::cout << json{{"directory", packageCacheDirectory()},
                      {"done", done},
                      {"entries", list},
                      {"bytes", bytes}}
                     .dump(2)
              << "\n";
  else
    std::cout << packageCacheDirectory() << ": " << entries.size()
              << " packages, " << bytes << " bytes" << done << "\n";
}

int mmx::tool::cache(const CacheOptions &options) {
  std::vector<CacheEntry> entries = listPackageCache();
  if (options.action == "list") {
    print(entries, "", options.json);
    return 0;
  }
  bool clears = options.action == "clear";
  if (!clears)
    std::erase_if(entries,
                  [](const CacheEntry &e) { return e.problem.empty(); });
  removeFromPackageCache(entries);
  print(entries, clears ? " removed" : " damaged and removed", options.json);
  return clears || entries.empty() ? 0 : 1;
}
