//===- Verify.cpp - Compares a model with recorded answers ----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The answers are in golden.safetensors (test/golden/README.md). For each
// prompt: the logits of all positions, fed in chunks; hidden values and
// recurrent states where they are recorded; then the recorded continuation is
// fed id by id, and the best id of every step must be the recorded one unless
// the recorded margin between the two best logits is small.
//
// A token whose two best experts nearly tie goes to another one when numbers
// are rounded, and its row then differs by much. With the routing of the
// reference every token goes where the interpreter sends it, so that bounds
// hold for all rows; then the model also runs with its own routing, of which
// only the median row has a bound. With its own routing alone, the choice of
// the reference serves to count the tokens that went elsewhere.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "LoadedModel.h"
#include "RouteRecord.h"

#include "runtime/session/Greedy.h"
#include "runtime/session/Session.h"
#include "runtime/support/Error.h"
#include "runtime/weights/Safetensors.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>

using namespace mmx::runtime;
using namespace mmx::tool;
using nlohmann::json;

namespace {

/// What may differ from the recorded answers (docs/spec.md, Tolerances).
struct Bounds {
  double error;     ///< relative, of logits, hidden values and states
  double medianRow; ///< of the logits, with own routing
  float margin;     ///< best ids at or below this may go either way
  /// Whether all but the median bind: not for bf16 with own routing.
  bool everyRow = true;
};
constexpr Bounds f32Bounds = {
    .error = 1e-4, .medianRow = 1e-4, .margin = 1e-3f};
constexpr Bounds bf16Bounds = {
    .error = 2.5e-2, .medianRow = 6e-2, .margin = 0.15f};

/// What the experts that the reference chooses are for.
struct RoutingUse {
  bool compared = false; ///< tokens that go to others are counted
  bool given = false;    ///< they are chosen in place of the model's own
};

/// ||got - expected|| / ||expected||, and the row where the difference is
/// largest.
struct Comparison {
  double error = 0;
  int64_t worstRow = 0;
};

/// What is known of one prompt after it ran.
struct PromptResult {
  std::string name;
  int64_t tokens = 0;
  double logits = 0;
  double hidden = -1, state = -1;           ///< -1: not compared
  double medianRow = -1, otherExperts = -1; ///< with own routing
  int64_t idsEqual = 0, idsTotal = 0;
  double seconds = 0;
  std::vector<std::string> differences;
};

/// One prompt of the golden file.
class Prompt {
public:
  Prompt(const Safetensors &file, std::string name)
      : file(file), name(std::move(name)) {}

  bool has(const std::string &what) const {
    return file.find(name + "." + what) != nullptr;
  }
  template <typename T> std::vector<T> values(const std::string &what) const {
    return file.values<T>(name + "." + what,
                          std::is_same_v<T, float> ? "F32" : "I32");
  }
  const std::string &text() const { return name; }

private:
  const Safetensors &file;
  std::string name;
};

/// Runs prompts of a golden file and compares.
class Verifier {
public:
  /// A `reference`, or what it chose in `recorded`, is needed if its routing
  /// is compared or given.
  Verifier(Engine &engine, Engine *reference, const Safetensors *recorded,
           RoutingUse routing, int64_t chunk, const Bounds &bounds,
           int64_t context);

  PromptResult run(const Prompt &prompt);
  /// What the reference chose for the prompts so far.
  const RouteFile &routes() const { return chosen; }

private:
  void observe(const StepView &step);
  /// Logits of all tokens, and the sequence, which stays open.
  std::vector<float> prefill(Session &on, std::span<const int32_t> ids,
                             int64_t &sequence);
  void recordReference(const Prompt &prompt);
  void runOwnRouting(PromptResult &result, const Prompt &prompt);
  void compareExperts(PromptResult &result);
  void compareMedian(PromptResult &result, std::span<const float> got,
                     std::span<const float> expected);
  void compare(PromptResult &result, const std::string &what,
               std::span<const float> got, const std::vector<float> &expected,
               int64_t rows, double &worst);
  void compareHidden(PromptResult &result, const Prompt &prompt);
  void compareStates(PromptResult &result, const Prompt &prompt,
                     int64_t sequence);
  void continueRecorded(PromptResult &result, const Prompt &prompt,
                        int64_t sequence, int32_t best);

  const RoutingUse routing;
  const Bounds bounds;
  Session session;
  std::optional<Session> referenceSession;
  const Safetensors *recorded;
  RouteFile chosen;
  RouteRecord referenceRoutes, ownRoutes;
  bool keeping = false, giving = false;
  std::vector<std::vector<float>> hidden; ///< per layer, rows of all tokens
};

} // namespace

Verifier::Verifier(Engine &engine, Engine *reference,
                   const Safetensors *recorded, RoutingUse routing,
                   int64_t chunk, const Bounds &bounds, int64_t context)
    : routing(routing), bounds(bounds),
      session(engine,
              {context, chunk, [this](const StepView &step) { observe(step); },
               [this](std::span<const int64_t>, StepInputs &inputs) {
                 if (giving)
                   referenceRoutes.give(inputs);
               }}),
      recorded(recorded), referenceRoutes(engine.model().expertsPerToken),
      ownRoutes(engine.model().expertsPerToken) {
  if (reference)
    referenceSession.emplace(
        *reference,
        Session::Options{context, chunk, [this](const StepView &step) {
                           referenceRoutes.append(step.outputs);
                         }});
}

static Comparison compareRows(std::span<const float> got,
                              std::span<const float> expected, int64_t rows) {
  Comparison result;
  double difference = 0, norm = 0, worst = -1;
  int64_t width = expected.size() / std::max<int64_t>(rows, 1);
  for (int64_t row = 0; row < rows; ++row) {
    double rowDifference = 0;
    for (int64_t i = row * width; i < (row + 1) * width; ++i) {
      double delta = double(got[i]) - double(expected[i]);
      rowDifference += delta * delta;
      norm += double(expected[i]) * double(expected[i]);
    }
    difference += rowDifference;
    // Written so that NaN counts as worst.
    if (!(rowDifference <= worst) && !std::isnan(worst)) {
      worst = rowDifference;
      result.worstRow = row;
    }
  }
  result.error = std::sqrt(difference / (norm > 0 ? norm : 1));
  return result;
}

/// The median over the rows of ||got - expected|| / ||expected||.
static double medianRowError(std::span<const float> got,
                             std::span<const float> expected, int64_t rows) {
  std::vector<double> errors;
  int64_t width = expected.size() / std::max<int64_t>(rows, 1);
  for (int64_t row = 0; row < rows; ++row) {
    double error = compareRows(got.subspan(row * width, width),
                               expected.subspan(row * width, width), 1)
                       .error;
    errors.push_back(std::isnan(error) ? INFINITY : error);
  }
  auto middle = errors.begin() + errors.size() / 2;
  std::ranges::nth_element(errors, middle);
  return errors.empty() ? 0 : *middle;
}

void Verifier::observe(const StepView &step) {
  if (!giving)
    ownRoutes.append(step.outputs);
  if (!keeping)
    return;
  hidden.resize(step.outputs.hidden.size());
  for (size_t i = 0; i < hidden.size(); ++i)
    hidden[i].insert(hidden[i].end(), step.outputs.hidden[i].begin(),
                     step.outputs.hidden[i].end());
}

void Verifier::compare(PromptResult &result, const std::string &what,
                       std::span<const float> got,
                       const std::vector<float> &expected, int64_t rows,
                       double &worst) {
  if (got.size() != expected.size()) {
    result.differences.push_back(concat(what, ": expected ", expected.size(),
                                        " values, but got ", got.size()));
    return;
  }
  Comparison comparison = compareRows(got, expected, rows);
  if (!(comparison.error <= worst) && !std::isnan(worst))
    worst = comparison.error;
  if (bounds.everyRow && !(comparison.error <= bounds.error))
    result.differences.push_back(
        concat(what, ": expected a relative error of at most ", bounds.error,
               ", but got ", comparison.error, "; row ", comparison.worstRow,
               " differs most"));
}

void Verifier::compareHidden(PromptResult &result, const Prompt &prompt) {
  for (size_t layer = 0; layer < hidden.size(); ++layer)
    if (std::string what = concat("hidden.", layer); prompt.has(what))
      compare(result, what, hidden[layer], prompt.values<float>(what),
              result.tokens, result.hidden);
}

void Verifier::compareStates(PromptResult &result, const Prompt &prompt,
                             int64_t sequence) {
  const ModelInfo &model = session.engine().model();
  for (int32_t layer : model.lightningLayers)
    if (std::string what = concat("state.", layer); prompt.has(what))
      compare(result, what,
              session.engine().readState(layer, session.slot(sequence)),
              prompt.values<float>(what), model.heads, result.state);
}

void Verifier::continueRecorded(PromptResult &result, const Prompt &prompt,
                                int64_t sequence, int32_t best) {
  std::vector<int32_t> ids = prompt.values<int32_t>("greedy_ids");
  std::vector<float> margins = prompt.values<float>("greedy_margin");
  if (margins.size() != ids.size())
    fail("expected as many margins as ids, but got ", margins.size(), " and ",
         ids.size());
  result.idsTotal = ids.size();
  for (size_t step = 0; step < ids.size(); ++step) {
    if (best == ids[step])
      ++result.idsEqual;
    else if (bounds.everyRow && margins[step] > bounds.margin)
      result.differences.push_back(concat("step ", step, ": expected id ",
                                          ids[step], " (margin ", margins[step],
                                          "), but the best is ", best));
    if (step + 1 == ids.size())
      break;
    Feed feed = {sequence, std::span(ids).subspan(step, 1), Want::Last};
    session.feed({&feed, 1},
                 [&](int64_t, int64_t, std::span<const float> logits) {
                   best = bestId(logits, session.engine().tokenlessIds());
                 });
  }
}

std::vector<float> Verifier::prefill(Session &on, std::span<const int32_t> ids,
                                     int64_t &sequence) {
  std::vector<float> logits;
  sequence = on.open();
  Feed feed = {sequence, ids, Want::All};
  on.feed({&feed, 1}, [&](int64_t, int64_t, std::span<const float> row) {
    logits.insert(logits.end(), row.begin(), row.end());
  });
  return logits;
}

/// Where the reference sends the tokens of the prompt and its continuation.
void Verifier::recordReference(const Prompt &prompt) {
  if (recorded) {
    RouteFile::read(*recorded, prompt.text(), referenceRoutes);
    return;
  }
  referenceRoutes.clear();
  std::vector<int32_t> ids = prompt.values<int32_t>("input_ids");
  for (int32_t id : prompt.values<int32_t>("greedy_ids"))
    ids.push_back(id);
  int64_t sequence = referenceSession->open();
  Feed feed = {sequence, ids, Want::None};
  referenceSession->feed({&feed, 1}, {});
  referenceSession->close(sequence);
  chosen.add(prompt.text(), referenceRoutes);
}

void Verifier::compareMedian(PromptResult &result, std::span<const float> got,
                             std::span<const float> expected) {
  if (got.size() != expected.size())
    return; // compare() says so
  result.medianRow = medianRowError(got, expected, result.tokens);
  if (!(result.medianRow <= bounds.medianRow))
    result.differences.push_back(
        concat("logits with own routing: expected a relative error of the "
               "median row of at most ",
               bounds.medianRow, ", but got ", result.medianRow));
}

/// Counts tokens of a run with own routing that went to other experts.
void Verifier::compareExperts(PromptResult &result) {
  if (ownRoutes.experts().empty())
    fail("the model says nothing of its experts; compile it with --routing");
  result.otherExperts = ownRoutes.shareOfOthers(referenceRoutes);
}

void Verifier::runOwnRouting(PromptResult &result, const Prompt &prompt) {
  ownRoutes.clear();
  int64_t sequence;
  std::vector<float> logits =
      prefill(session, prompt.values<int32_t>("input_ids"), sequence);
  session.close(sequence);
  compareExperts(result);
  compareMedian(result, logits, prompt.values<float>("logits"));
}

PromptResult Verifier::run(const Prompt &prompt) {
  auto begin = std::chrono::steady_clock::now();
  PromptResult result;
  result.name = prompt.text();
  std::vector<int32_t> ids = prompt.values<int32_t>("input_ids");
  result.tokens = ids.size();
  if (routing.compared)
    recordReference(prompt);
  if (routing.given)
    runOwnRouting(result, prompt);
  hidden.clear();
  ownRoutes.clear();
  keeping = prompt.has("hidden.0");
  giving = routing.given;
  int64_t sequence;
  std::vector<float> logits = prefill(session, ids, sequence);
  keeping = false;
  compare(result, "logits", logits, prompt.values<float>("logits"),
          result.tokens, result.logits);
  if (!bounds.everyRow)
    compareMedian(result, logits, prompt.values<float>("logits"));
  if (routing.compared && !routing.given)
    compareExperts(result);
  compareHidden(result, prompt);
  compareStates(result, prompt, sequence);
  int32_t best = bestId(std::span(logits).last(session.engine().model().vocab),
                        session.engine().tokenlessIds());
  continueRecorded(result, prompt, sequence, best);
  giving = false;
  session.close(sequence);
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  return result;
}

/// The numbers of the prompts in the file, ascending.
static std::vector<int64_t> promptNumbers(const Safetensors &file) {
  std::vector<int64_t> numbers;
  for (const auto &[name, tensor] : file.tensors()) {
    constexpr std::string_view prefix = "prompt.", suffix = ".input_ids";
    if (!name.starts_with(prefix) || !name.ends_with(suffix))
      continue;
    std::string number =
        name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    if (!number.empty() && number.size() < 9 &&
        number.find_first_not_of("0123456789") == std::string::npos)
      numbers.push_back(std::stoll(number));
  }
  std::ranges::sort(numbers);
  if (numbers.empty())
    fail(file.path(), ": has no tensor prompt.N.input_ids");
  return numbers;
}

static std::string errorText(double error) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2e", error);
  return error == -1 ? "-" : text;
}

static void printHeader(bool ownRouting) {
  std::cout << "prompt     tokens     logits     hidden      state   best ids"
            << (ownRouting ? "   own: median   others" : "")
            << "         time\n";
}

static void printRow(const PromptResult &row) {
  char text[200], own[40] = "";
  std::string ids = concat(row.idsEqual, "/", row.idsTotal);
  if (row.medianRow != -1) {
    char others[16] = "     -";
    if (row.otherExperts != -1)
      std::snprintf(others, sizeof(others), "%5.2f%%", 100 * row.otherExperts);
    std::snprintf(own, sizeof(own), "      %8s   %s",
                  errorText(row.medianRow).c_str(), others);
  }
  std::snprintf(text, sizeof(text),
                "%-10s %6lld   %8s   %8s   %8s   %8s%s   %8.3f s   %s",
                row.name.c_str(), (long long)row.tokens,
                errorText(row.logits).c_str(), errorText(row.hidden).c_str(),
                errorText(row.state).c_str(), ids.c_str(), own, row.seconds,
                row.differences.empty() ? "ok" : "DIFFERS");
  std::cout << text << std::endl;
}

static json toJson(const PromptResult &row) {
  auto number = [](double error) {
    return error == -1 || !std::isfinite(error) ? json() : json(error);
  };
  return {{"prompt", row.name},
          {"tokens", row.tokens},
          {"logits_error", number(row.logits)},
          {"hidden_error", number(row.hidden)},
          {"state_error", number(row.state)},
          {"own_median_row_error", number(row.medianRow)},
          {"own_other_experts", number(row.otherExperts)},
          {"ids_equal", row.idsEqual},
          {"ids_total", row.idsTotal},
          {"seconds", row.seconds},
          {"differences", row.differences}};
}

/// The recorded prompts, and the tokens of the longest with its continuation.
static std::pair<std::vector<Prompt>, int64_t>
readPrompts(const Safetensors &file) {
  std::vector<Prompt> prompts;
  size_t longest = 1;
  for (int64_t number : promptNumbers(file)) {
    prompts.emplace_back(file, concat("prompt.", number));
    longest = std::max(longest,
                       prompts.back().values<int32_t>("input_ids").size() +
                           prompts.back().values<int32_t>("greedy_ids").size());
  }
  return {std::move(prompts), int64_t(longest)};
}

static std::string goldenPath(const VerifyOptions &options) {
  std::filesystem::path path = options.golden;
  if (path.empty())
    path = std::filesystem::path(checkpointDirectory(options)) /
           "golden.safetensors";
  if (!std::filesystem::exists(path))
    fail(path.string(), ": there is no such file, but recorded answers are "
                        "needed; --golden FILE names them, if they stand "
                        "elsewhere");
  return path.string();
}

/// In bf16 the routing of the reference is taken into account where there is
/// a way to know it: an interpreter for a checkpoint, or a file.
static RoutingUse chooseRouting(const VerifyOptions &options) {
  bool recorded = !options.routingFile.empty();
  bool package = isPackage(options.model);
  if (options.routing == Routing::Reference && package && !recorded)
    fail("--routing reference needs a checkpoint, but ", options.model,
         " is a package; use --routing-file");
  bool rounds = chosenDtype(options) == "bf16" && options.device != "reference";
  RoutingUse use;
  use.compared =
      recorded || options.routing == Routing::Reference || (rounds && !package);
  use.given = use.compared && options.routing != Routing::Own;
  return use;
}

static Bounds boundsFor(const VerifyOptions &options, const std::string &dtype,
                        RoutingUse routing) {
  bool bf16 = dtype == "bf16" && options.device != "reference";
  Bounds bounds = bf16 ? bf16Bounds : f32Bounds;
  bounds.everyRow = !bf16 || routing.given;
  if (options.tolerance > 0)
    bounds.error = options.tolerance;
  return bounds;
}

int mmx::tool::verify(const VerifyOptions &options) {
  std::unique_ptr<Trace> trace = openTrace(options);
  StageTable stages(trace.get());
  Progress progress(options.progress);
  Safetensors file(goldenPath(options));
  auto [prompts, longest] = readPrompts(file);
  RoutingUse routing = chooseRouting(options);
  LoadedModel loaded(options, {options.hidden, routing.compared},
                     /*sequences=*/1, longest, stages, progress);
  ModelOptions referenceOptions = options;
  referenceOptions.device = "reference";
  std::optional<LoadedModel> reference;
  std::optional<Safetensors> recorded;
  if (!options.routingFile.empty())
    recorded.emplace(options.routingFile);
  else if (routing.compared)
    reference.emplace(referenceOptions, LoadedModel::Extras{.routing = true}, 1,
                      longest, stages, progress);
  Bounds bounds = boundsFor(options, loaded.dtype(), routing);
  Verifier verifier(loaded.engine(), reference ? &reference->engine() : nullptr,
                    recorded ? &*recorded : nullptr, routing, options.chunk,
                    bounds, longest);
  if (!options.json)
    printHeader(routing.given || !bounds.everyRow);
  stages.enter("verify");
  json rows = json::array();
  int64_t bad = 0;
  for (const Prompt &prompt : prompts) {
    PromptResult result = verifier.run(prompt);
    bad += !result.differences.empty();
    rows.push_back(toJson(result));
    if (!options.json)
      printRow(result);
    for (const std::string &difference : result.differences)
      std::cerr << "mmx-run: " << result.name << ": " << difference << "\n";
  }
  stages.enter("other");
  if (!options.saveRouting.empty())
    verifier.routes().write(options.saveRouting);
  if (options.json)
    std::cout << json{{"model", options.model},
                      {"device", options.device},
                      {"routing", routing.given ? "reference" : "own"},
                      {"tolerance", bounds.error},
                      {"ok", bad == 0},
                      {"prompts", rows}}
                     .dump()
              << "\n";
  else if (options.progress != Progress::Mode::None)
    std::cerr << stages.text();
  std::cerr << loaded.profileText();
  if (trace)
    trace->write();
  if (bad > 0)
    std::cerr << "mmx-run: " << bad << " of " << prompts.size()
              << " prompts differ from " << file.path() << "\n";
  return bad > 0;
}
