//===- CodeText.h - Generated code as text ----------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TARGET_CODETEXT_H
#define MMX_TARGET_CODETEXT_H

namespace mmx {

/// The last two stages of a kernel that can be read.
enum class CodeText {
  LLVMIR,   ///< what LLVM's optimizer hands to its code generator
  Assembly, ///< of the machine; PTX for a GPU
};

} // namespace mmx

#endif // MMX_TARGET_CODETEXT_H
