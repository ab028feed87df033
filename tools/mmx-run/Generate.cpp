//===- Generate.cpp - Continues prompts -----------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "LoadedModel.h"

#include "runtime/session/Session.h"
#include "runtime/support/Error.h"
#include "runtime/tokenizer/Tokenizer.h"

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
  explicit Printer(const GenerateOptions &options) {
    if (!options.texts.empty())
      tokenizer.emplace(Tokenizer::open(checkpointDirectory(options)));
  }

  /// The prompts of the options as ids.
  std::vector<std::vector<int32_t>> prompts(const GenerateOptions &options) {
    std::vector<std::vector<int32_t>> result = options.prompts;
    for (const std::string &text : options.texts)
      result.push_back(tokenizer->encode(text));
    return result;
  }

  /// `first`: nothing of the answer was printed yet.
  std::string next(int32_t id, bool first) const {
    if (tokenizer)
      return tokenizer->decode({&id, 1}, /*skipSpecial=*/true);
    return concat(first ? "" : ",", id);
  }

  std::string all(const std::vector<int32_t> &ids) const {
    std::string text;
    for (size_t i = 0; i < ids.size(); ++i)
      text += next(ids[i], i == 0);
    return text;
  }

private:
  std::optional<Tokenizer> tokenizer;
};

} // namespace

static void printJson(const std::vector<std::vector<int32_t>> &results,
                      const Printer &printer, bool texts, int64_t promptTokens,
                      int64_t made, StageTable &stages) {
  json answer = {{"ids", results}, {"stages", stagesJson(stages)}};
  answer["prompt_tokens"] = promptTokens;
  answer["new_tokens"] = made;
  for (const std::vector<int32_t> &ids : results)
    if (texts)
      answer["texts"].push_back(printer.all(ids));
  // Text may end within a character.
  std::cout << answer.dump(-1, ' ', false, json::error_handler_t::replace)
            << "\n";
}

int mmx::tool::generate(const GenerateOptions &options) {
  std::unique_ptr<Trace> trace = openTrace(options);
  StageTable stages(trace.get());
  Printer printer(options);
  std::vector<std::vector<int32_t>> prompts = printer.prompts(options);
  Progress progress(options.progress);
  int64_t context =
      options.context > 0 ? options.context : neededContext(prompts, options);
  LoadedModel loaded(options, /*extras=*/{}, prompts.size(), context, stages,
                     progress);
  Session session(loaded.engine(), {context, options.chunk, {}});
  std::vector<int32_t> stop;
  if (!options.ignoreStop)
    stop = loaded.engine().model().stopIds;

  // One prompt is printed as it grows, several one line each at the end.
  bool streams = !options.json && prompts.size() == 1;
  int64_t made = 0, batch = prompts.size(), promptTokens = 0;
  for (const std::vector<int32_t> &prompt : prompts)
    promptTokens += prompt.size();
  stages.enter("prefill");
  auto onId = [&](int64_t, int32_t id) {
    if (streams)
      std::cout << printer.next(id, made == 0) << std::flush;
    if (++made == batch)
      stages.enter("decode");
  };
  auto results =
      session.generate(prompts, options.count, stop, onId, options.sampling);
  stages.enter("other");
  stages.note("prefill", rateText(promptTokens, stages.seconds("prefill")));
  if (made > batch)
    stages.note("decode", rateText(made - batch, stages.seconds("decode")));

  if (options.json) {
    printJson(results, printer, !options.texts.empty(), promptTokens, made,
              stages);
  } else if (streams) {
    std::cout << "\n";
  } else {
    for (const std::vector<int32_t> &ids : results)
      std::cout << printer.all(ids) << "\n";
  }
  if (options.progress != Progress::Mode::None &&
      options.progress != Progress::Mode::Json)
    std::cerr << stages.text();
  std::cerr << loaded.profileText();
  if (trace)
    trace->write();
  return 0;
}
