//===- Niah.cpp - Needles in haystacks ------------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every length the model is loaded with room for just that length, so that
// the memory shown is what the length needs. A needle counts as found if the
// best ids after the question are exactly those of the number.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "HeatMap.h"
#include "LoadedModel.h"
#include "TextModel.h"

#include "runtime/haystack/Haystack.h"
#include "runtime/session/Session.h"
#include "runtime/support/Error.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace mmx::runtime;
using namespace mmx::tool;
using nlohmann::json;

/// Room for the ids of a five-digit number.
static constexpr int64_t answerRoom = 16;

namespace {

struct LengthResult {
  int64_t length = 0;
  std::vector<int64_t> found; ///< by depth
  double seconds = 0, prefillSeconds = 0;
  uint64_t bytes = 0;

  int64_t total() const {
    int64_t sum = 0;
    for (int64_t hits : found)
      sum += hits;
    return sum;
  }
};

class Search {
public:
  Search(const NiahOptions &options, Haystack haystack)
      : options(options), haystack(std::move(haystack)),
        trace(openTrace(options)), progress(options.progress) {}
  LengthResult run(int64_t length);
  /// Writes the file of --trace.
  void finish() {
    if (trace)
      trace->write();
  }

private:
  bool ask(Session &session, const HaystackQuestion &question,
           LengthResult &result);

  const NiahOptions &options;
  Haystack haystack;
  std::unique_ptr<Trace> trace;
  Progress progress;
};

} // namespace

bool Search::ask(Session &session, const HaystackQuestion &question,
                 LengthResult &result) {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  bool first = true;
  auto onId = [&](int64_t, int32_t) {
    if (std::exchange(first, false))
      result.prefillSeconds +=
          std::chrono::duration<double>(Clock::now() - begin).count();
    return true;
  };
  auto made =
      session.generate({&question.prompt, 1}, question.answer.size(), {}, onId);
  result.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  return made.front() == question.answer;
}

LengthResult Search::run(int64_t length) {
  StageTable stages(trace.get());
  LoadedModel loaded(options, /*extras=*/{}, /*sequences=*/1,
                     length + answerRoom, stages, progress);
  Session session(loaded.engine(), {length + answerRoom, options.chunk, {}});
  LengthResult result;
  result.length = length;
  result.bytes = loaded.memoryBytes();
  for (int64_t d = 0; d < options.depths; ++d) {
    double depth = options.depths > 1 ? double(d) / (options.depths - 1) : 0.5;
    int64_t hits = 0;
    for (int64_t trial = 0; trial < options.trials; ++trial) {
      // Trial t of a length sees one text at all depths.
      uint64_t seed = options.seed * 1000003 + trial * 10007 + length;
      hits += ask(session, haystack.question(length, depth, seed), result);
      progress.update("needles", d * options.trials + trial + 1,
                      options.depths * options.trials);
    }
    result.found.push_back(hits);
  }
  progress.finish();
  return result;
}

static std::string lengthText(int64_t length) {
  if (length % (1 << 20) == 0)
    return concat(length >> 20, "M");
  return length % 1024 == 0 ? concat(length >> 10, "k") : concat(length);
}

static std::string depthText(const NiahOptions &options, int64_t depth) {
  double share =
      options.depths > 1 ? double(depth) / (options.depths - 1) : 0.5;
  return concat(std::lround(share * 100), "%");
}

static void printHeader(const NiahOptions &options) {
  std::cout << "  length       found   tokens/s   memory      time   found of "
            << options.trials << " at depth";
  for (int64_t d = 0; d < options.depths; ++d)
    std::cout << " " << depthText(options, d);
  std::cout << "\n";
}

static void printRow(const NiahOptions &options, const LengthResult &row) {
  int64_t asked = options.depths * options.trials;
  char text[160];
  std::snprintf(text, sizeof(text),
                "%8s   %4lld/%-4lld   %8.0f   %5.0f M   %6.1f s  ",
                lengthText(row.length).c_str(), (long long)row.total(),
                (long long)asked, row.length * asked / row.prefillSeconds,
                row.bytes / 1048576.0, row.seconds);
  std::cout << text;
  for (int64_t hits : row.found)
    std::cout << " " << hits;
  std::cout << std::endl;
}

static json toJson(const NiahOptions &options,
                   const std::vector<LengthResult> &rows) {
  json lengths = json::array();
  for (const LengthResult &row : rows)
    lengths.push_back(
        {{"tokens", row.length},
         {"found", row.total()},
         {"found_by_depth", row.found},
         {"asked", options.depths * options.trials},
         {"seconds", row.seconds},
         {"prefill_tokens_per_s",
          row.length * options.depths * options.trials / row.prefillSeconds},
         {"bytes", row.bytes}});
  return {{"model", options.model},   {"device", options.device},
          {"depths", options.depths}, {"trials", options.trials},
          {"seed", options.seed},     {"lengths", lengths}};
}

static void writeHeatMap(const NiahOptions &options,
                         const std::vector<LengthResult> &rows) {
  HeatMap map;
  map.title = concat("needles found, percent of ", options.trials);
  map.columnTitle = "length in tokens";
  map.rowTitle = "depth";
  for (int64_t d = 0; d < options.depths; ++d)
    map.rows.push_back(depthText(options, d));
  for (const LengthResult &row : rows) {
    map.columns.push_back(lengthText(row.length));
    std::vector<double> &shares = map.shares.emplace_back();
    for (int64_t hits : row.found)
      shares.push_back(double(hits) / options.trials);
  }
  std::ofstream file(options.svg);
  file << map.svg();
  if (!file.flush())
    fail(options.svg, ": cannot be written");
}

static std::string readHaystack(const std::string &path) {
  if (path.empty())
    return "";
  std::string text = readText(path);
  if (text.empty())
    fail(path, ": expected text, but it is empty");
  return text;
}

int mmx::tool::niah(const NiahOptions &options) {
  std::string directory = checkpointDirectory(options);
  if (!std::filesystem::exists(std::filesystem::path(directory) /
                               "tokenizer.json"))
    fail(directory, ": expected a tokenizer.json: numbers are hidden in text");
  Tokenizer tokenizer = Tokenizer::open(directory);
  auto encode = [&](std::string_view text) { return tokenizer.encode(text); };
  Search search(options, Haystack(encode, readHaystack(options.haystack)));
  std::vector<LengthResult> rows;
  if (!options.json)
    printHeader(options);
  for (int64_t length : options.lengths) {
    rows.push_back(search.run(length));
    if (!options.json)
      printRow(options, rows.back());
  }
  if (options.json)
    std::cout << toJson(options, rows).dump() << "\n";
  search.finish();
  if (!options.svg.empty())
    writeHeatMap(options, rows);
  return 0;
}
