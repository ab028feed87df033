//===- MappedFile.cpp - A file mapped for reading -------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/MappedFile.h"

#include "runtime/support/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace mmx::runtime;

MappedFile::MappedFile(std::string path) : filePath(std::move(path)) {
  // Opening a pipe must not wait for a writer.
  int file = ::open(filePath.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    fail(filePath, ": cannot open: ", std::strerror(errno));
  struct stat status;
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(file);
    fail(filePath, ": expected a regular file");
  }
  size = status.st_size;
  void *mapping = nullptr;
  if (size != 0)
    mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  int error = errno;
  ::close(file);
  if (mapping == MAP_FAILED)
    fail(filePath, ": cannot map ", size, " bytes: ", std::strerror(error));
  data = static_cast<const uint8_t *>(mapping);
}

MappedFile::~MappedFile() {
  if (data)
    ::munmap(const_cast<uint8_t *>(data), size);
}

void MappedFile::drop(uint64_t offset, uint64_t length) const {
  static const uint64_t page = ::sysconf(_SC_PAGESIZE);
  uint64_t begin = (offset + page - 1) / page * page;
  uint64_t end = (offset + length) / page * page;
  if (begin < end && end <= size)
    ::madvise(const_cast<uint8_t *>(data) + begin, end - begin, MADV_DONTNEED);
}
