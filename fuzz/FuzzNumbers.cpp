//===- FuzzNumbers.cpp - mmx-run reads lists of numbers -------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/mmx-run/Numbers.h"

#include "runtime/support/Error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  try {
    mmx::tool::parseIds(text);
  } catch (const mmx::runtime::Error &) {
  }
  try {
    mmx::tool::parseLengths(text, "--ctx");
  } catch (const mmx::runtime::Error &) {
  }
  return 0;
}
