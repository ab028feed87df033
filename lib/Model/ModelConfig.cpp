//===- ModelConfig.cpp - What a config.json says of a model ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Model/ModelConfig.h"

#include "JSONReader.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace llvm;
using namespace mmx;

namespace {

// Bounds on what a file may ask for, far above any model of this family. They
// keep products of sizes within 64 bits and the module at a sane length.
constexpr int64_t maxLayers = 4096;
constexpr int64_t maxHeads = 1 << 14;
constexpr int64_t maxWidth = 1 << 20;
constexpr int64_t maxExperts = 1 << 14;
constexpr int64_t maxExpertsOfAllLayers = 1 << 18;
constexpr double maxExpertParameters = 1e15;
constexpr int64_t maxVocab = 1 << 24;
// As much as a package may say.
constexpr int64_t maxContext = int64_t(1) << 30;
// The code that routes has a part for each choice.
constexpr int64_t maxChoices = 32;
constexpr uint64_t maxConfigBytes = 16 << 20;

// The published vocabulary, whose files miss two keys that matter.
constexpr int64_t publishedVocab = 200064;
constexpr int64_t publishedHidden = 6144;
constexpr int64_t publishedRotaryDim = 64;
constexpr int64_t publishedStopId = 200020;

class ConfigParser {
public:
  ConfigParser(const json::Object &object, StringRef file)
      : reader(object, file), file(file) {}

  Expected<ModelConfig> parse();
  std::vector<std::string> takeWarnings() { return reader.takeWarnings(); }

private:
  void parseFormat();
  void refuseUnsupported();
  void parseSizes();
  void parseHeads();
  void parseRope();
  void parseResiduals();
  void parseExperts();
  void parseStopIds();
  std::vector<LayerKind> parseLayers(int64_t count);
  std::vector<LayerKind> parseLayerTypes(const json::Array &array);
  std::vector<LayerKind> parseLayerNumbers(StringRef key);
  double factor(StringRef original, StringRef transformers);

  ObjectReader reader;
  std::string file;
  ModelConfig config;
};

} // namespace

//===----------------------------------------------------------------------===//
// Format
//===----------------------------------------------------------------------===//

/// The canonical spelling of a model type or class name; empty if unknown.
static StringRef getModelType(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Cases({"minimax", "MiniMax", "MiniMaxForCausalLM"}, "minimax")
      .Cases({"minimax_text_01", "MiniMaxText01", "MiniMaxText01ForCausalLM"},
             "minimax_text_01")
      .Cases({"minimax_m1", "MiniMaxM1", "MiniMaxM1ForCausalLM"}, "minimax_m1")
      .Default("");
}

void ConfigParser::parseFormat() {
  std::string name = reader.string("model_type", "");
  if (name.empty()) {
    const json::Value *value = reader.find("architectures");
    const json::Array *list = value ? value->getAsArray() : nullptr;
    if (list && !list->empty() && list->front().getAsString())
      name = list->front().getAsString()->str();
  }
  config.modelType = getModelType(name).str();
  if (config.modelType.empty()) {
    reader.failWith("expected \"model_type\" to be \"minimax\", "
                    "\"minimax_text_01\" or \"minimax_m1\", but got " +
                    (name.empty() ? "nothing" : "\"" + name + "\""));
    return;
  }
  config.format = config.modelType == "minimax" ? ConfigFormat::Transformers
                                                : ConfigFormat::Original;
}

/// Keys that change what is computed in ways that are not implemented.
void ConfigParser::refuseUnsupported() {
  for (StringRef key :
       {"rope_scaling", "sliding_window", "quantization_config"})
    if (reader.find(key))
      reader.fail(key, "null (it is not supported)");
  if (std::string act = reader.string("hidden_act", "silu"); act != "silu")
    reader.fail("hidden_act", "\"silu\" (others are not supported)");
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

void ConfigParser::parseSizes() {
  config.vocabSize = reader.integer("vocab_size", 32000, 1, maxVocab);
  config.hiddenSize = reader.integer("hidden_size", 4096, 1, maxWidth);
  config.maxPositions =
      reader.integer("max_position_embeddings", 131072, 1, maxContext);
  config.normEps = reader.number("rms_norm_eps", 1e-5, 0.0, 1.0);
  config.tieWordEmbeddings = reader.boolean("tie_word_embeddings", false);
  StringRef blockKey = reader.find("block_size") ? "block_size" : "block";
  config.block = reader.integer(blockKey, 256, 1, 1 << 16);
  StringRef dtypeKey = reader.find("dtype") ? "dtype" : "torch_dtype";
  config.dtype = reader.string(dtypeKey, "");
  if (!config.dtype.empty() && config.dtype != "float32" &&
      config.dtype != "bfloat16")
    reader.fail(dtypeKey, "\"float32\" or \"bfloat16\"");
  constexpr int64_t wrong = 0;
  int64_t count = reader.integer("num_hidden_layers",
                                 reader.find("num_hidden_layers") ? wrong : 32,
                                 1, maxLayers);
  if (count != wrong)
    config.layers = parseLayers(count);
}

void ConfigParser::parseHeads() {
  config.numHeads = reader.integer("num_attention_heads", 32, 1, maxHeads);
  config.numKVHeads = reader.integer("num_key_value_heads", 8, 1, maxHeads);
  if (config.numHeads % config.numKVHeads != 0)
    reader.failWith("expected \"num_key_value_heads\" to divide "
                    "\"num_attention_heads\", but got " +
                    Twine(config.numKVHeads) + " and " +
                    Twine(config.numHeads));
  if (reader.find("head_dim")) {
    config.headDim = reader.integer("head_dim", 0, 1, maxWidth);
    if (config.numHeads * config.headDim > maxWidth)
      reader.failWith("expected \"num_attention_heads\" * \"head_dim\" of at "
                      "most " +
                      Twine(maxWidth) + ", but got " + Twine(config.numHeads) +
                      " * " + Twine(config.headDim));
    return;
  }
  if (config.hiddenSize % config.numHeads != 0) {
    reader.failWith("expected \"head_dim\", since \"hidden_size\" " +
                    Twine(config.hiddenSize) + " is no multiple of " +
                    Twine(config.numHeads) + " heads");
    return;
  }
  config.headDim = config.hiddenSize / config.numHeads;
  if (config.format == ConfigFormat::Original)
    reader.warn("\"head_dim\" is missing, " + Twine(config.headDim) +
                " = hidden_size / num_attention_heads is assumed");
}

void ConfigParser::parseRope() {
  config.ropeTheta = reader.number("rope_theta", 1e6, 1.0, 1e30);
  double fraction = reader.number("partial_rotary_factor", 0.0, 0.0, 1.0);
  if (const json::Value *value = reader.find("rope_parameters")) {
    const json::Object *object = value->getAsObject();
    if (!object) {
      reader.fail("rope_parameters", "an object");
      return;
    }
    ObjectReader rope(*object, file);
    std::string type = rope.string("rope_type", "default");
    if (type != "default")
      rope.fail("rope_type", "\"default\" (scaling is not supported)");
    config.ropeTheta = rope.number("rope_theta", config.ropeTheta, 1.0, 1e30);
    fraction = rope.number("partial_rotary_factor", fraction, 0.0, 1.0);
    reader.take(rope);
  }
  bool published = config.hiddenSize == publishedHidden &&
                   config.vocabSize == publishedVocab;
  if (reader.find("rotary_dim")) {
    config.rotaryDim = reader.integer("rotary_dim", 2, 1, maxWidth);
  } else if (fraction > 0) {
    config.rotaryDim = std::llround(fraction * double(config.headDim));
  } else if (published) {
    config.rotaryDim = publishedRotaryDim;
    reader.warn("\"rotary_dim\" is missing, the published model's " +
                Twine(publishedRotaryDim) + " is assumed");
  } else {
    config.rotaryDim = config.headDim;
    if (config.format == ConfigFormat::Original)
      reader.warn("\"rotary_dim\" is missing, the whole head of " +
                  Twine(config.headDim) + " is rotated");
  }
  if (config.rotaryDim % 2 != 0 || config.rotaryDim < 2 ||
      config.rotaryDim > config.headDim)
    reader.failWith("expected an even rotary width from 2 to \"head_dim\" " +
                    Twine(config.headDim) + ", but got " +
                    Twine(config.rotaryDim));
}

//===----------------------------------------------------------------------===//
// Layer kinds
//===----------------------------------------------------------------------===//

std::vector<LayerKind> ConfigParser::parseLayerTypes(const json::Array &array) {
  std::vector<LayerKind> kinds;
  for (auto [index, element] : enumerate(array)) {
    StringRef name = element.getAsString().value_or("");
    if (name != "linear_attention" && name != "full_attention") {
      reader.failWith("expected \"linear_attention\" or \"full_attention\" in "
                      "\"layer_types\", but got " +
                      describe(element) + " at index " + Twine(index));
      return {};
    }
    kinds.push_back(name == "linear_attention" ? LayerKind::Lightning
                                               : LayerKind::Softmax);
  }
  return kinds;
}

std::vector<LayerKind> ConfigParser::parseLayerNumbers(StringRef key) {
  std::vector<LayerKind> kinds;
  for (int64_t number : reader.integers(key, 0, 1))
    kinds.push_back(number == 0 ? LayerKind::Lightning : LayerKind::Softmax);
  return kinds;
}

/// The first key present decides; a second one must agree.
std::vector<LayerKind> ConfigParser::parseLayers(int64_t count) {
  std::vector<LayerKind> result;
  StringRef source;
  for (StringRef key :
       {"layer_types", "attn_type_list", "decoder_attention_types"}) {
    const json::Value *value = reader.find(key);
    if (!value)
      continue;
    const json::Array *array = value->getAsArray();
    if (!array || array->size() != static_cast<uint64_t>(count)) {
      reader.fail(key, "an array of \"num_hidden_layers\" = " + Twine(count));
      return {};
    }
    std::vector<LayerKind> kinds =
        key == "layer_types" ? parseLayerTypes(*array) : parseLayerNumbers(key);
    if (kinds.empty())
      return {};
    if (source.empty())
      result = std::move(kinds);
    else if (kinds != result)
      reader.failWith("expected \"" + source + "\" and \"" + key +
                      "\" to agree, but got different layer kinds");
    if (source.empty())
      source = key;
  }
  if (!source.empty())
    return result;
  if (config.format == ConfigFormat::Original) {
    reader.failWith("expected \"attn_type_list\", \"layer_types\" or "
                    "\"decoder_attention_types\", but got none of them");
    return {};
  }
  reader.warn("\"layer_types\" is missing, softmax attention is assumed on "
              "even layers and lightning attention on odd ones");
  for (int64_t layer = 0; layer < count; ++layer)
    result.push_back(layer % 2 == 0 ? LayerKind::Softmax
                                    : LayerKind::Lightning);
  return result;
}

//===----------------------------------------------------------------------===//
// Residuals and experts
//===----------------------------------------------------------------------===//

/// A residual factor, under the name of either format.
double ConfigParser::factor(StringRef original, StringRef transformers) {
  constexpr double bound = 1e6;
  double first = reader.number(original, 1.0, -bound, bound);
  double second = reader.number(transformers, 1.0, -bound, bound);
  if (!reader.find(original))
    return second;
  if (reader.find(transformers) && first != second)
    reader.failWith("expected \"" + original + "\" and \"" + transformers +
                    "\" to agree, but got different numbers");
  return first;
}

void ConfigParser::parseResiduals() {
  bool transformers = config.format == ConfigFormat::Transformers;
  config.postNorm = reader.boolean("postnorm", transformers);
  if (!transformers && !reader.find("postnorm"))
    reader.warn("\"postnorm\" is missing, false is assumed as in the authors' "
                "code; the published models need true");
  if (transformers && !config.postNorm)
    reader.fail("postnorm", "true (model_type \"minimax\" implies it)");
  config.softmax = {
      factor("layernorm_full_attention_alpha", "full_attn_alpha_factor"),
      factor("layernorm_full_attention_beta", "full_attn_beta_factor")};
  config.lightning = {
      factor("layernorm_linear_attention_alpha", "linear_attn_alpha_factor"),
      factor("layernorm_linear_attention_beta", "linear_attn_beta_factor")};
  config.mlp = {factor("layernorm_mlp_alpha", "mlp_alpha_factor"),
                factor("layernorm_mlp_beta", "mlp_beta_factor")};
}

void ConfigParser::parseExperts() {
  config.intermediateSize =
      reader.integer("intermediate_size", 14336, 1, maxWidth);
  StringRef key =
      reader.find("num_local_experts") ? "num_local_experts" : "num_experts";
  config.numExperts = reader.uniformInteger(key, 8, 1, maxExperts);
  config.numExpertsPerToken =
      reader.integer("num_experts_per_tok", 2, 1, maxChoices);
  if (config.numExperts == 1)
    config.numExpertsPerToken = 1;
  if (config.numExpertsPerToken > config.numExperts)
    reader.failWith("expected \"num_experts_per_tok\" of at most \"" + key +
                    "\" = " + Twine(config.numExperts) + ", but got " +
                    Twine(config.numExpertsPerToken));
  if (config.numLayers() * config.numExperts > maxExpertsOfAllLayers)
    reader.failWith("expected at most " + Twine(maxExpertsOfAllLayers) +
                    " experts in all layers, but got " +
                    Twine(config.numLayers()) + " * " +
                    Twine(config.numExperts));
  double parameters = 3.0 * double(config.numLayers()) *
                      double(config.numExperts) * double(config.hiddenSize) *
                      double(config.intermediateSize);
  if (parameters > maxExpertParameters)
    reader.failWith(formatv("expected experts of at most {0:e0} parameters in "
                            "all, but got {1:e1}",
                            maxExpertParameters, parameters)
                        .str());
  config.sharedIntermediateSize =
      reader.uniformInteger("shared_intermediate_size", 0, 0, maxWidth);
  std::string mode = reader.string("shared_moe_mode", "sigmoid");
  if (mode != "sigmoid" && mode != "softmax")
    reader.fail("shared_moe_mode", "\"sigmoid\" or \"softmax\"");
  if (mode == "softmax")
    config.sharedMode = SharedExpertMode::Softmax;
}

/// The generation config decides; config.json is only asked for vocabularies
/// other than the published one, for which it is known to be wrong.
void ConfigParser::parseStopIds() {
  SmallString<128> path(sys::path::parent_path(file));
  sys::path::append(path, "generation_config.json");
  if (sys::fs::exists(path)) {
    Expected<json::Value> value = readJSONFile(path, maxConfigBytes);
    const json::Object *object = value ? value->getAsObject() : nullptr;
    if (!value) {
      reader.failWith(toString(value.takeError()));
      return;
    }
    if (!object) {
      reader.failWith(path + ": expected an object");
      return;
    }
    ObjectReader generation(*object, path);
    config.stopIds =
        generation.integers("eos_token_id", 0, config.vocabSize - 1);
    reader.take(generation);
    if (!config.stopIds.empty())
      return;
  }
  if (config.vocabSize == publishedVocab)
    config.stopIds = {publishedStopId};
  else
    config.stopIds = reader.integers("eos_token_id", 0, config.vocabSize - 1);
}

Expected<ModelConfig> ConfigParser::parse() {
  parseFormat();
  // Without a known type the other keys have no meaning to complain about.
  if (Error error = reader.takeError())
    return std::move(error);
  refuseUnsupported();
  parseSizes();
  parseHeads();
  if (config.headDim > 0)
    parseRope();
  parseResiduals();
  parseExperts();
  parseStopIds();
  if (Error error = reader.takeError())
    return std::move(error);
  return std::move(config);
}

Expected<ModelConfig> mmx::readModelConfig(StringRef path,
                                           std::vector<std::string> &warnings) {
  Expected<json::Value> value = readJSONFile(path, maxConfigBytes);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return makeError(path + ": expected an object, but got " +
                     describe(*value));
  ConfigParser parser(*object, path);
  Expected<ModelConfig> config = parser.parse();
  for (std::string &warning : parser.takeWarnings())
    warnings.push_back(std::move(warning));
  return config;
}
