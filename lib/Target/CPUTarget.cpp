//===- CPUTarget.cpp - Microarchitecture levels ---------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/CPUCodegen.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace mmx;

static CPUTarget getLevel3() {
  return {"cpu-v3",
          "x86-64-v3",
          {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"},
          8};
}

static CPUTarget getLevel4() {
  CPUTarget target = getLevel3();
  target.name = "cpu-v4";
  target.cpu = "x86-64-v4";
  for (const char *feature :
       {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
    target.features.push_back(feature);
  target.vectorLanes = 16;
  return target;
}

/// Whether this machine has all features of a level (LLVM spells "bmi1" as
/// "bmi"; the others alike).
static bool hostHas(const CPUTarget &target) {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  return llvm::all_of(target.features, [&](llvm::StringRef feature) {
    return host.lookup(feature == "bmi1" ? "bmi" : feature);
  });
}

llvm::Expected<CPUTarget> CPUTarget::get(llvm::StringRef name) {
  if (name == "cpu-v3")
    return getLevel3();
  if (name == "cpu-v4")
    return getLevel4();
  if (name != "cpu")
    return llvm::createStringError(
        "expected target cpu, cpu-v3 or cpu-v4, but got '" + name + "'");
  if (hostHas(getLevel4()))
    return getLevel4();
  if (hostHas(getLevel3()))
    return getLevel3();
  return llvm::createStringError(
      "expected a processor with AVX2 and FMA, but this one (" +
      llvm::sys::getHostCPUName() +
      ") lacks them; name a target to compile for another machine");
}
