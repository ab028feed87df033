//===- ImportModel.h - From a checkpoint to an mmx module -------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The forward pass of docs/spec.md as a module of mmx ops: the functions
// @prefill and @decode, which compute the same on steps of different kinds,
// and one mmx.global for every weight.
//
// A function takes the tables of a step (ids, positions, starts, slots, past,
// cache_rows, pages, logit_rows) and then, layer by layer, the pools it
// updates (state.L, or key_cache.L and value_cache.L); it returns the logits,
// the new pools in the same order and, if asked for, hidden.0 to hidden.N and
// the experts of each layer.
// Argument attributes: `mmx.role` and `mmx.shape`, the extents in the symbols
// of a step. Result attribute: `mmx.role`. The module attribute `mmx.model`
// holds what a package says of its model.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_MODEL_IMPORTMODEL_H
#define MMX_MODEL_IMPORTMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mmx/Model/CheckpointIndex.h"
#include "mmx/Model/ModelConfig.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace mmx {

/// Rows of a page of the key and value caches.
inline constexpr int64_t cachePageRows = 64;

/// A model as it stands on the disk.
struct ModelFiles {
  ModelConfig config;
  std::optional<CheckpointIndex> checkpoint;
  std::vector<std::string> warnings;
};

/// Reads `path`: a directory with a config.json and perhaps safetensors files,
/// or a config.json alone.
llvm::Expected<ModelFiles> readModelFiles(llvm::StringRef path);

struct ImportOptions {
  /// What matrix products read is rounded to bf16. Everything else, and all
  /// accumulation, is f32 in any case.
  bool bf16Inputs = false;
  /// The functions also return the input of every layer and the output of
  /// the final norm for all tokens.
  bool keepHidden = false;
  /// The functions take the experts of every token, "routing.L" (negative: the
  /// router chooses), and return those it went to, "experts.L".
  bool routing = false;
};

/// Builds the module. With a checkpoint the types of the weights are those
/// stored, and a tensor that is missing or has another shape is an error;
/// without one they follow the published files of the format.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext &context, const ModelConfig &config,
            const CheckpointIndex *checkpoint, const ImportOptions &options);

} // namespace mmx

#endif // MMX_MODEL_IMPORTMODEL_H
