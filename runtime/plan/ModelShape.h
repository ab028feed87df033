//===- ModelShape.h - The sizes of a model ----------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes that decide how much memory and time a model needs, from a
// config.json of either published format or from a package. The compiler reads
// a config in full; a plan needs the sizes only, and works without a compiler.
//
// Values are checked: counts are positive and bounded, there is one kind for
// every layer, key-value heads divide the heads. Errors: Error, naming the file
// and the key.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_PLAN_MODELSHAPE_H
#define MMX_RUNTIME_PLAN_MODELSHAPE_H

#include "runtime/package/Package.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mmx::runtime {

struct ModelShape {
  std::string type;               ///< "minimax_text_01", ...
  std::vector<bool> softmax;      ///< one a layer; false: lightning
  int64_t vocab = 0, hidden = 0;  ///< rows and columns of the embedding
  int64_t heads = 0, kvHeads = 0; ///< kvHeads: softmax layers only
  int64_t headDim = 0;
  int64_t experts = 0; ///< 1: a dense layer without a router
  int64_t expertsPerToken = 0;
  int64_t expertWidth = 0;
  int64_t sharedWidth = 0; ///< 0: no shared expert
  int64_t maxPositions = 0;
  bool tied = false; ///< the head is the embedding

  int64_t layers() const { return softmax.size(); }
  int64_t softmaxLayers() const;
  int64_t lightningLayers() const { return layers() - softmaxLayers(); }
};

/// `path`: a checkpoint directory, a config.json or a package.
ModelShape readModelShape(const std::string &path);
/// `text`: a config.json; `name` stands for it in messages.
ModelShape parseModelShape(std::string_view text, const std::string &name);
/// The shape of what `source` was compiled from.
ModelShape packageShape(const Package &source);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_PLAN_MODELSHAPE_H
