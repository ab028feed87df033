//===- ToolVersion.h - What --version says of compiler tools ----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_TOOLVERSION_H
#define MMX_TOOLS_TOOLVERSION_H

#include "mmx/version.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

namespace mmx {

/// For llvm::cl::SetVersionPrinter.
inline void printToolVersion(llvm::raw_ostream &stream) {
  stream << "mmx " MMX_VERSION " (" MMX_REVISION "), LLVM " LLVM_VERSION_STRING
            "\n";
}

} // namespace mmx

#endif // MMX_TOOLS_TOOLVERSION_H
