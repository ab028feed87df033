//===- PackageSeed.cpp - Writes the seed of the package target ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: fuzz-package-seed FOLDER. Two packages, for a CPU and for a GPU,
// without code and without the header that holds the digest.
//
//===----------------------------------------------------------------------===//

#include "runtime/package/Package.h"
#include "unittests/runtime/TestModel.h"

#include <fstream>

using namespace mmx;

static void write(const std::string &path, const test::TestModelOptions &from) {
  std::vector<uint8_t> bytes = test::makeTestPackage(from);
  std::ofstream file(path, std::ios::binary);
  size_t header = runtime::Package::headerSize;
  file.write(reinterpret_cast<const char *>(bytes.data()) + header,
             bytes.size() - header);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  std::string folder = argv[1];
  test::TestModelOptions options;
  options.withObject = false;
  write(folder + "/cpu", options);
  options.target = "h200";
  options.ptx = ".version 8.0";
  options.mapView = 0;
  options.cluster = {1, 1, 1};
  write(folder + "/gpu", options);
  return 0;
}
