//===- Commands.h - Commands of mmx-run -------------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each command returns the exit status, writes its answer to standard output
// and everything else to standard error, and throws Error if it cannot do its
// work.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_MMXRUN_COMMANDS_H
#define MMX_TOOLS_MMXRUN_COMMANDS_H

#include "runtime/progress/Progress.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mmx::tool {

/// Which model runs where; options that all commands share.
struct ModelOptions {
  std::string model;          ///< directory, config.json or package
  std::string device = "cpu"; ///< or "reference", "cuda", "cuda:N"
  std::string target;         ///< empty: the device's own
  std::string dtype;          ///< empty: bf16 on GPUs, f32 elsewhere
  std::string weights; ///< directory or "random:SEED"; empty: the model's
  bool checkWeights = false;
  int64_t block = 0;
  int threads = 0;
  int64_t chunk = 512;
  bool json = false;
  std::string trace; ///< file of a timeline; empty: none
  bool poison = false;
  bool profile = false;
  bool graphs = true;
  runtime::Progress::Mode progress = runtime::Progress::Mode::Auto;
};

/// How answers are made; options that prompts and chats share.
struct AnswerOptions : ModelOptions {
  std::string system; ///< makes of a text a conversation; empty: none
  bool controlInMessages = false; ///< control tokens in messages count
  std::vector<std::string> stops; ///< an answer in text ends before these
  std::optional<int64_t> count;   ///< most ids to add
  int64_t context = 0;            ///< 0: chosen
  bool ignoreStop = false;
  /// In place of what generation_config.json says.
  std::optional<double> temperature, topP;
  std::optional<int64_t> topK;
  uint64_t seed = 1;
};

struct GenerateOptions : AnswerOptions {
  std::vector<std::vector<int32_t>> prompts;
  std::vector<std::string> texts;       ///< instead: prompts as text
  std::vector<std::string> promptFiles; ///< the same, in files
  std::string chat; ///< file of a conversation in JSON; empty: none
};
int generate(const GenerateOptions &options);

/// Asks on a terminal, or takes a message from every line of standard input,
/// and answers, until the input ends; interrupted the exit status is 130.
int chat(const AnswerOptions &options);

/// Who chooses the experts while a model is verified: its own router, or the
/// one of the reference interpreter.
enum class Routing { Auto, Own, Reference };

struct VerifyOptions : ModelOptions {
  std::string golden;   ///< empty: golden.safetensors beside the model
  double tolerance = 0; ///< 0: the bound of the dtype
  bool hidden = true;
  Routing routing = Routing::Auto; ///< Auto: Reference for bf16
  std::string routingFile; ///< knows the reference's experts from this file
  std::string saveRouting; ///< writes them to this file
};
int verify(const VerifyOptions &options);

struct NiahOptions : ModelOptions {
  std::vector<int64_t> lengths; ///< tokens of the prompts
  int64_t depths = 10;
  int64_t trials = 1; ///< at every length and depth
  uint64_t seed = 1;
  std::string haystack; ///< file of text; empty: made sentences
  std::string svg;      ///< where the heat map goes; empty: nowhere
};
int niah(const NiahOptions &options);

struct TokenizeOptions {
  std::string model;
  bool decode = false, json = false, plain = false;
};
/// Adds the command to the program.
CLI::App *addTokenize(CLI::App &app, TokenizeOptions &options);
int tokenize(const TokenizeOptions &options);

struct InspectOptions {
  std::string package;
  bool plan = false;
};
int inspect(const InspectOptions &options);

/// mmx, the compiler library, the driver and the GPUs, a line each.
std::string versionText();

struct CacheOptions {
  std::string action; ///< "list", "verify" or "clear"
  bool json = false;
};
/// Adds the command to the program.
CLI::App *addCache(CLI::App &app, CacheOptions &options);
/// The exit status is 1 if verify found a damaged entry.
int cache(const CacheOptions &options);

struct PlanCommandOptions {
  std::string model, target;
  int64_t gpus = 1, tp = 0, ep = 1, sp = 1, pp = 1; ///< tp 0: what is left
  std::string context;                              ///< "128k"
  int64_t batch = 1, chunk = 8192;
  std::string quant, cache = "bf16";
  bool json = false;
};
/// Adds the command to the program.
CLI::App *addPlan(CLI::App &app, PlanCommandOptions &options);
/// The exit status is 1 if the model does not fit.
int plan(const PlanCommandOptions &options);

} // namespace mmx::tool

#endif // MMX_TOOLS_MMXRUN_COMMANDS_H
