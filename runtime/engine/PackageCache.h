//===- PackageCache.h - Compiled packages kept on disk ----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packages are kept under MMX_CACHE_DIR, else $XDG_CACHE_HOME/mmx, else
// ~/.cache/mmx, each named by the SHA-256 of all it depends on: the settings,
// the features of this machine, the compiler's file (path, size, time), the
// model's config.json and generation_config.json, and the headers of its
// weight files. Files are written under another name and then renamed, so
// processes may share the folder. A cache that cannot be written is not an
// error; a damaged entry is compiled again.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_ENGINE_PACKAGECACHE_H
#define MMX_RUNTIME_ENGINE_PACKAGECACHE_H

#include "runtime/engine/CompilerLibrary.h"
#include "runtime/package/Package.h"

#include <span>
#include <string>
#include <vector>

namespace mmx::runtime {

struct CompiledPackage {
  std::shared_ptr<const Package> package;
  bool fromCache;
};

/// A file of the cache.
struct CacheEntry {
  std::string path;
  uint64_t bytes;
  double ageSeconds;   ///< since it was written
  std::string problem; ///< why it cannot be used; empty if it can
  std::string summary; ///< target and model; empty if it cannot be used
};

/// The folder of the cache; empty if none is to be used.
std::string packageCacheDirectory();
/// All packages in the cache by name, each opened and checked.
std::vector<CacheEntry> listPackageCache();
/// Removes `entries`; throws where one cannot be removed.
void removeFromPackageCache(std::span<const CacheEntry> entries);

/// The package for `model`, a checkpoint directory or a config.json, compiled
/// unless it is in the cache.
CompiledPackage compileCached(const CompilerLibrary &compiler,
                              const std::string &model,
                              const CompileSettings &settings);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_ENGINE_PACKAGECACHE_H
