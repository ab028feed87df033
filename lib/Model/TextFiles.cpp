//===- TextFiles.cpp - The files that text needs --------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Model/TextFiles.h"

#include "JSONReader.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mmx;

Expected<std::vector<TextFile>> mmx::readTextFiles(StringRef path) {
  constexpr uint64_t maxBytes = uint64_t(1) << 28;
  StringRef folder =
      sys::fs::is_directory(path) ? path : sys::path::parent_path(path);
  std::vector<TextFile> files;
  for (StringRef name : {"config.json", "generation_config.json",
                         "tokenizer.json", "tokenizer_config.json"}) {
    SmallString<128> file(folder);
    sys::path::append(file, name);
    if (!sys::fs::exists(file))
      continue;
    auto buffer = readTextFile(file, maxBytes);
    if (!buffer)
      return buffer.takeError();
    files.push_back({name.str(), (*buffer)->getBuffer().str()});
  }
  return files;
}
