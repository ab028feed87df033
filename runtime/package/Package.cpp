//===- Package.cpp - A package that has been checked ----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/package/Package.h"

#include "runtime/package/PackageChecks.h"
#include "runtime/support/Error.h"
#include "runtime/support/MappedFile.h"
#include "runtime/support/Sha256.h"

#include <algorithm>
#include <cstring>

using namespace mmx;
using namespace mmx::runtime;

/// Checks magic, digest and zeros.
static void checkHeader(std::span<const uint8_t> bytes) {
  if (bytes.size() < Package::headerSize)
    fail("expected at least ", Package::headerSize, " bytes, but got ",
         bytes.size());
  if (std::memcmp(bytes.data(), Package::magic, 8) != 0)
    fail("not a package: expected the magic \"", Package::magic, "\"");
  std::span<const uint8_t> body = bytes.subspan(Package::headerSize);
  Sha256::Digest expected = Sha256::of(body), got;
  std::copy_n(bytes.begin() + 8, got.size(), got.begin());
  if (got != expected)
    fail("damaged: the header says SHA-256 ", toHex(got),
         ", but the contents have ", toHex(expected));
  for (uint8_t byte : bytes.subspan(40, 24))
    if (byte != 0)
      fail("damaged: bytes 40 to 63 are not zero");
}

std::shared_ptr<const Package> Package::parse(std::vector<uint8_t> bytes,
                                              std::string name) {
  std::shared_ptr<Package> result(new Package);
  result->storage = std::move(bytes);
  result->sourceName = std::move(name);
  std::span<const uint8_t> all = result->storage;
  try {
    checkHeader(all);
    std::span<const uint8_t> body = all.subspan(headerSize);
    // A model of 80 layers has some 10,000 launches with five tables each.
    flatbuffers::Verifier verifier(body.data(), body.size(), /*max_depth=*/16,
                                   /*max_tables=*/10'000'000);
    if (body.size() >= (uint64_t(1) << 31) ||
        !package::VerifyPackageBuffer(verifier))
      fail("not a well-formed package FlatBuffer");
    result->root = package::GetPackage(body.data());
    checkPackage(*result->root);
  } catch (const Error &error) {
    fail(result->sourceName, ": ", error.what());
  }
  return result;
}

std::shared_ptr<const Package> Package::open(const std::string &path) {
  MappedFile file(path);
  std::span<const uint8_t> bytes = file.bytes();
  return parse({bytes.begin(), bytes.end()}, path);
}

const package::Program *Package::program(std::string_view name) const {
  for (const package::Program *program : *root->programs())
    if (program->name()->string_view() == name)
      return program;
  return nullptr;
}

std::optional<std::string_view> Package::text(std::string_view name) const {
  if (root->texts())
    for (const package::TextFile *file : *root->texts())
      if (file->name()->string_view() == name)
        return std::string_view(
            reinterpret_cast<const char *>(file->data()->data()),
            file->data()->size());
  return std::nullopt;
}

std::vector<uint8_t>
mmx::runtime::packageHeader(std::span<const uint8_t> flatBuffer) {
  std::vector<uint8_t> header(Package::headerSize);
  std::memcpy(header.data(), Package::magic, 8);
  Sha256::Digest digest = Sha256::of(flatBuffer);
  std::copy(digest.begin(), digest.end(), header.begin() + 8);
  return header;
}
