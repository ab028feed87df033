//===- WeightImporter.h - Declares the weights of a model -------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_MODEL_WEIGHTIMPORTER_H
#define MMX_LIB_MODEL_WEIGHTIMPORTER_H

#include "mlir/IR/Builders.h"
#include "mmx/Dialect/MMX/MMXOps.h"
#include "mmx/Model/CheckpointIndex.h"
#include "mmx/Model/ModelConfig.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mmx {

/// The three matrices of an expert or of a dense layer, or the stacks of them.
struct SwigluWeights {
  GlobalOp gate, up, down;
};

/// Declares an mmx.global at its first use and finds it again at later ones.
/// Problems are collected; `takeError` has all of them.
class WeightImporter {
public:
  /// Globals are inserted where `builder` stands.
  WeightImporter(mlir::OpBuilder builder, const ModelConfig &config,
                 const CheckpointIndex *checkpoint)
      : builder(builder), config(config), checkpoint(checkpoint) {}

  /// Weight `symbol` is checkpoint tensor `tensor`.
  GlobalOp get(llvm::StringRef symbol, llvm::ArrayRef<int64_t> shape,
               const llvm::Twine &tensor);

  /// The router of `layer`: [experts, hidden], f32 in the authors' files.
  GlobalOp getRouter(int64_t layer);
  /// The stacked experts of `layer`.
  SwigluWeights getExperts(int64_t layer);
  /// The one expert of `layer`, without the leading dimension.
  SwigluWeights getDense(int64_t layer);
  /// The shared expert of `layer`, and the row that its coefficient is the
  /// product with: [1, hidden].
  SwigluWeights getShared(int64_t layer);
  GlobalOp getCoefficient(int64_t layer);

  llvm::Error takeError();

private:
  /// A tensor of the checkpoint, and what of it is meant.
  struct Part {
    std::string tensor;
    int64_t index = -1, first = 0, rows = 0;
  };

  /// Declares `symbol`, made of `parts` that are checked to have shape
  /// `stored` in the checkpoint. `publishedInF32` is for models without one.
  GlobalOp declare(llvm::StringRef symbol, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<Part> parts, llvm::ArrayRef<int64_t> stored,
                   bool publishedInF32 = false);
  /// The element type of `parts`, after checking their shapes.
  mlir::Type check(llvm::ArrayRef<Part> parts, llvm::ArrayRef<int64_t> stored,
                   bool publishedInF32);
  GlobalOp stack(llvm::StringRef symbol, int64_t layer, llvm::StringRef matrix,
                 int64_t rows, int64_t cols);
  bool has(const llvm::Twine &tensor) const;
  void fail(const llvm::Twine &message);

  mlir::OpBuilder builder;
  const ModelConfig &config;
  const CheckpointIndex *checkpoint;
  llvm::StringMap<GlobalOp> globals;
  std::vector<std::string> errors;
};

} // namespace mmx

#endif // MMX_LIB_MODEL_WEIGHTIMPORTER_H
