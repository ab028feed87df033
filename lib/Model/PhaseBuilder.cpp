//===- PhaseBuilder.cpp - Builds the function of one phase ----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PhaseBuilder.h"

#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace mmx;

static constexpr int64_t dynamic = ShapedType::kDynamic;

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static RankedTensorType withElement(Value value, Type element) {
  return cast<RankedTensorType>(value.getType()).clone(element);
}

void PhaseBuilder::setLocation(const Twine &name) {
  b.setLoc(NameLoc::get(b.getStringAttr(name)));
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// `symbols` name the dynamic extents of `shape` in order.
void PhaseBuilder::addArgument(const Twine &role, ArrayRef<int64_t> shape,
                               Type element, ArrayRef<StepSymbol> symbols) {
  SmallVector<AffineExpr> extents;
  for (int64_t size : shape) {
    if (size != dynamic) {
      extents.push_back(b.getAffineConstantExpr(size));
      continue;
    }
    extents.push_back(
        b.getAffineSymbolExpr(static_cast<unsigned>(symbols.front())));
    symbols = symbols.drop_front();
  }
  roles.push_back(role.str());
  types.push_back(RankedTensorType::get(shape, element));
  shapes.push_back(AffineMap::get(0, numStepSymbols, extents, b.getContext()));
}

void PhaseBuilder::addArguments() {
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  addArgument("ids", dynamic, i32, StepSymbol::Tokens);
  addArgument("positions", dynamic, i32, StepSymbol::Tokens);
  addArgument("starts", dynamic, i32, StepSymbol::Sequences);
  // There is one start more than there are sequences.
  shapes.back() = AffineMap::get(
      0, numStepSymbols, shapes.back().getResult(0) + 1, b.getContext());
  addArgument("slots", dynamic, i32, StepSymbol::Sequences);
  addArgument("past", dynamic, i32, StepSymbol::Sequences);
  addArgument("cache_rows", dynamic, i32, StepSymbol::Tokens);
  addArgument("pages", {dynamic, dynamic}, i32,
              {StepSymbol::Sequences, StepSymbol::PageColumns});
  addArgument("logit_rows", dynamic, i32, StepSymbol::Outputs);
  for (auto [index, kind] : enumerate(config.layers)) {
    if (kind == LayerKind::Lightning) {
      addArgument("state." + Twine(index),
                  {dynamic, config.numHeads, config.headDim, config.headDim},
                  f32, StepSymbol::Slots);
      pools.push_back(roles.back());
      continue;
    }
    for (StringRef role : {"key_cache.", "value_cache."}) {
      addArgument(role + Twine(index),
                  {dynamic, config.numKVHeads, config.headDim}, f32,
                  StepSymbol::CacheRows);
      pools.push_back(roles.back());
    }
  }
  if (options.routing && isRouted())
    for (int64_t index = 0; index < config.numLayers(); ++index)
      addArgument("routing." + Twine(index),
                  {dynamic, config.numExpertsPerToken}, i32,
                  StepSymbol::Tokens);
}

func::FuncOp PhaseBuilder::createFunction(StringRef name) {
  addArguments();
  b.clearInsertionPoint();
  auto function =
      func::FuncOp::create(b, name, b.getFunctionType(types, TypeRange()));
  function->setAttr("mmx.phase", b.getStringAttr(name));
  Block *block = function.addEntryBlock();
  for (auto [index, argument] : enumerate(block->getArguments())) {
    function.setArgAttr(index, "mmx.role", b.getStringAttr(roles[index]));
    function.setArgAttr(index, "mmx.shape", AffineMapAttr::get(shapes[index]));
    values[roles[index]] = argument;
  }
  b.setInsertionPointToStart(block);
  return function;
}

func::FuncOp PhaseBuilder::build(StringRef name) {
  func::FuncOp function = createFunction(name);
  if (is_contained(config.layers, LayerKind::Softmax)) {
    setLocation("rope");
    ropeTable = RopeTableOp::create(
        b, RankedTensorType::get({dynamic, config.rotaryDim}, b.getF32Type()),
        values["positions"], b.getF64FloatAttr(config.ropeTheta),
        b.getI64IntegerAttr(config.rotaryDim));
  }
  buildBody();
  auto results = function.getBody().front().getTerminator()->getOperandTypes();
  function.setFunctionType(b.getFunctionType(types, results));
  SmallVector<std::string> names = {"logits"};
  append_range(names, pools);
  for (size_t index = 0; index < hidden.size(); ++index)
    names.push_back("hidden." + std::to_string(index));
  for (size_t index = 0; index < routes.size(); ++index)
    names.push_back("experts." + std::to_string(index));
  for (auto [index, role] : enumerate(names))
    function.setResultAttr(index, "mmx.role", b.getStringAttr(role));
  return function;
}

void PhaseBuilder::buildBody() {
  int64_t vocab = config.vocabSize, width = config.hiddenSize;
  Type f32 = b.getF32Type();
  setLocation("embed");
  GlobalOp table =
      weights.get("embed_tokens", {vocab, width}, "model.embed_tokens.weight");
  Value h = EmbeddingOp::create(b, RankedTensorType::get({dynamic, width}, f32),
                                values["ids"], weight(table));
  for (int64_t index = 0; index < config.numLayers(); ++index) {
    if (options.keepHidden)
      hidden.push_back(h);
    h = layer(index, h);
  }
  setLocation("head");
  Value finalNorm =
      weight(weights.get("final_norm", width, "model.norm.weight"));
  if (options.keepHidden)
    hidden.push_back(norm(h, finalNorm, config.normEps));
  // Logits are wanted for few tokens, so rows are taken before the norm.
  Value rows = TakeRowsOp::create(
      b, RankedTensorType::get({dynamic, width}, f32), h, values["logit_rows"]);
  Value z = norm(rows, finalNorm, config.normEps);
  GlobalOp head =
      config.tieWordEmbeddings
          ? table
          : weights.get("lm_head", {vocab, width}, "lm_head.weight");
  returnValues(linear(z, weight(head)));
}

void PhaseBuilder::returnValues(Value logits) {
  SmallVector<Value> results = {logits};
  for (StringRef role : pools)
    results.push_back(values[role]);
  append_range(results, hidden);
  append_range(results, routes);
  func::ReturnOp::create(b, results);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

Value PhaseBuilder::layer(int64_t index, Value h) {
  bool isLightning = config.layers[index] == LayerKind::Lightning;
  setLocation("layer." + Twine(index) + ".attention");
  Value x = norm(
      h,
      weight(index, "input_norm", config.hiddenSize, "input_layernorm.weight"),
      config.normEps);
  Value a = isLightning ? lightning(index, x) : softmax(index, x);
  Value h1 = residual(config.postNorm ? x : h, a,
                      isLightning ? config.lightning : config.softmax);
  setLocation("layer." + Twine(index) + ".experts");
  Value y = norm(h1,
                 weight(index, "post_attention_norm", config.hiddenSize,
                        "post_attention_layernorm.weight"),
                 config.normEps);
  Value m = feedForward(index, y);
  return residual(config.postNorm ? y : h1, m, config.mlp);
}

Value PhaseBuilder::lightning(int64_t index, Value x) {
  int64_t heads = config.numHeads, width = heads * config.headDim,
          in = config.hiddenSize;
  Value input = matrixInput(x);
  Value qkv = linear(input, weight(index, "qkv_proj", {3 * width, in},
                                   "self_attn.qkv_proj.weight"));
  qkv = matrixInput(SiluOp::create(b, qkv.getType(), qkv));
  auto type = RankedTensorType::get(
      {dynamic, heads, config.headDim},
      cast<RankedTensorType>(qkv.getType()).getElementType());
  auto split = SplitHeadsOp::create(b, TypeRange{type, type, type}, qkv);
  Value &state = pool("state." + Twine(index));
  auto decay = DecayAttr::get(b.getContext(), index, config.numLayers(), heads,
                              config.format == ConfigFormat::Original
                                  ? SlopeRule::Interpolated
                                  : SlopeRule::Power,
                              /*first=*/0);
  auto attention = LightningAttentionOp::create(
      b, type, state.getType(), split.getResult(0), split.getResult(1),
      split.getResult(2), state, values["starts"], values["slots"], decay);
  state = attention.getNewStates();
  Value o = MergeHeadsOp::create(
      b, RankedTensorType::get({dynamic, width}, type.getElementType()),
      attention.getResult());
  o = norm(convert(o, b.getF32Type()),
           weight(index, "attention_norm", width, "self_attn.norm.weight"),
           attentionNormEps);
  Value gate = linear(input, weight(index, "output_gate", {width, in},
                                    "self_attn.output_gate.weight"));
  Value u = GateOp::create(b, o.getType(), o, gate);
  return linear(matrixInput(u), weight(index, "out_proj", {in, width},
                                       "self_attn.out_proj.weight"));
}

Value PhaseBuilder::softmax(int64_t index, Value x) {
  int64_t dim = config.headDim, in = config.hiddenSize, heads = config.numHeads,
          kvHeads = config.numKVHeads;
  Value input = matrixInput(x);
  auto project = [&](StringRef symbol, int64_t count, bool rotate) {
    Value row =
        linear(input, weight(index, symbol, {count * dim, in},
                             ("self_attn." + symbol + ".weight").str()));
    Value split = splitHeads(row, count);
    if (rotate)
      split = RopeOp::create(b, split.getType(), split, ropeTable);
    return matrixInput(split);
  };
  Value q = project("q_proj", heads, /*rotate=*/true);
  Value k = project("k_proj", kvHeads, /*rotate=*/true);
  Value v = project("v_proj", kvHeads, /*rotate=*/false);
  Value &keys = pool("key_cache." + Twine(index));
  Value &valueRows = pool("value_cache." + Twine(index));
  double scale = std::pow(static_cast<double>(dim), -0.5);
  auto attention = SoftmaxAttentionOp::create(
      b, q.getType(), keys.getType(), valueRows.getType(), q, k, v, keys,
      valueRows, values["starts"], values["past"], values["cache_rows"],
      values["pages"], b.getF64FloatAttr(scale),
      b.getI64IntegerAttr(cachePageRows));
  keys = attention.getNewKeyCache();
  valueRows = attention.getNewValueCache();
  Type element = cast<RankedTensorType>(q.getType()).getElementType();
  Value o = MergeHeadsOp::create(
      b, RankedTensorType::get({dynamic, heads * dim}, element),
      attention.getResult());
  return linear(
      o, weight(index, "o_proj", {in, heads * dim}, "self_attn.o_proj.weight"));
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

/// A softmax over the single coefficient is 1: the routed experts then have no
/// part in the result.
static bool onlyShared(const ModelConfig &config) {
  return config.sharedIntermediateSize > 0 &&
         config.sharedMode == SharedExpertMode::Softmax;
}

bool PhaseBuilder::isRouted() const {
  return config.numExperts > 1 && !onlyShared(config);
}

Value PhaseBuilder::feedForward(int64_t index, Value y) {
  Value input = matrixInput(y);
  bool hasShared = config.sharedIntermediateSize > 0;
  if (onlyShared(config))
    return swiglu(weights.getShared(index), input);
  Value routed = isRouted() ? experts(index, y, input)
                            : swiglu(weights.getDense(index), input);
  if (!hasShared)
    return routed;
  Value shared = swiglu(weights.getShared(index), input);
  Value coefficient = linear(y, weight(weights.getCoefficient(index)));
  return MixOp::create(b, routed.getType(), routed, shared, coefficient);
}

/// Routing reads the unrounded row: near ties are decided in f32.
Value PhaseBuilder::experts(int64_t index, Value y, Value input) {
  int64_t topK = config.numExpertsPerToken;
  Value logits = linear(y, weight(weights.getRouter(index)));
  Value given =
      options.routing ? values["routing." + std::to_string(index)] : Value();
  auto route =
      RouteOp::create(b, RankedTensorType::get({dynamic, topK}, b.getF32Type()),
                      RankedTensorType::get({dynamic, topK}, b.getI32Type()),
                      logits, given, b.getI64IntegerAttr(topK));
  if (options.routing)
    routes.push_back(route.getExperts());
  SwigluWeights stacks = weights.getExperts(index);
  return ExpertsOp::create(b, y.getType(), input, route.getWeights(),
                           route.getExperts(), weight(stacks.gate),
                           weight(stacks.up), weight(stacks.down));
}

Value PhaseBuilder::swiglu(const SwigluWeights &matrices, Value input) {
  Value gate = linear(input, weight(matrices.gate));
  Value up = linear(input, weight(matrices.up));
  Value hiddenRow = SwigluOp::create(b, gate.getType(), gate, up);
  return linear(matrixInput(hiddenRow), weight(matrices.down));
}

//===----------------------------------------------------------------------===//
// Single ops
//===----------------------------------------------------------------------===//

Value PhaseBuilder::weight(GlobalOp global) {
  return WeightOp::create(b, global.getType(), global.getSymName());
}

/// Weight `tensor` of a layer.
Value PhaseBuilder::weight(int64_t layer, StringRef symbol,
                           ArrayRef<int64_t> shape, StringRef tensor) {
  return weight(weights.get(("layers." + Twine(layer) + "." + symbol).str(),
                            shape,
                            "model.layers." + Twine(layer) + "." + tensor));
}

Value PhaseBuilder::linear(Value input, Value weight) {
  auto type =
      RankedTensorType::get({dynamic, getShape(weight)[0]}, b.getF32Type());
  return LinearOp::create(b, type, input, weight);
}

Value PhaseBuilder::norm(Value input, Value weight, double eps) {
  return RMSNormOp::create(b, input.getType(), input, weight,
                           b.getF64FloatAttr(eps));
}

Value PhaseBuilder::residual(Value input, Value branch,
                             const ResidualFactors &factors) {
  return ResidualOp::create(b, input.getType(), input, branch,
                            b.getF64FloatAttr(factors.alpha),
                            b.getF64FloatAttr(factors.beta));
}

Value PhaseBuilder::convert(Value input, Type element) {
  RankedTensorType type = withElement(input, element);
  return type == input.getType() ? input : ConvertOp::create(b, type, input);
}

Value PhaseBuilder::matrixInput(Value input) {
  return options.bf16Inputs ? convert(input, b.getBF16Type()) : input;
}

Value PhaseBuilder::splitHeads(Value input, int64_t heads) {
  auto type =
      RankedTensorType::get({dynamic, heads, config.headDim}, b.getF32Type());
  return SplitHeadsOp::create(b, type, input).getResult(0);
}
