//===- MappedFile.h - A file mapped for reading -----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Owns the mapping, which lives as long as the object. Reading from several
// threads is fine. The file must not shrink meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_SUPPORT_MAPPEDFILE_H
#define MMX_RUNTIME_SUPPORT_MAPPEDFILE_H

#include <cstdint>
#include <span>
#include <string>

namespace mmx::runtime {

class MappedFile {
public:
  /// Throws if `path` is not a regular file that can be read.
  explicit MappedFile(std::string path);
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  const std::string &path() const { return filePath; }
  std::span<const uint8_t> bytes() const { return {data, size}; }

  /// Gives the memory of the pages that lie wholly inside
  /// [offset, offset + length) back; a later read fetches them again.
  void drop(uint64_t offset, uint64_t length) const;

private:
  std::string filePath;
  const uint8_t *data = nullptr;
  uint64_t size = 0;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_SUPPORT_MAPPEDFILE_H
