//===- mmx-run.cpp - Runs models ------------------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Numbers.h"
#include "TextModel.h"
#include "Usage.h"

#include "runtime/support/Error.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <iostream>
#include <map>
#include <unistd.h>

using namespace mmx::tool;
using mmx::runtime::Error;
using mmx::runtime::Progress;

/// An error message for --device; empty if there may be such a device.
static std::string checkDevice(const std::string &device) {
  if (device == "cpu" || device == "reference" || device == "cuda" ||
      device.starts_with("cuda:"))
    return "";
  return device + " not in {cpu,cuda,cuda:N,reference}";
}

static void addModelOptions(CLI::App &app, ModelOptions &options) {
  static const std::map<std::string, Progress::Mode> modes = {
      {"auto", Progress::Mode::Auto},
      {"bar", Progress::Mode::Bar},
      {"lines", Progress::Mode::Lines},
      {"json", Progress::Mode::Json},
      {"none", Progress::Mode::None}};
  app.add_option("MODEL", options.model,
                 "checkpoint directory, config.json or package (.mmx)");
  app.add_option("--device", options.device,
                 "cpu; cuda, cuda:N: a GPU of NVIDIA; reference: the "
                 "interpreter, in double precision")
      ->check(checkDevice)
      ->capture_default_str();
  app.add_option("--target", options.target,
                 "machine that a checkpoint is compiled for and packages are "
                 "taken from, if not the device itself: h100, h200, ...");
  app.add_option("--dtype", options.dtype,
                 "precision of matrix inputs; if not given bf16 on GPUs, f32 "
                 "elsewhere, or what a package is compiled with")
      ->check(CLI::IsMember({"f32", "bf16"}));
  app.add_option("--weights", options.weights,
                 "directory of the safetensors files, or random:SEED; needed "
                 "for a package")
      ->type_name("DIR|random:SEED");
  app.add_flag("--check-weights", options.checkWeights,
               "refuse weights that are infinite or no numbers");
  app.add_option("--block", options.block,
                 "tokens of a lightning block; 0: the compiler chooses")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--chunk", options.chunk,
                 "most tokens of one sequence in one step")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  app.add_option("--threads", options.threads,
                 "threads of the cpu device, or that load weights for a GPU; "
                 "0: as many as allowed")
      ->check(CLI::Range(0, 4096));
  app.add_flag("--json", options.json,
               "answer in JSON; ids as they are made, an event a line");
  app.add_flag("--poison", options.poison,
               "fill temporaries and outputs with NaN before every step: "
               "finds kernels that read what nobody wrote");
  app.add_flag("--profile", options.profile,
               "time every kernel and print a table at the end");
  app.add_option("--trace", options.trace,
                 "write a timeline of stages and kernels, for chrome://tracing "
                 "or ui.perfetto.dev; kernels run one by one")
      ->type_name("FILE");
  app.add_flag("--graph,!--no-graph", options.graphs,
               "record repeated decode steps as a CUDA graph");
  app.add_option("--progress", options.progress,
                 "how progress is shown on standard error")
      ->transform(CLI::CheckedTransformer(modes, CLI::ignore_case))
      ->type_name("auto|bar|lines|json|none")
      ->option_text("auto|bar|lines|json|none");
}

static void addAnswerOptions(CLI::App &app, AnswerOptions &options) {
  addModelOptions(app, options);
  app.add_option("--system", options.system,
                 "system text; --prompt is then a user's message")
      ->type_name("TEXT");
  app.add_flag("--control-tokens", options.controlInMessages,
               "control tokens written inside messages count as such; else "
               "they stay text");
  app.add_option("--stop", options.stops,
                 "end an answer in text before this text; may be repeated")
      ->type_name("TEXT")
      ->take_all();
  app.add_option("-n,--count", options.count,
                 "most ids to add; if not given 16, in a chat what the context "
                 "has room for")
      ->check(CLI::Range(0, 1 << 30))
      ->type_name("N");
  app.add_option("--ctx", options.context,
                 "room for this many tokens a sequence; 0: what is needed, in "
                 "a chat 32768 or what the model has")
      ->check(CLI::Range(0, 1 << 30));
  app.add_option("--temperature", options.temperature,
                 "draw ids instead of taking the best: divides the logits; 0: "
                 "take the best [generation_config.json, else 0]")
      ->check(CLI::Range(0.0, 100.0))
      ->type_name("T");
  app.add_option("--top-k", options.topK,
                 "draw among so many of the likeliest ids; 0: all "
                 "[generation_config.json, else 0]")
      ->check(CLI::Range(0, 1 << 30))
      ->type_name("K");
  app.add_option("--top-p", options.topP,
                 "draw among the likeliest ids that hold this share "
                 "[generation_config.json, else 1]")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("P");
  app.add_option("--seed", options.seed,
                 "of drawing; with the number of the prompt and the position "
                 "it decides what is drawn")
      ->capture_default_str();
  app.add_flag("--ignore-stop", options.ignoreStop, "go on after a stop id");
}

static void addGenerate(CLI::App &app, GenerateOptions &options,
                        std::vector<std::string> &idLists) {
  addAnswerOptions(app, options);
  app.add_option("--ids", idLists,
                 "a prompt as token ids; several times: a batch")
      ->type_name("ID,ID,...")
      ->take_all();
  app.add_option("-p,--prompt", options.texts,
                 "a prompt as text, for a model with a tokenizer; several "
                 "times: a batch")
      ->type_name("TEXT")
      ->take_all();
  app.add_option("--prompt-file", options.promptFiles,
                 "a prompt as text in a file; several times: a batch")
      ->type_name("FILE")
      ->take_all();
  app.add_option("--chat", options.chat,
                 "a conversation to continue: JSON, a list of messages "
                 "{role, content} or an object {messages, tools}")
      ->type_name("FILE");
}

static CLI::App *addChat(CLI::App &app, AnswerOptions &options) {
  CLI::App *chat = app.add_subcommand(
      "chat", "a conversation: messages on standard input, a line each, and "
              "answers as they are made; /help lists what else a line may say");
  addAnswerOptions(*chat, options);
  return chat;
}

static CLI::App *addVerify(CLI::App &app, VerifyOptions &options) {
  CLI::App *verify = app.add_subcommand(
      "verify", "compares a model with MODEL/golden.safetensors; exit status "
                "1 if they differ");
  addModelOptions(*verify, options);
  verify->add_option("--golden", options.golden,
                     "the recorded answers, if not beside the weights");
  verify
      ->add_option("--tolerance", options.tolerance,
                   "largest relative error, in place of the bound of the "
                   "dtype (docs/spec.md, section Tolerances)")
      ->check(CLI::PositiveNumber);
  static const std::map<std::string, Routing> routings = {
      {"auto", Routing::Auto},
      {"own", Routing::Own},
      {"reference", Routing::Reference}};
  verify
      ->add_option("--routing", options.routing,
                   "who chooses experts: own (the model), or reference (the "
                   "interpreter; the default for bf16, where near ties flip)")
      ->transform(CLI::CheckedTransformer(routings))
      ->type_name("own|reference")
      ->option_text("own|reference");
  verify->add_option("--routing-file", options.routingFile,
                     "the reference's experts as --save-routing wrote them: "
                     "needs no interpreter, and takes packages compiled with "
                     "--routing; with --routing own only to count tokens that "
                     "go elsewhere");
  verify->add_option("--save-routing", options.saveRouting,
                     "write the experts that the reference chooses");
  verify->add_flag("--hidden,!--no-hidden", options.hidden,
                   "compile so that hidden values can be compared");
  return verify;
}

static CLI::App *addNiah(CLI::App &app, NiahOptions &options,
                         std::string &lengths) {
  CLI::App *niah = app.add_subcommand(
      "niah", "hides a number in long texts and asks for it: exact matches by "
              "length and depth");
  addModelOptions(*niah, options);
  niah->add_option("--lengths", lengths, "tokens of the prompts")
      ->type_name("N[k|M],...")
      ->capture_default_str();
  niah->add_option("--depths", options.depths,
                   "places of the needle, from start to end")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  niah->add_option("--trials", options.trials, "at every length and depth")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  niah->add_option("--seed", options.seed, "of texts, words and numbers")
      ->capture_default_str();
  niah->add_option("--haystack", options.haystack,
                   "file of text to hide needles in; else sentences are made")
      ->type_name("FILE");
  niah->add_option("--svg", options.svg, "write a heat map")->type_name("FILE");
  return niah;
}

/// Prompts come in one way only.
static void checkPrompts(const GenerateOptions &options) {
  bool conversation = !options.chat.empty() || !options.system.empty();
  size_t texts = options.texts.size() + options.promptFiles.size();
  int ways = !options.prompts.empty() + (texts > 0 || conversation);
  if (ways != 1)
    mmx::runtime::fail("expected a prompt: use either --prompt or --ids");
  if (conversation && (texts > 1 || !options.promptFiles.empty() ||
                       (options.chat.empty() && texts == 0)))
    mmx::runtime::fail("expected one conversation: --chat, or --system with "
                       "one --prompt");
  if (!options.stops.empty() && !options.prompts.empty())
    mmx::runtime::fail("--stop: expected a prompt as text, but got --ids");
}

/// Parses the command line and runs the command.
static int run(int argc, char **argv) {
  CLI::App app("Runs MiniMax-01 models: continues prompts, and compares a "
               "model with recorded answers.\n",
               "mmx-run");
  app.footer("Examples:\n"
             "  mmx-run MODEL --prompt \"In the beginning\" -n 40\n"
             "  mmx-run MODEL --system \"Be brief.\" -p \"What is a cat?\"\n"
             "  mmx-run MODEL --chat conversation.json --temperature 1\n"
             "  mmx-run chat MODEL --system \"Be brief.\"\n"
             "  mmx-run MODEL --ids 1,2,3 -n 16\n"
             "  mmx-run MODEL --ids 1,2,3 --ids 4,5 -n 16    a batch of two\n"
             "  mmx-run model.mmx --weights DIR --ids 1,2,3\n"
             "  mmx-run MODEL --ids 1,2,3 --device cuda\n"
             "  mmx-run verify MODEL --device reference\n"
             "  mmx-run niah MODEL --lengths 1k,16k --depths 10 --trials 5\n"
             "  mmx-run tokenize MODEL --json < text.txt\n"
             "  mmx-run inspect model.mmx --plan\n"
             "  mmx-run plan MODEL --target h800 --gpus 8 --ctx 1M "
             "--quant int8\n\n"
             "Without a prompt, on a terminal, mmx-run MODEL is a chat.\n"
             "The answer goes to "
             "standard output, everything else to standard "
             "error.\nA package is code: run only those that you trust.");
  app.set_version_flag("--version", versionText);
  app.require_subcommand(0, 1);
  GenerateOptions generateOptions;
  std::vector<std::string> idLists;
  addGenerate(app, generateOptions, idLists);
  AnswerOptions chatOptions;
  CLI::App *chatApp = addChat(app, chatOptions);
  VerifyOptions verifyOptions;
  CLI::App *verifyApp = addVerify(app, verifyOptions);
  NiahOptions niahOptions;
  std::string lengths = "1k,4k";
  CLI::App *niahApp = addNiah(app, niahOptions, lengths);

  InspectOptions inspectOptions;
  CLI::App *inspectApp =
      app.add_subcommand("inspect", "prints what is in a package");
  inspectApp->add_option("PACKAGE", inspectOptions.package, "file (.mmx)")
      ->required();
  inspectApp->add_flag("--plan", inspectOptions.plan,
                       "also weights, buffers and launches");
  CacheOptions cacheOptions;
  CLI::App *cacheApp = addCache(app, cacheOptions);
  PlanCommandOptions planOptions;
  CLI::App *planApp = addPlan(app, planOptions);
  TokenizeOptions tokenizeOptions;
  CLI::App *tokenizeApp = addTokenize(app, tokenizeOptions);
  addExamples(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return reportParseError(app, error);
  }

  if (inspectApp->parsed())
    return inspect(inspectOptions);
  if (cacheApp->parsed())
    return cache(cacheOptions);
  if (tokenizeApp->parsed())
    return tokenize(tokenizeOptions);
  if (planApp->parsed())
    return plan(planOptions);
  const ModelOptions &chosen =
      verifyApp->parsed() ? static_cast<ModelOptions &>(verifyOptions)
      : niahApp->parsed() ? static_cast<ModelOptions &>(niahOptions)
      : chatApp->parsed() ? static_cast<ModelOptions &>(chatOptions)
                          : generateOptions;
  checkModelPath(app, chosen.model, generateOptions.model);
  if (verifyApp->parsed())
    return verify(verifyOptions);
  if (niahApp->parsed()) {
    niahOptions.lengths = parseLengths(lengths, "--lengths");
    return niah(niahOptions);
  }
  if (chatApp->parsed())
    return chat(chatOptions);
  for (const std::string &list : idLists)
    generateOptions.prompts.push_back(parseIds(list));
  if (idLists.empty() && !hasTextPrompts(generateOptions) &&
      ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO))
    return chat(generateOptions);
  checkPrompts(generateOptions);
  return generate(generateOptions);
}

/// Ends the program as a shell expects it, without a bar left behind.
static void onInterrupt(int) {
  constexpr char clear[] = "\r\033[K";
  if (::isatty(STDERR_FILENO) &&
      ::write(STDERR_FILENO, clear, sizeof(clear) - 1) < 0)
    ::_exit(131);
  ::_exit(128 + SIGINT);
}

int main(int argc, char **argv) {
  std::signal(SIGINT, onInterrupt);
  try {
    int status = run(argc, argv);
    if (!std::cout.flush())
      mmx::runtime::fail("cannot write the answer to standard output");
    return status;
  } catch (const std::exception &error) {
    std::cerr << "mmx-run: error: " << error.what() << "\n";
    return 2;
  }
}
