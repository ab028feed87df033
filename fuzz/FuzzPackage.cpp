//===- FuzzPackage.cpp - The runtime reads packages -----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/package/Expression.h"
#include "runtime/package/Package.h"
#include "runtime/plan/ModelShape.h"
#include "runtime/support/Error.h"
#include "runtime/weights/WeightLoader.h"

using namespace mmx;
using namespace mmx::runtime;

/// What a program asks of a package before it runs it.
static void use(const Package &package) {
  for (const package::Weight *weight : *package->weights())
    weightBytes(*weight);
  packageShape(package);
}

static void parse(std::vector<uint8_t> bytes) {
  try {
    use(*Package::parse(std::move(bytes), "fuzz"));
  } catch (const Error &) {
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // As a file, and as what stands behind a header with the right digest.
  std::vector<uint8_t> bytes(data, data + size);
  std::vector<uint8_t> whole = packageHeader(bytes);
  whole.insert(whole.end(), bytes.begin(), bytes.end());
  parse(std::move(bytes));
  parse(std::move(whole));
  return 0;
}
