//===- Plan.cpp - Memory and time of a model on GPUs ----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Plan.h"

#include "runtime/support/Error.h"

#include <algorithm>
#include <cmath>

using namespace mmx;
using namespace mmx::runtime;

/// Rows of a page of the caches.
static constexpr int64_t pageRows = 64;
/// Tokens of a lightning block.
static constexpr int64_t lightningBlock = 64;
/// What the driver, its contexts and code take of a GPU.
static constexpr int64_t reservedBytes = gibibyte;

static int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

const char *mmx::runtime::nameOf(ExpertWeights weights) {
  static constexpr const char *names[] = {"bf16", "int8", "int4"};
  return names[size_t(weights)];
}

//===----------------------------------------------------------------------===//
// Parameters of the whole model
//===----------------------------------------------------------------------===//

namespace {

/// Numbers of weights, in one layer unless said otherwise.
struct Parameters {
  explicit Parameters(const ModelShape &shape);

  int64_t vocabulary; ///< embedding, and head
  int64_t lightning;  ///< matrices of lightning attention
  int64_t softmax;    ///< matrices of softmax attention
  int64_t expert;     ///< one expert
  int64_t router;     ///< kept in f32
  int64_t shared;     ///< the shared expert and its coefficient
  int64_t blockNorms; ///< the two norms of a layer
  int64_t outputNorm; ///< on the output of lightning attention
  int64_t finalNorm;  ///< of the model
};

} // namespace

Parameters::Parameters(const ModelShape &shape) {
  int64_t hidden = shape.hidden, width = shape.heads * shape.headDim;
  int64_t kvWidth = shape.kvHeads * shape.headDim;
  vocabulary = shape.vocab * hidden;
  // qkv, output gate, output.
  lightning = 3 * width * hidden + width * hidden + hidden * width;
  softmax = width * hidden + 2 * kvWidth * hidden + hidden * width;
  expert = 3 * hidden * shape.expertWidth;
  router = shape.experts > 1 ? shape.experts * hidden : 0;
  shared = shape.sharedWidth > 0 ? 3 * hidden * shape.sharedWidth + hidden : 0;
  blockNorms = 2 * hidden;
  outputNorm = width;
  finalNorm = hidden;
}

/// Weights that every token meets, without embedding, head and norms.
static int64_t activeMatrices(const ModelShape &shape, const Parameters &p) {
  return shape.lightningLayers() * p.lightning +
         shape.softmaxLayers() * p.softmax +
         shape.layers() *
             (shape.expertsPerToken * p.expert + p.router + p.shared);
}

static int64_t allNorms(const ModelShape &shape, const Parameters &p) {
  return shape.layers() * p.blockNorms +
         shape.lightningLayers() * p.outputNorm + p.finalNorm;
}

/// Bytes of `count` experts whose width is cut `parts` ways: one part.
static int64_t expertBytes(const ModelShape &shape, ExpertWeights weights,
                           int64_t count, int64_t parts) {
  int64_t width = shape.expertWidth / parts, hidden = shape.hidden;
  int64_t numbers = 3 * hidden * width;
  switch (weights) {
  case ExpertWeights::BF16:
    return count * numbers * 2;
  case ExpertWeights::Int8: // w1 and w3 have `width` rows, w2 has `hidden`
    return count * (numbers + (2 * width + hidden) * 4);
  case ExpertWeights::Int4: {
    int64_t groups =
        2 * width * ceilDivide(hidden, 128) + hidden * ceilDivide(width, 128);
    return count * (ceilDivide(numbers, 2) + groups * 2);
  }
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static void expectRange(const char *option, int64_t value, int64_t least,
                        int64_t most) {
  if (value < least || value > most)
    fail(option, ": expected a number from ", least, " to ", most, ", but got ",
         value);
}

/// How many ways the width of an expert is cut.
static int64_t widthParts(const PlanOptions &o) { return o.tp * o.sp / o.ep; }

static PlanOptions checkOptions(const ModelShape &shape, PlanOptions o) {
  expectRange("--gpus", o.gpus, 1, 1 << 16);
  expectRange("--tp", o.tp, 0, 1 << 16);
  expectRange("--ep", o.ep, 1, 1 << 16);
  expectRange("--sp", o.sp, 1, 1 << 16);
  expectRange("--pp", o.pp, 1, 1 << 16);
  expectRange("--ctx", o.context, 1, shape.maxPositions);
  expectRange("--batch", o.batch, 1, 1 << 20);
  expectRange("--chunk", o.chunk, 1, 1 << 24);
  if (o.tp == 0) {
    if (o.gpus % (o.sp * o.pp) != 0)
      fail("--gpus: expected a multiple of sp * pp = ", o.sp * o.pp,
           ", but got ", o.gpus);
    o.tp = o.gpus / (o.sp * o.pp);
  }
  if (o.tp * o.sp * o.pp != o.gpus)
    fail("--gpus: expected tp * sp * pp = ", o.tp, " * ", o.sp, " * ", o.pp,
         " = ", o.tp * o.sp * o.pp, ", but got ", o.gpus);
  if (shape.heads % o.tp != 0)
    fail("--tp: expected a divisor of the ", shape.heads, " heads, but got ",
         o.tp);
  if (shape.kvHeads % o.tp != 0 && o.tp % shape.kvHeads != 0)
    fail("--tp: expected a divisor or a multiple of the ", shape.kvHeads,
         " key-value heads, but got ", o.tp);
  if (o.ep > shape.experts || shape.experts % o.ep != 0)
    fail("--ep: expected a divisor of the ", shape.experts,
         " experts, but got ", o.ep);
  if (o.tp * o.sp % o.ep != 0)
    fail("--ep: expected a divisor of tp * sp = ", o.tp * o.sp, ", but got ",
         o.ep);
  if (shape.expertWidth % widthParts(o) != 0)
    fail("--tp: expected tp * sp / ep = ", widthParts(o),
         " to divide the expert width ", shape.expertWidth);
  if (o.pp > shape.layers())
    fail("--pp: expected at most ", shape.layers(), " layers, but got ", o.pp);
  if (o.sp > o.context)
    fail("--sp: expected at most ", o.context, " tokens of context, but got ",
         o.sp);
  if (o.target->isCPU() && o.gpus > 1)
    fail("--gpus: expected 1 for target cpu, but got ", o.gpus);
  return o;
}

//===----------------------------------------------------------------------===//
// One pipeline stage
//===----------------------------------------------------------------------===//

namespace {

/// The layers of one of pp stages: sizes and work on each of its GPUs.
class Stage {
public:
  Stage(const ModelShape &shape, const PlanOptions &options, int64_t number);

  PlanMemory memory() const;
  PlanWork decodeStep() const;
  /// One token of a prompt of the context length, mean over the prompt. The
  /// GPUs of a stage share the tokens sp ways.
  PlanWork prefillToken() const;
  /// Bytes of the cache for one page of every sequence.
  int64_t pageBytes() const;

private:
  int64_t kvHeads() const { return ceilDivide(shape.kvHeads, o.tp); }
  int64_t heads() const { return shape.heads / o.tp; }
  int64_t embeddingBytes() const;
  int64_t headBytes() const;
  int64_t attentionBytes() const;
  double stateBytes() const; ///< of one sequence
  /// Of one token whose experts are computed by `expertParts` GPUs; the head
  /// apart.
  double matrixFlops(int64_t expertParts) const;
  double headFlops() const;
  double expertBytesRead(double tokens) const;
  double reduceBytes() const;   ///< sent for one token by all layers
  double exchangeBytes() const; ///< sent for one token by all layers

  const ModelShape &shape;
  const PlanOptions &o;
  Parameters p;
  int64_t lightning = 0, softmax = 0;
  bool first, last;
};

} // namespace

Stage::Stage(const ModelShape &shape, const PlanOptions &options,
             int64_t number)
    : shape(shape), o(options), p(shape), first(number == 0),
      last(number + 1 == options.pp) {
  int64_t begin = shape.layers() * number / o.pp;
  int64_t end = shape.layers() * (number + 1) / o.pp;
  for (int64_t layer = begin; layer < end; ++layer)
    ++(shape.softmax[layer] ? softmax : lightning);
}

int64_t Stage::embeddingBytes() const {
  return ceilDivide(shape.vocab, o.tp) * shape.hidden * 2;
}

int64_t Stage::headBytes() const {
  return shape.tied && first ? 0 : embeddingBytes();
}

/// Everything of the layers but the experts: matrices in bf16 cut tp ways, the
/// router in f32 and the norms in bf16 whole.
int64_t Stage::attentionBytes() const {
  int64_t width = shape.heads * shape.headDim;
  int64_t kv = 2 * kvHeads() * shape.headDim * shape.hidden;
  int64_t softmaxLayer = 2 * width * shape.hidden / o.tp + kv;
  int64_t layer =
      4 * p.router + 2 * p.blockNorms + 2 * ceilDivide(p.shared, o.tp);
  return lightning * (2 * (p.lightning + p.outputNorm) / o.tp + layer) +
         softmax * (2 * softmaxLayer + layer);
}

double Stage::stateBytes() const {
  return 4.0 * lightning * heads() * shape.headDim * shape.headDim;
}

int64_t Stage::pageBytes() const {
  return o.batch * softmax * 2 * pageRows * kvHeads() * shape.headDim *
         o.cacheBytes;
}

/// Live at once in a lightning layer: the normed input in f32 and bf16, packed
/// q, k, v in bf16, the output in f32. In an experts layer: the same input, the
/// experts' inner values in bf16 and their outputs in f32.
static int64_t tokenWorkspace(const ModelShape &shape, const PlanOptions &o) {
  int64_t input = 6 * shape.hidden;
  int64_t width = shape.heads * shape.headDim / o.tp;
  int64_t inner = shape.expertWidth / widthParts(o);
  return input +
         std::max(2 * 3 * width + 4 * width,
                  shape.expertsPerToken * (2 * inner + 4 * shape.hidden));
}

PlanMemory Stage::memory() const {
  PlanMemory m;
  m.experts =
      (lightning + softmax) *
      expertBytes(shape, o.experts, shape.experts / o.ep, widthParts(o));
  m.otherWeights = attentionBytes() + (first ? embeddingBytes() : 0) +
                   (last ? headBytes() + 2 * p.finalNorm : 0);
  m.state = o.batch * int64_t(stateBytes());
  m.cache = ceilDivide(o.context, pageRows * o.sp) * pageBytes();
  int64_t tokens =
      std::max(std::min(o.chunk, ceilDivide(o.context, o.sp)), o.batch);
  m.workspace = tokens * tokenWorkspace(shape, o);
  if (last)
    m.workspace += o.batch * ceilDivide(shape.vocab, o.tp) * 4;
  m.reserve = o.target->isCPU() ? 0 : reservedBytes;
  return m;
}

double Stage::matrixFlops(int64_t expertParts) const {
  double layers = lightning + softmax;
  double attention =
      lightning * double(p.lightning) + softmax * double(p.softmax);
  double experts = layers * double(shape.expertsPerToken * p.expert);
  return 2 * ((attention + layers * double(p.shared)) / o.tp +
              experts / expertParts + layers * double(p.router));
}

double Stage::headFlops() const {
  return last ? 2.0 * ceilDivide(shape.vocab, o.tp) * shape.hidden : 0;
}

/// Experts that `tokens` tokens touch if routing is uniform, on the GPU that
/// reads most: one expert at least is read whole by its group.
double Stage::expertBytesRead(double tokens) const {
  double share = double(shape.expertsPerToken) / shape.experts;
  double touched = shape.experts * (1 - std::pow(1 - share, tokens));
  double mine =
      std::min(std::max(touched / o.ep, 1.0), double(shape.experts / o.ep));
  return (lightning + softmax) * mine *
         double(expertBytes(shape, o.experts, 1, widthParts(o)));
}

/// A ring sends 2 (n - 1) / n of a sum over n GPUs; sums are in bf16, one after
/// attention.
double Stage::reduceBytes() const {
  return (lightning + softmax) * 2.0 * shape.hidden * 2 * (o.tp - 1) / o.tp;
}

/// After the experts: with whole experts in ep groups, a token goes to those
/// that are elsewhere and comes back; where experts are cut, a sum follows.
double Stage::exchangeBytes() const {
  double parts = widthParts(o), away = double(o.ep - 1) / o.ep;
  double layers = lightning + softmax, row = 2.0 * shape.hidden;
  return layers * row *
         (2 * shape.expertsPerToken * away / o.tp + 2 * (parts - 1) / parts);
}

PlanWork Stage::decodeStep() const {
  double batch = o.batch, context = o.context;
  PlanWork work;
  double d = shape.headDim;
  // The state: decay, outer product and read-out; attention: two products.
  double core = lightning * heads() * 6 * d * d +
                softmax * heads() * 4 * d * context / o.sp;
  work.flops = batch * (matrixFlops(o.tp * o.sp) + headFlops() + core);
  work.bytes =
      attentionBytes() + expertBytesRead(batch) +
      (last ? embeddingBytes() + 2.0 * p.finalNorm : 0) +
      batch * 2 * stateBytes() +
      softmax * 2 * batch * (context / o.sp) * kvHeads() * d * o.cacheBytes;
  work.linkBytes = batch * (reduceBytes() + exchangeBytes());
  if (o.sp > 1) // partial results of softmax attention
    work.linkBytes += batch * softmax * heads() * 4 * (d + 2);
  if (!last)
    work.linkBytes += batch * 2 * shape.hidden;
  return work;
}

PlanWork Stage::prefillToken() const {
  double context = o.context, d = shape.headDim;
  double chunk = std::min(o.chunk, ceilDivide(o.context, o.sp));
  PlanWork work;
  // Lightning: query times state, keys times values into the state, and two
  // masked products within a block; softmax: two causal products.
  double core = lightning * heads() * (4 * d * d + 2 * d * lightningBlock) +
                softmax * heads() * 2 * d * context;
  // sp tokens at once: each GPU has one of them, and its part of their experts.
  work.flops = matrixFlops(o.tp) + core;
  double perChunk =
      attentionBytes() + expertBytesRead(chunk) + 2 * o.batch * stateBytes();
  double cacheRow = softmax * 2.0 * kvHeads() * d * o.cacheBytes;
  // A chunk reads the cache in front of it: half the context on average.
  work.bytes = perChunk / chunk + cacheRow * (1 + context / (2 * chunk)) +
               2.0 * (lightning + softmax) * tokenWorkspace(shape, o);
  work.linkBytes = reduceBytes() + exchangeBytes();
  if (o.sp > 1) // keys and values go round the ring, states are gathered
    work.linkBytes +=
        cacheRow * (o.sp - 1) + stateBytes() * (o.sp - 1) * o.sp / context;
  if (!last)
    work.linkBytes += 2 * shape.hidden;
  work.flops /= o.sp;
  work.bytes /= o.sp;
  work.linkBytes /= o.sp;
  return work;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

double PlanWork::computeFloor(const Target &target) const {
  return flops / target.matrixRate;
}

double PlanWork::memoryFloor(const Target &target) const {
  return bytes / target.bandwidth;
}

double PlanWork::linkFloor(const Target &target) const {
  return linkBytes > 0 ? linkBytes / target.linkBandwidth : 0;
}

double PlanWork::floor(const Target &target) const {
  return std::max(
      {computeFloor(target), memoryFloor(target), linkFloor(target)});
}

const char *PlanWork::bound(const Target &target) const {
  double most = floor(target);
  return most == memoryFloor(target)    ? "bandwidth"
         : most == computeFloor(target) ? "compute"
                                        : "link";
}

/// The largest context, in whole pages, for which stage `number` stays within
/// the memory and the model's positions; 0 if not even a page does.
static int64_t largestContext(const ModelShape &shape, PlanOptions o,
                              int64_t number) {
  auto fits = [&](int64_t pages) {
    o.context = pages * pageRows;
    return Stage(shape, o, number).memory().total() <= o.target->memoryBytes;
  };
  int64_t most = shape.maxPositions / pageRows;
  if (most == 0 || !fits(1))
    return 0;
  int64_t good = 1, bad = most + 1;
  while (bad - good > 1) {
    int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good * pageRows;
}

static std::vector<std::string> listToCome(const PlanOptions &o) {
  std::vector<std::string> list;
  if (o.gpus > 1)
    list.push_back("several GPUs: programs run on one");
  if (o.experts != ExpertWeights::BF16)
    list.push_back(concat("weights of experts in ", nameOf(o.experts),
                          ": programs read bf16 and f32"));
  if (o.cacheBytes != 4)
    list.push_back("a cache in bf16: programs keep f32, of twice the size");
  return list;
}

static Plan planOnly(const ModelShape &shape, const PlanOptions &options) {
  Plan plan;
  plan.options = options;
  plan.shape = shape;
  plan.available = options.target->memoryBytes;
  plan.largestContext = INT64_MAX;
  const Target &target = *options.target;
  for (int64_t number = 0; number < options.pp; ++number) {
    Stage stage(shape, options, number);
    PlanMemory memory = stage.memory();
    if (number == 0 || memory.total() > plan.memory.total())
      plan.memory = memory;
    for (auto [worst, work] :
         {std::pair(&plan.prefillToken, stage.prefillToken()),
          std::pair(&plan.decodeStep, stage.decodeStep())})
      if (number == 0 || work.floor(target) > worst->floor(target))
        *worst = work;
    plan.largestContext =
        std::min(plan.largestContext, largestContext(shape, options, number));
  }
  return plan;
}

/// Settings near the given ones that fit, the smallest change first.
static std::vector<std::string> suggest(const ModelShape &shape,
                                        const PlanOptions &o) {
  std::vector<std::string> list;
  auto attempt = [&](PlanOptions changed, const std::string &text) {
    try {
      Plan plan = planOnly(shape, checkOptions(shape, changed));
      if (plan.fits())
        list.push_back(text);
    } catch (const Error &) {
      // A form that this model has not.
    }
    return !list.empty();
  };
  for (ExpertWeights weights : {ExpertWeights::Int8, ExpertWeights::Int4}) {
    PlanOptions changed = o;
    changed.experts = weights;
    if (weights > o.experts &&
        attempt(changed, concat("--quant ", nameOf(weights))))
      break;
  }
  for (int64_t factor = 2; factor <= 64 && !o.target->isCPU(); factor *= 2) {
    PlanOptions changed = o;
    changed.gpus = o.gpus * factor;
    changed.tp = o.tp * factor;
    size_t before = list.size();
    attempt(changed, concat("--gpus ", changed.gpus, " --tp ", changed.tp));
    if (list.size() > before)
      break;
  }
  return list;
}

Plan mmx::runtime::makePlan(const ModelShape &shape,
                            const PlanOptions &options) {
  PlanOptions checked = checkOptions(shape, options);
  Plan plan = planOnly(shape, checked);
  Parameters p(shape);
  int64_t vocabularies = shape.tied ? 1 : 2;
  int64_t norms = allNorms(shape, p);
  int64_t active = activeMatrices(shape, p);
  int64_t spare = shape.experts - shape.expertsPerToken;
  plan.activeParameters = active + norms;
  plan.parameters = vocabularies * p.vocabulary + plan.activeParameters +
                    shape.layers() * spare * p.expert;
  int64_t routers = shape.layers() * p.router;
  int64_t others =
      plan.parameters - routers - shape.layers() * shape.experts * p.expert;
  plan.weightBytes =
      2 * others + 4 * routers +
      shape.layers() * expertBytes(shape, checked.experts, shape.experts, 1);
  plan.toCome = listToCome(checked);
  if (!plan.fits())
    plan.suggestions = suggest(shape, checked);
  return plan;
}
