//===- Package.h - A package that has been checked --------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Package owns the bytes of a file and is immutable: share it between
// threads by shared_ptr. One exists only if the magic, the SHA-256 digest, the
// FlatBuffers structure and all rules of PackageChecks.h hold; otherwise the
// functions that make it throw and name the first rule broken.
//
// A package is code. The digest guards against damage, not against malice: run
// only packages from a source that you trust.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_PACKAGE_PACKAGE_H
#define MMX_RUNTIME_PACKAGE_PACKAGE_H

#include "mmx/package_generated.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmx::runtime {

class Package {
public:
  static constexpr char magic[9] = "MMXPKG01";
  /// Magic, digest and zeros before the FlatBuffer.
  static constexpr size_t headerSize = 64;

  /// Reads the file `path`.
  static std::shared_ptr<const Package> open(const std::string &path);
  /// Takes the bytes of a file; `name` stands for it in messages.
  static std::shared_ptr<const Package> parse(std::vector<uint8_t> bytes,
                                              std::string name);

  const package::Package &operator*() const { return *root; }
  const package::Package *operator->() const { return root; }
  const std::string &name() const { return sourceName; }
  /// The program called `name`, or null.
  const package::Program *program(std::string_view name) const;
  /// The text file called `name`, if the package carries it.
  std::optional<std::string_view> text(std::string_view name) const;

private:
  Package() = default;

  std::vector<uint8_t> storage;
  std::string sourceName;
  const package::Package *root = nullptr;
};

/// The header that makes a FlatBuffer a file.
std::vector<uint8_t> packageHeader(std::span<const uint8_t> flatBuffer);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_PACKAGE_PACKAGE_H
