//===- WeightImporter.cpp - Declares the weights of a model ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor names are those of the published checkpoints. Experts come in two
// forms: one matrix each (block_sparse_moe.experts.E.w1, w3, w2) or stacked,
// with w1 above w3 (mlp.experts.gate_up_proj, down_proj). Stored decay buffers
// are no weights and are never asked for.
//
//===----------------------------------------------------------------------===//

#include "WeightImporter.h"

#include "JSONReader.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;
using namespace mmx;

static std::string layerName(int64_t layer, const Twine &suffix) {
  return ("model.layers." + Twine(layer) + "." + suffix).str();
}

static std::string layerSymbol(int64_t layer, const Twine &suffix) {
  return ("layers." + Twine(layer) + "." + suffix).str();
}

static std::string printShape(ArrayRef<int64_t> shape) {
  std::string text;
  raw_string_ostream stream(text);
  stream << '[';
  interleaveComma(shape, stream);
  stream << ']';
  return text;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

bool WeightImporter::has(const Twine &tensor) const {
  return checkpoint && checkpoint->find(tensor.str());
}

void WeightImporter::fail(const Twine &message) {
  errors.push_back(message.str());
}

mlir::Type WeightImporter::check(ArrayRef<Part> parts, ArrayRef<int64_t> stored,
                                 bool publishedInF32) {
  mlir::Type f32 = builder.getF32Type(), bf16 = builder.getBF16Type();
  if (!checkpoint) {
    if (config.dtype == "float32")
      return f32;
    return publishedInF32 && config.format == ConfigFormat::Original ? f32
                                                                     : bf16;
  }
  const TensorInfo *first = nullptr;
  for (const Part &part : parts) {
    const TensorInfo *info = checkpoint->find(part.tensor);
    if (!info) {
      fail(checkpoint->getDirectory() + ": expected tensor \"" + part.tensor +
           "\" of shape " + printShape(stored) +
           ", but no file of the checkpoint has it");
      continue;
    }
    if (ArrayRef(info->shape) != stored)
      fail(info->file + ": expected tensor \"" + part.tensor + "\" of shape " +
           printShape(stored) + ", but got " + printShape(info->shape));
    if (info->element != "F32" && info->element != "BF16")
      fail(info->file + ": expected tensor \"" + part.tensor +
           "\" of type F32 or BF16, but got " + info->element);
    if (first && info->element != first->element)
      fail(info->file + ": expected tensor \"" + part.tensor +
           "\" of the type of its neighbours, " + first->element +
           ", but got " + info->element);
    first = info;
  }
  return first && first->element == "F32" ? f32 : bf16;
}

GlobalOp WeightImporter::declare(StringRef symbol, ArrayRef<int64_t> shape,
                                 ArrayRef<Part> parts, ArrayRef<int64_t> stored,
                                 bool publishedInF32) {
  GlobalOp &global = globals[symbol];
  if (global)
    return global;
  mlir::Type element = check(parts, stored, publishedInF32);
  SmallVector<Attribute> sources;
  for (const Part &part : parts)
    sources.push_back(SourceAttr::get(builder.getContext(), part.tensor,
                                      part.index, part.first, part.rows));
  global = GlobalOp::create(
      builder, NameLoc::get(builder.getStringAttr(symbol)), symbol,
      RankedTensorType::get(shape, element), builder.getArrayAttr(sources));
  return global;
}

GlobalOp WeightImporter::get(StringRef symbol, ArrayRef<int64_t> shape,
                             const Twine &tensor) {
  return declare(symbol, shape, Part{tensor.str()}, shape);
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

GlobalOp WeightImporter::getRouter(int64_t layer) {
  std::string fused = layerName(layer, "mlp.gate.weight");
  std::string name =
      has(fused) ? fused : layerName(layer, "block_sparse_moe.gate.weight");
  int64_t shape[] = {config.numExperts, config.hiddenSize};
  return declare(layerSymbol(layer, "router"), shape, Part{name}, shape,
                 /*publishedInF32=*/true);
}

/// The stack of matrix `matrix` of all experts of a layer.
GlobalOp WeightImporter::stack(StringRef symbol, int64_t layer,
                               StringRef matrix, int64_t rows, int64_t cols) {
  SmallVector<Part> parts;
  for (int64_t expert = 0; expert < config.numExperts; ++expert)
    parts.push_back(
        {layerName(layer, "block_sparse_moe.experts." + Twine(expert) + "." +
                              matrix + ".weight")});
  return declare(symbol, {config.numExperts, rows, cols}, parts, {rows, cols});
}

SwigluWeights WeightImporter::getExperts(int64_t layer) {
  int64_t experts = config.numExperts, hidden = config.hiddenSize,
          width = config.intermediateSize;
  std::string gate = layerSymbol(layer, "experts.w1"),
              up = layerSymbol(layer, "experts.w3"),
              down = layerSymbol(layer, "experts.w2");
  std::string fused = layerName(layer, "mlp.experts.gate_up_proj");
  if (!has(fused))
    return {stack(gate, layer, "w1", width, hidden),
            stack(up, layer, "w3", width, hidden),
            stack(down, layer, "w2", hidden, width)};
  SmallVector<Part> gates, ups;
  for (int64_t expert = 0; expert < experts; ++expert) {
    gates.push_back({fused, expert, 0, width});
    ups.push_back({fused, expert, width, width});
  }
  int64_t shape[] = {experts, width, hidden};
  int64_t stored[] = {experts, 2 * width, hidden};
  int64_t downShape[] = {experts, hidden, width};
  return {declare(gate, shape, gates, stored), declare(up, shape, ups, stored),
          declare(down, downShape,
                  Part{layerName(layer, "mlp.experts.down_proj")}, downShape)};
}

SwigluWeights WeightImporter::getDense(int64_t layer) {
  int64_t hidden = config.hiddenSize, width = config.intermediateSize;
  std::string prefix = layerName(layer, "block_sparse_moe.experts.0.");
  std::string names[] = {prefix + "w1.weight", prefix + "w3.weight",
                         prefix + "w2.weight"};
  if (!has(names[0])) {
    prefix = layerName(layer, "mlp.");
    names[0] = prefix + "gate_proj.weight";
    names[1] = prefix + "up_proj.weight";
    names[2] = prefix + "down_proj.weight";
  }
  return {get(layerSymbol(layer, "dense.w1"), {width, hidden}, names[0]),
          get(layerSymbol(layer, "dense.w3"), {width, hidden}, names[1]),
          get(layerSymbol(layer, "dense.w2"), {hidden, width}, names[2])};
}

/// The authors' code gives the shared expert the width of the others and
/// later code its own: a checkpoint tells which it was.
SwigluWeights WeightImporter::getShared(int64_t layer) {
  int64_t hidden = config.hiddenSize, width = config.sharedIntermediateSize;
  std::string prefix = layerName(layer, "shared_mlp.");
  if (has(prefix + "gate_proj.weight")) {
    const TensorInfo *info = checkpoint->find(prefix + "gate_proj.weight");
    if (!info->shape.empty() && info->shape[0] == config.intermediateSize)
      width = config.intermediateSize;
  }
  return {get(layerSymbol(layer, "shared.w1"), {width, hidden},
              prefix + "gate_proj.weight"),
          get(layerSymbol(layer, "shared.w3"), {width, hidden},
              prefix + "up_proj.weight"),
          get(layerSymbol(layer, "shared.w2"), {hidden, width},
              prefix + "down_proj.weight")};
}

GlobalOp WeightImporter::getCoefficient(int64_t layer) {
  int64_t shape[] = {1, config.hiddenSize};
  return declare(layerSymbol(layer, "coefficient"), shape,
                 Part{layerName(layer, "coefficient.weight")}, shape,
                 /*publishedInF32=*/true);
}

/// The first problems; a wrong config makes thousands of the same kind.
Error WeightImporter::takeError() {
  constexpr size_t shown = 8;
  if (errors.empty())
    return Error::success();
  std::string text = join(ArrayRef(errors).take_front(shown), "\n");
  if (errors.size() > shown)
    text += "\nand " + std::to_string(errors.size() - shown) +
            " more problems with tensors";
  errors.clear();
  return makeError(text);
}
