//===- MemoryFile.h - Bytes under the name of a file ------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For parsers that open files: a file without a disk. Errors end the program.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_FUZZ_MEMORYFILE_H
#define MMX_FUZZ_MEMORYFILE_H

#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace mmx::fuzz {

/// Holds the bytes given last; its path stays the same.
class MemoryFile {
public:
  MemoryFile() : file(::memfd_create("fuzz", 0)) {
    if (file < 0)
      std::abort();
  }
  ~MemoryFile() { ::close(file); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  void set(const void *data, size_t size) {
    if (::ftruncate(file, 0) != 0 ||
        ::pwrite(file, data, size, 0) != ssize_t(size))
      std::abort();
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file); }

private:
  int file;
};

} // namespace mmx::fuzz

#endif // MMX_FUZZ_MEMORYFILE_H
