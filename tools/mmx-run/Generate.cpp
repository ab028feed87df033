//===- Generate.cpp - Continues prompts -----------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "LoadedModel.h"
#include "TextModel.h"

#include "runtime/session/Session.h"
#include "runtime/support/Error.h"
#include "runtime/tokenizer/TextStream.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

using namespace mmx::runtime;
using namespace mmx::tool;
using nlohmann::json;

static int64_t neededContext(const std::vector<std::vector<int32_t>> &prompts,
                             const GenerateOptions &options) {
  size_t longest = 0;
  for (const std::vector<int32_t> &prompt : prompts) {
    if (prompt.empty())
      fail("the prompt is empty");
    longest = std::max(longest, prompt.size());
  }
  return longest + std::max<int64_t>(options.count, 1) - 1;
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

/// How ids are shown: as text where the prompts were text.
class Printer {
public:
  Printer(const GenerateOptions &options, const TextModel *text, size_t count)
      : tokenizer(text ? &text->tokenizer() : nullptr),
        streams(count, TextStream(options.stops)), texts(count) {}

  /// What one more id adds to the text of a prompt.
  std::string next(int64_t prompt, int32_t id) {
    return add(prompt, tokenizer
                           ? streams[prompt].push(tokenizer->decode(
                                 {&id, 1}, /*skipSpecial=*/true))
                           : concat(texts[prompt].empty() ? "" : ",", id));
  }

  /// What is left when no more ids come.
  std::string finish(int64_t prompt) {
    return add(prompt, streams[prompt].finish());
  }

  bool stopped(int64_t prompt) const { return streams[prompt].stopped(); }
  bool isText() const { return tokenizer; }
  const std::vector<std::string> &all() const { return texts; }

private:
  std::string add(int64_t prompt, std::string text) {
    texts[prompt] += text;
    return text;
  }

  const Tokenizer *tokenizer; ///< null: ids are shown
  std::vector<TextStream> streams;
  std::vector<std::string> texts;
};

} // namespace

static void printJson(const std::vector<std::vector<int32_t>> &results,
                      const Printer &printer, int64_t promptTokens,
                      int64_t made, StageTable &stages) {
  json answer = {{"ids", results}, {"stages", stagesJson(stages)}};
  answer["prompt_tokens"] = promptTokens;
  answer["new_tokens"] = made;
  if (printer.isText())
    answer["texts"] = printer.all();
  // Text may end within a character.
  std::cout << answer.dump(-1, ' ', false, json::error_handler_t::replace)
            << "\n";
}

int mmx::tool::generate(const GenerateOptions &options) {
  std::unique_ptr<Trace> trace = openTrace(options);
  StageTable stages(trace.get());
  std::optional<TextModel> text;
  if (hasTextPrompts(options))
    text.emplace(checkpointDirectory(options));
  std::vector<std::vector<int32_t>> prompts =
      text ? text->prompts(options) : options.prompts;
  Printer printer(options, text ? &*text : nullptr, prompts.size());
  Progress progress(options.progress);
  int64_t context =
      options.context > 0 ? options.context : neededContext(prompts, options);
  LoadedModel loaded(options, /*extras=*/{}, prompts.size(), context, stages,
                     progress);
  Session session(loaded.engine(), {context, options.chunk, {}});
  std::vector<int32_t> stop;
  if (!options.ignoreStop && text)
    stop = text->stopIds();
  if (!options.ignoreStop && stop.empty())
    stop = loaded.engine().model().stopIds;

  // One prompt is printed as it grows, several one line each at the end.
  bool streams = !options.json && prompts.size() == 1;
  int64_t made = 0, batch = prompts.size(), promptTokens = 0;
  for (const std::vector<int32_t> &prompt : prompts)
    promptTokens += prompt.size();
  stages.enter("prefill");
  auto onId = [&](int64_t prompt, int32_t id) {
    std::string more = printer.next(prompt, id);
    if (streams)
      std::cout << more << std::flush;
    if (++made == batch)
      stages.enter("decode");
    return !printer.stopped(prompt);
  };
  auto results =
      session.generate(prompts, options.count, stop, onId, options.sampling);
  for (int64_t prompt = 0; prompt < batch; ++prompt) {
    std::string rest = printer.finish(prompt);
    if (streams)
      std::cout << rest;
  }
  stages.enter("other");
  stages.note("prefill", rateText(promptTokens, stages.seconds("prefill")));
  if (made > batch)
    stages.note("decode", rateText(made - batch, stages.seconds("decode")));

  if (options.json) {
    printJson(results, printer, promptTokens, made, stages);
  } else if (streams) {
    std::cout << "\n";
  } else {
    for (const std::string &answer : printer.all())
      std::cout << answer << "\n";
  }
  if (options.progress != Progress::Mode::None &&
      options.progress != Progress::Mode::Json)
    std::cerr << stages.text();
  std::cerr << loaded.profileText();
  if (trace)
    trace->write();
  return 0;
}
