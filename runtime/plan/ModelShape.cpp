//===- ModelShape.cpp - The sizes of a model ------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/ModelShape.h"

#include "runtime/support/Error.h"
#include "runtime/support/JsonText.h"
#include "runtime/support/MappedFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

using namespace mmx;
using namespace mmx::runtime;
using nlohmann::json;
namespace fs = std::filesystem;

// Far above any model of this family; they keep products of sizes within 64
// bits (expert parameters are bounded apart).
static constexpr int64_t maxLayers = 4096, maxHeads = 1 << 14,
                         maxWidth = 1 << 20, maxExperts = 1 << 14,
                         maxVocab = 1 << 24, maxPositions = int64_t(1) << 31;
static constexpr double maxParameters = 1e15;
static constexpr uint64_t maxConfigBytes = 16 << 20;

int64_t ModelShape::softmaxLayers() const {
  return std::count(softmax.begin(), softmax.end(), true);
}

namespace {

/// The keys of a config.
class ConfigReader {
public:
  explicit ConfigReader(const json &object) : object(object) {}

  /// Null if the key is absent or null.
  const json *find(const char *key) const {
    auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }

  int64_t integer(const char *key, int64_t absent, int64_t least,
                  int64_t most) const {
    const json *value = find(key);
    return value ? checked(*value, key, least, most) : absent;
  }

  /// An integer, or an array of equal ones.
  int64_t uniform(const char *key, int64_t absent, int64_t least,
                  int64_t most) const {
    const json *value = find(key);
    if (!value || !value->is_array())
      return integer(key, absent, least, most);
    if (value->empty() || *value != json(value->size(), value->front()))
      fail("expected \"", key, "\" to be an integer, or the same for every ",
           "layer, but got ", shortJson(*value));
    return checked(value->front(), key, least, most);
  }

private:
  static int64_t checked(const json &value, const char *key, int64_t least,
                         int64_t most) {
    bool fits = value.is_number_unsigned()
                    ? value.get<uint64_t>() <= uint64_t(INT64_MAX)
                    : value.is_number_integer();
    if (!fits || value.get<int64_t>() < least || value.get<int64_t>() > most)
      fail("expected \"", key, "\" to be an integer from ", least, " to ", most,
           ", but got ", shortJson(value));
    return value.get<int64_t>();
  }

  const json &object;
};

} // namespace

/// Whether an entry of a list of layer kinds stands for softmax attention.
static std::optional<bool> isSoftmax(const json &entry) {
  if (entry == json("full_attention") || entry == json(1))
    return true;
  if (entry == json("linear_attention") || entry == json(0))
    return false;
  return std::nullopt;
}

static std::vector<bool> parseKinds(const ConfigReader &config, int64_t layers,
                                    bool transformers) {
  std::vector<bool> kinds;
  for (const char *key :
       {"layer_types", "attn_type_list", "decoder_attention_types"}) {
    const json *list = config.find(key);
    if (!list)
      continue;
    if (!list->is_array() || list->size() != uint64_t(layers))
      fail("expected \"", key,
           "\" to be an array of \"num_hidden_layers\" = ", layers,
           ", but got ", shortJson(*list));
    for (const json &entry : *list) {
      std::optional<bool> kind = isSoftmax(entry);
      if (!kind)
        fail("expected \"", key, "\" to hold 0 and 1, or \"linear_attention\" ",
             "and \"full_attention\", but got ", shortJson(entry));
      kinds.push_back(*kind);
    }
    return kinds;
  }
  if (!transformers)
    fail("expected \"attn_type_list\", \"layer_types\" or ",
         "\"decoder_attention_types\", but got none of them");
  // The default of the transformers library.
  for (int64_t layer = 0; layer < layers; ++layer)
    kinds.push_back(layer % 2 == 0);
  return kinds;
}

/// The model type under one of its names; throws for other models.
static std::string parseType(const ConfigReader &config) {
  std::string name;
  if (const json *type = config.find("model_type"); type && type->is_string())
    name = type->get<std::string>();
  const json *classes = config.find("architectures");
  if (name.empty() && classes && classes->is_array() && !classes->empty() &&
      classes->front().is_string())
    name = classes->front().get<std::string>();
  for (auto [type, spelling, className] :
       {std::array{"minimax", "MiniMax", "MiniMaxForCausalLM"},
        std::array{"minimax_text_01", "MiniMaxText01",
                   "MiniMaxText01ForCausalLM"},
        std::array{"minimax_m1", "MiniMaxM1", "MiniMaxM1ForCausalLM"}})
    if (name == type || name == spelling || name == className)
      return type;
  fail("expected \"model_type\" to be \"minimax\", \"minimax_text_01\" or ",
       "\"minimax_m1\", but got ",
       name.empty() ? "nothing" : shortJson(json(name)));
}

/// What every source of a shape must keep.
static void checkShape(const ModelShape &shape) {
  if (shape.heads % shape.kvHeads != 0)
    fail("expected ", shape.kvHeads, " key-value heads to divide ", shape.heads,
         " heads");
  if (shape.heads * shape.headDim > maxWidth)
    fail("expected heads * head_dim of at most ", maxWidth, ", but got ",
         shape.heads, " * ", shape.headDim);
  if (shape.expertsPerToken > shape.experts)
    fail("expected at most ", shape.experts, " experts a token, but got ",
         shape.expertsPerToken);
  double parameters = 3.0 * double(shape.layers()) * double(shape.experts) *
                      double(shape.hidden) * double(shape.expertWidth);
  if (parameters > maxParameters)
    fail("expected experts of at most ", maxParameters, " parameters in all, ",
         "but got ", parameters);
}

static ModelShape parseObject(const json &object) {
  if (!object.is_object())
    fail("expected an object, but got ", shortJson(object));
  ConfigReader config(object);
  ModelShape shape;
  shape.type = parseType(config);
  bool transformers = shape.type == "minimax";
  int64_t layers = config.integer("num_hidden_layers", 32, 1, maxLayers);
  shape.softmax = parseKinds(config, layers, transformers);
  shape.vocab = config.integer("vocab_size", 32000, 1, maxVocab);
  shape.hidden = config.integer("hidden_size", 4096, 1, maxWidth);
  shape.heads = config.integer("num_attention_heads", 32, 1, maxHeads);
  shape.kvHeads = config.integer("num_key_value_heads", 8, 1, maxHeads);
  if (!config.find("head_dim") && shape.hidden % shape.heads != 0)
    fail("expected \"head_dim\", since \"hidden_size\" ", shape.hidden,
         " is no multiple of ", shape.heads, " heads");
  shape.headDim =
      config.integer("head_dim", shape.hidden / shape.heads, 1, maxWidth);
  shape.expertWidth = config.integer("intermediate_size", 14336, 1, maxWidth);
  const char *expertsKey =
      config.find("num_local_experts") ? "num_local_experts" : "num_experts";
  shape.experts = config.uniform(expertsKey, 8, 1, maxExperts);
  shape.expertsPerToken =
      config.integer("num_experts_per_tok", 2, 1, maxExperts);
  if (shape.experts == 1)
    shape.expertsPerToken = 1;
  shape.sharedWidth =
      config.uniform("shared_intermediate_size", 0, 0, maxWidth);
  shape.maxPositions =
      config.integer("max_position_embeddings", 131072, 1, maxPositions);
  const json *tied = config.find("tie_word_embeddings");
  if (tied && !tied->is_boolean())
    fail("expected \"tie_word_embeddings\" to be true or false, but got ",
         shortJson(*tied));
  shape.tied = tied && tied->get<bool>();
  checkShape(shape);
  return shape;
}

ModelShape mmx::runtime::parseModelShape(std::string_view text,
                                         const std::string &name) {
  try {
    refuseDeepJson(text);
    return parseObject(json::parse(text.begin(), text.end()));
  } catch (const json::exception &error) {
    fail(name, ": not JSON: ", error.what());
  } catch (const Error &error) {
    fail(name, ": ", error.what());
  }
}

/// The extent `dimension` of the first weight whose name contains `part`:
/// layouts add to names.
static std::optional<int64_t> weightExtent(const package::Package &root,
                                           std::string_view part,
                                           uint32_t dimension) {
  for (const package::Weight *weight : *root.weights())
    if (weight->name()->string_view().find(part) != std::string_view::npos &&
        weight->shape()->size() > dimension)
      return weight->shape()->Get(dimension);
  return std::nullopt;
}

ModelShape mmx::runtime::packageShape(const Package &source) {
  const package::Model &model = *source->model();
  auto bounded = [&](const char *what, int64_t value, int64_t most) {
    if (value < 1 || value > most)
      fail(source.name(), ": expected ", what, " from 1 to ", most,
           ", but got ", value);
    return value;
  };
  ModelShape shape;
  shape.type = model.type() ? model.type()->str() : "";
  shape.softmax.assign(bounded("layers", model.layers(), maxLayers), false);
  if (model.softmax_layers())
    for (int32_t layer : *model.softmax_layers())
      shape.softmax.at(bounded("a layer", layer + int64_t(1), model.layers()) -
                       1) = true;
  shape.vocab = bounded("a vocabulary", model.vocab(), maxVocab);
  shape.hidden = bounded("a hidden size", model.hidden(), maxWidth);
  shape.heads = bounded("heads", model.heads(), maxHeads);
  shape.kvHeads = bounded("key-value heads", model.kv_heads(), maxHeads);
  shape.headDim = bounded("a head size", model.head_dim(), maxWidth);
  shape.experts = bounded("experts", model.experts(), maxExperts);
  shape.expertsPerToken =
      bounded("experts a token", model.experts_per_token(), maxExperts);
  shape.maxPositions =
      bounded("positions", model.max_positions(), maxPositions);
  std::optional<int64_t> width = weightExtent(*source, ".experts.w1", 1);
  if (!width)
    width = weightExtent(*source, ".dense.w1", 0);
  if (!width)
    fail(source.name(), ": has no weights of experts to tell their width");
  shape.expertWidth = bounded("an expert width", *width, maxWidth);
  shape.sharedWidth = weightExtent(*source, ".shared.w1", 0).value_or(0);
  shape.tied = !weightExtent(*source, "lm_head", 0);
  try {
    checkShape(shape);
  } catch (const Error &error) {
    fail(source.name(), ": ", error.what());
  }
  return shape;
}

ModelShape mmx::runtime::readModelShape(const std::string &path) {
  if (!fs::exists(path))
    fail(path, ": there is no such file or directory");
  fs::path config = path;
  if (fs::is_directory(config))
    config /= "config.json";
  else if (config.extension() != ".json")
    return packageShape(*Package::open(path));
  MappedFile file(config.string());
  std::span<const uint8_t> bytes = file.bytes();
  if (bytes.size() > maxConfigBytes)
    fail(config.string(), ": expected at most ", maxConfigBytes,
         " bytes, but got ", bytes.size());
  return parseModelShape(
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()},
      config.string());
}
