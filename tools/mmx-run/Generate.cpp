//===- Generate.cpp - Continues prompts of ids ----------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "LoadedModel.h"

#include "runtime/session/Session.h"
#include "runtime/support/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>

using namespace mmx::runtime;
using namespace mmx::tool;
using nlohmann::json;

static int64_t neededContext(const GenerateOptions &options) {
  size_t longest = 0;
  for (const std::vector<int32_t> &prompt : options.prompts) {
    if (prompt.empty())
      fail("--ids: the prompt is empty");
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

int mmx::tool::generate(const GenerateOptions &options) {
  StageTable stages;
  Progress progress(options.progress);
  int64_t context =
      options.context > 0 ? options.context : neededContext(options);
  LoadedModel loaded(options, /*keepHidden=*/false, options.prompts.size(),
                     context, stages, progress);
  Session session(loaded.engine(), {context, options.chunk, {}});
  std::vector<int32_t> stop;
  if (!options.ignoreStop)
    stop = loaded.engine().model().stopIds;

  // One prompt is printed as it grows, several one line each at the end.
  bool streams = !options.json && options.prompts.size() == 1;
  int64_t made = 0, prompts = options.prompts.size(), promptTokens = 0;
  for (const std::vector<int32_t> &prompt : options.prompts)
    promptTokens += prompt.size();
  stages.enter("prefill");
  auto onId = [&](int64_t, int32_t id) {
    if (streams)
      std::cout << (made > 0 ? "," : "") << id << std::flush;
    if (++made == prompts)
      stages.enter("decode");
  };
  auto results = session.generate(options.prompts, options.count, stop, onId);
  stages.enter("other");
  stages.note("prefill", rateText(promptTokens, stages.seconds("prefill")));
  if (made > prompts)
    stages.note("decode", rateText(made - prompts, stages.seconds("decode")));

  if (options.json) {
    json answer = {{"ids", results}, {"stages", stagesJson(stages)}};
    answer["prompt_tokens"] = promptTokens;
    answer["new_tokens"] = made;
    std::cout << answer.dump() << "\n";
  } else if (streams) {
    std::cout << "\n";
  } else {
    for (const std::vector<int32_t> &ids : results) {
      for (size_t i = 0; i < ids.size(); ++i)
        std::cout << (i > 0 ? "," : "") << ids[i];
      std::cout << "\n";
    }
  }
  if (options.progress != Progress::Mode::None &&
      options.progress != Progress::Mode::Json)
    std::cerr << stages.text();
  std::cerr << loaded.profileText();
  return 0;
}
