//===- CheckpointIndex.h - Names, types and shapes of a checkpoint -*- C++
//-*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the headers of safetensors files say. The tensors themselves are never
// read: the compiler only needs to know which ones exist.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_MODEL_CHECKPOINTINDEX_H
#define MMX_MODEL_CHECKPOINTINDEX_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mmx {

struct TensorInfo {
  std::string element; ///< as safetensors spells it: "F32", "BF16", ...
  llvm::SmallVector<int64_t, 4> shape;
  std::string file;
};

class CheckpointIndex {
public:
  /// Reads the headers of model.safetensors, or of the shards that
  /// model.safetensors.index.json names, in `directory`. Nothing if neither
  /// file exists. Every header is checked against the length of its file.
  static llvm::Expected<std::optional<CheckpointIndex>>
  open(llvm::StringRef directory);

  /// Null if the checkpoint has no such tensor.
  const TensorInfo *find(llvm::StringRef name) const;

  llvm::StringRef getDirectory() const { return directory; }

private:
  llvm::Error readIndex(llvm::StringRef indexFile);
  llvm::Error readHeader(llvm::StringRef file);

  std::string directory;
  llvm::StringMap<TensorInfo> tensors;
};

} // namespace mmx

#endif // MMX_MODEL_CHECKPOINTINDEX_H
