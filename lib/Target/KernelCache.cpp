//===- KernelCache.cpp - Generated code by content ------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mmx;

std::string mmx::hashKernel(Operation *kernel, StringRef salt) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << salt << LLVM_VERSION_STRING;
  kernel->print(stream, OpPrintingFlags().useLocalScope());
  return hashBytes(llvm::arrayRefFromStringRef(text));
}

std::string mmx::hashBytes(ArrayRef<uint8_t> bytes) {
  return llvm::toHex(llvm::SHA256::hash(bytes), /*LowerCase=*/true);
}

static SmallString<128> getPath(StringRef directory, StringRef name) {
  SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  return path;
}

std::optional<std::vector<uint8_t>> mmx::readCacheEntry(StringRef directory,
                                                        StringRef name) {
  if (directory.empty())
    return std::nullopt;
  auto buffer = llvm::MemoryBuffer::getFile(getPath(directory, name));
  if (!buffer)
    return std::nullopt;
  return std::vector<uint8_t>((*buffer)->getBufferStart(),
                              (*buffer)->getBufferEnd());
}

/// Written aside and renamed, so that nobody reads half a file.
void mmx::writeCacheEntry(StringRef directory, StringRef name,
                          ArrayRef<uint8_t> bytes) {
  if (directory.empty())
    return;
  llvm::sys::fs::create_directories(directory);
  SmallString<128> path = getPath(directory, name), temporary;
  int fd;
  if (llvm::sys::fs::createUniqueFile(path + "-%%%%%%", fd, temporary))
    return;
  llvm::raw_fd_ostream stream(fd, /*shouldClose=*/true);
  stream.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  stream.close();
  bool failed = stream.has_error();
  stream.clear_error();
  if (failed || llvm::sys::fs::rename(temporary, path))
    llvm::sys::fs::remove(temporary);
}
