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

namespace mmx::runtime {

struct CompiledPackage {
  std::shared_ptr<const Package> package;
  bool fromCache;
};

/// The package for `model`, a checkpoint directory or a config.json, compiled
/// unless it is in the cache.
CompiledPackage compileCached(const CompilerLibrary &compiler,
                              const std::string &model,
                              const CompileSettings &settings);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_ENGINE_PACKAGECACHE_H
