//===- LinkSharedObject.cpp - lld as a library ----------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/CPUCodegen.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mmx;

/// A temporary file that is removed when the object dies.
static llvm::Expected<std::unique_ptr<llvm::FileRemover>>
makeTemporary(llvm::StringRef suffix, llvm::SmallString<128> &path, int &fd) {
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("mmx", suffix, fd, path))
    return llvm::createStringError(error, "cannot make a temporary file: " +
                                              error.message());
  return std::make_unique<llvm::FileRemover>(path);
}

llvm::Expected<std::vector<uint8_t>>
mmx::linkSharedObject(llvm::ArrayRef<std::vector<uint8_t>> objects) {
  std::vector<std::unique_ptr<llvm::FileRemover>> removers;
  std::vector<std::string> paths;
  for (const std::vector<uint8_t> &object : objects) {
    llvm::SmallString<128> path;
    int fd;
    auto remover = makeTemporary("o", path, fd);
    if (!remover)
      return remover.takeError();
    removers.push_back(std::move(*remover));
    llvm::raw_fd_ostream stream(fd, /*shouldClose=*/true);
    stream.write(reinterpret_cast<const char *>(object.data()), object.size());
    stream.close();
    if (stream.has_error()) {
      std::error_code error = stream.error();
      stream.clear_error();
      return llvm::createStringError(error, "cannot write " + path.str() +
                                                ": " + error.message());
    }
    paths.push_back(path.str().str());
  }
  llvm::SmallString<128> output;
  int fd;
  auto remover = makeTemporary("so", output, fd);
  if (!remover)
    return remover.takeError();
  llvm::sys::fs::closeFile(fd);

  // Kernels call nothing but, at most, memcpy and its kin: those are found in
  // the process that loads the object.
  std::vector<const char *> args = {
      "ld.lld",           "-shared", "--build-id=none",
      "--hash-style=gnu", "-z",      "noexecstack",
      "--threads=1",      "-o",      output.c_str()};
  for (const std::string &path : paths)
    args.push_back(path.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  lld::Result result =
      lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return llvm::createStringError("cannot link kernels: " + messages);
  auto buffer = llvm::MemoryBuffer::getFile(output);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), "cannot read " + output);
  return std::vector<uint8_t>((*buffer)->getBufferStart(),
                              (*buffer)->getBufferEnd());
}
