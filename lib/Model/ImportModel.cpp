//===- ImportModel.cpp - From a checkpoint to an mmx module ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Model/ImportModel.h"

#include "JSONReader.h"
#include "PhaseBuilder.h"
#include "WeightImporter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mmx/Dialect/MMX/MMXDialect.h"
#include "mmx/Dialect/MMX/MMXOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mlir;
using namespace mmx;

Expected<ModelFiles> mmx::readModelFiles(StringRef path) {
  ModelFiles files;
  SmallString<128> configPath(path);
  if (!sys::fs::exists(path))
    return makeError(path + ": expected a checkpoint directory or a "
                            "config.json, but found no such file");
  bool isDirectory = sys::fs::is_directory(path);
  if (isDirectory) {
    sys::path::append(configPath, "config.json");
    if (!sys::fs::exists(configPath))
      return makeError(path + ": expected a checkpoint directory, but it has "
                              "no config.json");
  } else if (!path.ends_with(".json")) {
    return makeError(path + ": expected a checkpoint directory or a "
                            "config.json");
  }
  Expected<ModelConfig> config = readModelConfig(configPath, files.warnings);
  if (!config)
    return config.takeError();
  files.config = std::move(*config);
  if (isDirectory) {
    auto checkpoint = CheckpointIndex::open(path);
    if (!checkpoint)
      return checkpoint.takeError();
    files.checkpoint = std::move(*checkpoint);
  }
  if (files.config.sharedIntermediateSize > 0 &&
      files.config.sharedMode == SharedExpertMode::Softmax)
    files.warnings.push_back(
        (configPath + ": \"shared_moe_mode\" is \"softmax\": over a single "
                      "coefficient that is 1, so the routed experts have no "
                      "part in the result")
            .str());
  return std::move(files);
}

/// All elements of all weights.
static int64_t countParameters(ModuleOp module) {
  int64_t count = 0;
  for (GlobalOp global : module.getOps<GlobalOp>())
    count += cast<RankedTensorType>(global.getType()).getNumElements();
  return count;
}

/// The layers of one kind.
static Attribute listLayers(Builder &builder, const ModelConfig &config,
                            LayerKind wanted) {
  SmallVector<int64_t> list;
  for (auto [index, kind] : enumerate(config.layers))
    if (kind == wanted)
      list.push_back(static_cast<int64_t>(index));
  return builder.getDenseI64ArrayAttr(list);
}

/// What a package says of its model; keys as in the table `Model` of
/// schema/package.fbs.
static DictionaryAttr describeModel(Builder &builder, const ModelConfig &config,
                                    int64_t parameters) {
  NamedAttrList list;
  auto add = [&](StringRef name, int64_t value) {
    list.append(name, builder.getI64IntegerAttr(value));
  };
  list.append("type", builder.getStringAttr(config.modelType));
  add("vocab", config.vocabSize);
  add("hidden", config.hiddenSize);
  add("layers", config.numLayers());
  add("heads", config.numHeads);
  add("kv_heads", config.numKVHeads);
  add("head_dim", config.headDim);
  add("experts", config.numExperts);
  add("experts_per_token", config.numExpertsPerToken);
  add("page", cachePageRows);
  add("max_positions", config.maxPositions);
  list.append("lightning_layers",
              listLayers(builder, config, LayerKind::Lightning));
  list.append("softmax_layers",
              listLayers(builder, config, LayerKind::Softmax));
  list.append("stop_ids", builder.getDenseI64ArrayAttr(config.stopIds));
  add("parameters", parameters);
  return list.getDictionary(builder.getContext());
}

Expected<OwningOpRef<ModuleOp>>
mmx::importModel(MLIRContext &context, const ModelConfig &config,
                 const CheckpointIndex *checkpoint,
                 const ImportOptions &options) {
  context.loadDialect<MMXDialect, func::FuncDialect>();
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  WeightImporter weights(OpBuilder::atBlockEnd(module->getBody()), config,
                         checkpoint);
  for (StringRef phase : {"prefill", "decode"})
    module->push_back(PhaseBuilder(config, options, weights, loc).build(phase));
  if (Error error = weights.takeError())
    return std::move(error);
  Builder builder(&context);
  module->getOperation()->setAttr(
      "mmx.model", describeModel(builder, config, countParameters(*module)));
  return std::move(module);
}
