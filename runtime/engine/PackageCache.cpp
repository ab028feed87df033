//===- PackageCache.cpp - Compiled packages kept on disk ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/PackageCache.h"

#include "runtime/package/CpuFeatures.h"
#include "runtime/support/Error.h"
#include "runtime/support/MappedFile.h"
#include "runtime/support/Sha256.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace mmx;
using namespace mmx::runtime;
namespace fs = std::filesystem;

static fs::path cacheDirectory() {
  if (const char *path = std::getenv("MMX_CACHE_DIR"))
    return path;
  if (const char *path = std::getenv("XDG_CACHE_HOME"))
    return fs::path(path) / "mmx";
  if (const char *path = std::getenv("HOME"))
    return fs::path(path) / ".cache" / "mmx";
  return {};
}

/// Length and text, so that no two lists of fields read the same.
static void addField(Sha256 &hash, std::string_view field) {
  hash.update(concat(field.size(), ":"));
  hash.update(field);
}

static void addFile(Sha256 &hash, const fs::path &path, bool headerOnly) {
  std::error_code error;
  addField(hash, path.filename().string());
  if (!fs::exists(path, error))
    return;
  MappedFile file(path.string());
  std::span<const uint8_t> bytes = file.bytes();
  if (headerOnly && bytes.size() >= 8) {
    uint64_t length;
    std::memcpy(&length, bytes.data(), 8);
    bytes = bytes.first(std::min<uint64_t>(bytes.size() - 8, length) + 8);
  }
  addField(hash, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

static std::string cacheKey(const CompilerLibrary &compiler,
                            const std::string &model,
                            const CompileSettings &settings) {
  Sha256 hash;
  addField(hash,
           concat(settings.target, " ", settings.dtype, " ", settings.block,
                  " ", settings.keepHidden, " ", settings.routing));
  for (const std::string &feature : cpuFeatures())
    addField(hash, feature);
  std::error_code error;
  addField(hash, compiler.path());
  addField(hash, concat(fs::file_size(compiler.path(), error)));
  addField(hash, concat(fs::last_write_time(compiler.path(), error)
                            .time_since_epoch()
                            .count()));
  addField(hash, compiler.describeTools(settings.target));
  if (!fs::is_directory(model)) {
    addFile(hash, model, false);
    return toHex(hash.finish());
  }
  addFile(hash, fs::path(model) / "config.json", false);
  addFile(hash, fs::path(model) / "generation_config.json", false);
  std::vector<fs::path> shards;
  for (const fs::directory_entry &entry : fs::directory_iterator(model))
    if (entry.path().extension() == ".safetensors" &&
        entry.path().filename() != "golden.safetensors")
      shards.push_back(entry.path());
  std::sort(shards.begin(), shards.end());
  for (const fs::path &shard : shards)
    addFile(hash, shard, /*headerOnly=*/true);
  return toHex(hash.finish());
}

static void store(const fs::path &path, std::span<const uint8_t> bytes) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  fs::path partial = path;
  partial += concat(".", ::getpid());
  std::ofstream file(partial, std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  file.close();
  if (file)
    fs::rename(partial, path, error);
  if (!file || error)
    fs::remove(partial, error);
}

CompiledPackage mmx::runtime::compileCached(const CompilerLibrary &compiler,
                                            const std::string &model,
                                            const CompileSettings &settings) {
  fs::path directory = cacheDirectory(), path;
  std::error_code error;
  if (!directory.empty()) {
    path = directory / (cacheKey(compiler, model, settings) + ".mmx");
    if (fs::exists(path, error)) {
      try {
        return {Package::open(path.string()), true};
      } catch (const Error &) {
        fs::remove(path, error);
      }
    }
  }
  std::vector<uint8_t> bytes = compiler.compile(model, settings);
  if (!path.empty())
    store(path, bytes);
  return {Package::parse(std::move(bytes), model), false};
}

std::string mmx::runtime::packageCacheDirectory() {
  return cacheDirectory().string();
}

static CacheEntry describeEntry(const fs::directory_entry &file) {
  CacheEntry entry = {file.path().string(), 0, 0, "", ""};
  std::error_code error;
  entry.bytes = file.file_size(error);
  auto age = fs::file_time_type::clock::now() - file.last_write_time(error);
  entry.ageSeconds = std::chrono::duration<double>(age).count();
  // A process that was interrupted leaves HASH.mmx.PID.
  if (file.path().extension() != ".mmx") {
    constexpr double writing = 60;
    if (entry.ageSeconds > writing)
      entry.problem = "was not written to its end";
    return entry;
  }
  try {
    std::shared_ptr<const Package> package = Package::open(entry.path);
    const package::Model &model = *(*package)->model();
    entry.summary =
        concat((*package)->target()->str(), ", ",
               model.type() ? model.type()->str() : "", ", ", model.layers(),
               " layers, ", model.parameters(), " parameters");
  } catch (const Error &failure) {
    entry.problem = failure.what();
  }
  return entry;
}

std::vector<CacheEntry> mmx::runtime::listPackageCache() {
  std::vector<CacheEntry> entries;
  std::error_code error;
  for (const fs::directory_entry &file :
       fs::directory_iterator(cacheDirectory(), error))
    if (file.is_regular_file(error) &&
        file.path().filename().string().find(".mmx") != std::string::npos)
      entries.push_back(describeEntry(file));
  std::ranges::sort(entries, {}, &CacheEntry::path);
  return entries;
}

void mmx::runtime::removeFromPackageCache(std::span<const CacheEntry> entries) {
  for (const CacheEntry &entry : entries) {
    std::error_code error;
    fs::remove(entry.path, error);
    if (error)
      fail(entry.path, ": cannot be removed: ", error.message());
  }
}
