//===- Generate.cpp - Continues prompts -----------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerPrinter.h"
#include "Commands.h"
#include "LoadedModel.h"
#include "TextModel.h"

#include "runtime/session/Session.h"
#include "runtime/support/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <unistd.h>

using namespace mmx::runtime;
using namespace mmx::tool;
using json = nlohmann::ordered_json;

static constexpr int64_t defaultCount = 16;

static int64_t neededContext(const std::vector<std::vector<int32_t>> &prompts,
                             const GenerateOptions &options) {
  size_t longest = 0;
  for (const std::vector<int32_t> &prompt : prompts) {
    if (prompt.empty())
      fail("the prompt is empty");
    longest = std::max(longest, prompt.size());
  }
  return longest + std::max<int64_t>(options.count.value_or(defaultCount), 1) -
         1;
}

static std::string rateText(int64_t tokens, double seconds) {
  return concat(tokens, " tokens, ", std::round(tokens / seconds * 10) / 10,
                " tokens/s");
}

static json stagesJson(StageTable &stages) {
  json result = json::object();
  for (const StageTable::Row &row : stages.rows())
    result[row.stage] = row.seconds;
  return result;
}

namespace {

/// The answers of a batch as their ids arrive. One answer is printed as it
/// grows, several at the end; JSON an event for every id and every answer.
class Answers {
public:
  Answers(const GenerateOptions &options, const TextModel *text,
          const std::vector<std::vector<int32_t>> &prompts,
          std::span<const int32_t> stop)
      : options(options), prompts(prompts), stop(stop), isText(text),
        texts(prompts.size(),
              AnswerText(text ? &text->tokenizer() : nullptr, options.stops)) {}

  /// Takes the next id of a prompt; returns whether more are wanted.
  bool add(int64_t prompt, int32_t id);
  /// After the last id: writes what is left.
  void finish(int64_t promptTokens, StageTable &stages);
  int64_t made() const { return count; }
  /// Whether something is written before the last id is made.
  bool writesEarly() const { return options.json || streams(); }

private:
  void end(int64_t prompt, const char *reason);
  bool streams() const { return !options.json && prompts.size() == 1; }

  const GenerateOptions &options;
  const std::vector<std::vector<int32_t>> &prompts;
  std::span<const int32_t> stop;
  bool isText;
  std::vector<AnswerText> texts; ///< by prompt
  int64_t count = 0;
};

} // namespace

bool Answers::add(int64_t prompt, int32_t id) {
  AnswerText &answer = texts[prompt];
  std::string more = answer.add(id);
  ++count;
  if (streams())
    writeText(more);
  if (options.json) {
    json event = {{"event", "token"}, {"prompt", prompt}};
    event["position"] = prompts[prompt].size() + answer.ids().size() - 1;
    event["id"] = id;
    if (isText)
      event["text"] = more;
    writeEvent(event);
  }
  if (std::ranges::count(stop, id) > 0)
    end(prompt, "stop");
  else if (answer.stopped())
    end(prompt, "stop_text");
  else if (int64_t(answer.ids().size()) == options.count.value_or(defaultCount))
    end(prompt, "count");
  return !answer.stopped();
}

void Answers::end(int64_t prompt, const char *reason) {
  AnswerText &answer = texts[prompt];
  std::string rest = answer.finish();
  if (streams())
    writeText(rest);
  if (!options.json)
    return;
  json event = {{"event", "answer"}, {"prompt", prompt}, {"end", reason}};
  event["ids"] = answer.ids();
  if (isText)
    event["text"] = answer.text();
  writeEvent(event);
}

void Answers::finish(int64_t promptTokens, StageTable &stages) {
  if (!options.json) {
    for (const AnswerText &answer : texts)
      writeText((streams() ? "" : answer.text()) + "\n");
    return;
  }
  json event = {{"event", "done"}, {"ids", json::array()}};
  for (const AnswerText &answer : texts) {
    event["ids"].push_back(answer.ids());
    if (isText)
      event["texts"].push_back(answer.text());
  }
  event["prompt_tokens"] = promptTokens;
  event["new_tokens"] = count;
  event["stages"] = stagesJson(stages);
  writeEvent(event);
}

namespace {

/// How far prompts are read and answers are made; of answers that are written
/// as they grow only programs want to know, and who sees nothing but the bar.
class GenerateProgress {
public:
  GenerateProgress(Progress &progress, Progress::Mode mode,
                   const Answers &answers, int64_t promptTokens, int64_t most)
      : progress(progress), answers(answers), promptTokens(promptTokens),
        most(most),
        showsAnswers(mode == Progress::Mode::Json || !answers.writesEarly() ||
                     (::isatty(STDERR_FILENO) && !::isatty(STDOUT_FILENO))) {}

  void begin() { progress.update("prefill", 0, promptTokens); }
  void afterStep(const StepView &step) {
    if (read == promptTokens)
      return;
    read += step.inputs.ids.size();
    progress.update("prefill", read, promptTokens);
    if (read == promptTokens)
      progress.finish();
  }
  void afterId() {
    if (showsAnswers && read == promptTokens)
      progress.update("decode", answers.made(), most);
  }

private:
  Progress &progress;
  const Answers &answers;
  int64_t promptTokens, read = 0;
  int64_t most; ///< ids of all answers
  bool showsAnswers;
};

} // namespace

/// The stop ids: those of the text files, else those the package names.
static std::vector<int32_t> stopIds(const GenerateOptions &options,
                                    const TextModel *text,
                                    const ModelInfo &model) {
  if (options.ignoreStop)
    return {};
  std::vector<int32_t> ids = text ? text->stopIds() : std::vector<int32_t>();
  return ids.empty() ? model.stopIds : ids;
}

int mmx::tool::generate(const GenerateOptions &options) {
  std::unique_ptr<Trace> trace = openTrace(options);
  StageTable stages(trace.get());
  std::shared_ptr<const Package> package = openNamedPackage(options);
  TextFiles files(package, checkpointDirectory(options));
  std::optional<TextModel> text;
  if (hasTextPrompts(options))
    text.emplace(files);
  std::vector<std::vector<int32_t>> prompts =
      text ? text->prompts(options) : options.prompts;
  Sampler::Options sampling = samplingFor(options, generationConfig(files));
  Progress progress(options.progress);
  int64_t context =
      options.context > 0 ? options.context : neededContext(prompts, options);
  LoadedModel loaded(options, /*extras=*/{}, prompts.size(), context, stages,
                     progress, package);
  std::vector<int32_t> stop =
      stopIds(options, text ? &*text : nullptr, loaded.engine().model());

  Answers answers(options, text ? &*text : nullptr, prompts, stop);
  int64_t batch = prompts.size(), promptTokens = 0;
  for (const std::vector<int32_t> &prompt : prompts)
    promptTokens += prompt.size();
  int64_t count = options.count.value_or(defaultCount);
  GenerateProgress shown(progress, options.progress, answers, promptTokens,
                         batch * count);
  Session session(loaded.engine(),
                  {context, options.chunk,
                   [&](const StepView &step) { shown.afterStep(step); }});
  stages.enter("prefill");
  shown.begin();
  auto onId = [&](int64_t prompt, int32_t id) {
    bool more = answers.add(prompt, id);
    shown.afterId();
    if (answers.made() == batch)
      stages.enter("decode");
    return more;
  };
  session.generate(prompts, count, stop, onId, sampling);
  progress.finish();
  int64_t made = answers.made();
  stages.enter("other");
  stages.note("prefill", rateText(promptTokens, stages.seconds("prefill")));
  if (made > batch)
    stages.note("decode", rateText(made - batch, stages.seconds("decode")));

  answers.finish(promptTokens, stages);
  if (options.progress != Progress::Mode::None &&
      options.progress != Progress::Mode::Json)
    std::cerr << stages.text();
  std::cerr << loaded.profileText();
  if (trace)
    trace->write();
  return 0;
}
