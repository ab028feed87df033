//===- Targets.cpp - Machines that kernels are chosen for -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Transforms/Targets.h"

using namespace mmx;

static constexpr int64_t kib = 1024;
static constexpr int64_t gib = 1024 * 1024 * kib;

static constexpr Target targets[] = {
    {"cpu", 1, 1024 * kib, 512, 64.0e9, 12.0e9, 16 * gib, 0.0},
    {"h20", 78, 227 * kib, 256 * kib, 148.0e12, 4.0e12, 96 * gib, 450.0e9},
    {"h800", 132, 227 * kib, 256 * kib, 989.0e12, 3.35e12, 80 * gib, 200.0e9},
    {"h100", 132, 227 * kib, 256 * kib, 989.0e12, 3.35e12, 80 * gib, 450.0e9},
    {"h200", 132, 227 * kib, 256 * kib, 989.0e12, 4.8e12, 141 * gib, 450.0e9},
};

const Target *mmx::findTarget(llvm::StringRef name) {
  for (const Target &target : targets)
    if (target.name == name)
      return &target;
  return nullptr;
}
