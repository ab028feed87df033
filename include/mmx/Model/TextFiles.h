//===- TextFiles.h - The files that text needs ------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a package carries of a checkpoint, so that it can chat without the
// folder that it was made from. The contents are not looked at.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_MODEL_TEXTFILES_H
#define MMX_MODEL_TEXTFILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mmx {

/// A file that turns text into ids, or ids into text.
struct TextFile {
  std::string name, bytes;
};

/// Those of config.json, generation_config.json, tokenizer.json and
/// tokenizer_config.json that are there: in the folder `path`, or beside the
/// file `path`.
llvm::Expected<std::vector<TextFile>> readTextFiles(llvm::StringRef path);

} // namespace mmx

#endif // MMX_MODEL_TEXTFILES_H
