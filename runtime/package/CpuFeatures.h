//===- CpuFeatures.h - Features of this machine -----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pure functions; safe from any thread.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_PACKAGE_CPUFEATURES_H
#define MMX_RUNTIME_PACKAGE_CPUFEATURES_H

#include <set>
#include <string>

namespace mmx::runtime {

/// The flags of the first processor in text of the form of /proc/cpuinfo.
std::set<std::string, std::less<>> parseCpuFeatures(const std::string &text);

/// The flags of this machine.
std::set<std::string, std::less<>> cpuFeatures();

} // namespace mmx::runtime

#endif // MMX_RUNTIME_PACKAGE_CPUFEATURES_H
