//===- mmx-run.cpp - Runs models ------------------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "runtime/support/Error.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <map>

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
  app.add_flag("--json", options.json, "answer in JSON");
  app.add_flag("--poison", options.poison,
               "fill temporaries and outputs with NaN before every step: "
               "finds kernels that read what nobody wrote");
  app.add_flag("--profile", options.profile,
               "time every kernel and print a table at the end");
  app.add_flag("--graph,!--no-graph", options.graphs,
               "record repeated decode steps as a CUDA graph");
  app.add_option("--progress", options.progress,
                 "how progress is shown on standard error")
      ->transform(CLI::CheckedTransformer(modes, CLI::ignore_case))
      ->type_name("auto|bar|lines|json|none")
      ->option_text("auto|bar|lines|json|none");
}

/// "1,2,3" to ids.
static std::vector<int32_t> parseIds(const std::string &text) {
  std::vector<int32_t> ids;
  std::istringstream items(text);
  std::string item;
  while (std::getline(items, item, ',')) {
    size_t used = 0;
    long long id = -1;
    try {
      id = std::stoll(item, &used);
    } catch (const std::exception &) {
      used = 0;
    }
    if (used == 0 || used != item.size() || id < 0 || id > INT32_MAX)
      mmx::runtime::fail("--ids: expected numbers with commas between them, "
                         "but got \"",
                         item, "\" in \"", text, "\"");
    ids.push_back(int32_t(id));
  }
  return ids;
}

/// Parses the command line and runs the command.
static int run(int argc, char **argv) {
  CLI::App app("Runs MiniMax-01 models: continues prompts, and compares a "
               "model with recorded answers.\n");
  app.footer("Examples:\n"
             "  mmx-run MODEL --ids 1,2,3 -n 16\n"
             "  mmx-run MODEL --ids 1,2,3 --ids 4,5 -n 16    a batch of two\n"
             "  mmx-run model.mmx --weights DIR --ids 1,2,3\n"
             "  mmx-run MODEL --ids 1,2,3 --device cuda\n"
             "  mmx-run verify MODEL --device reference\n"
             "  mmx-run inspect model.mmx --plan\n\n"
             "The answer goes to standard output, everything else to standard "
             "error.\nA package is code: run only those that you trust.");
  app.set_version_flag("--version", "mmx 0.1.0");
  app.require_subcommand(0, 1);
  GenerateOptions generateOptions;
  std::vector<std::string> idLists;
  addModelOptions(app, generateOptions);
  app.add_option("--ids", idLists,
                 "a prompt as token ids; several times: a batch")
      ->type_name("ID,ID,...")
      ->take_all();
  app.add_option("-n,--count", generateOptions.count, "most ids to add")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  app.add_option("--ctx", generateOptions.context,
                 "room for this many tokens a sequence; 0: what is needed")
      ->check(CLI::Range(0, 1 << 30));
  app.add_flag("--ignore-stop", generateOptions.ignoreStop,
               "go on after a stop id");

  VerifyOptions verifyOptions;
  CLI::App *verifyApp = app.add_subcommand(
      "verify", "compares a model with MODEL/golden.safetensors; exit status "
                "1 if they differ");
  addModelOptions(*verifyApp, verifyOptions);
  verifyApp->add_option("--golden", verifyOptions.golden,
                        "the recorded answers, if not beside the weights");
  verifyApp
      ->add_option("--tolerance", verifyOptions.tolerance,
                   "largest relative error")
      ->capture_default_str();
  verifyApp->add_flag("--hidden,!--no-hidden", verifyOptions.hidden,
                      "compile so that hidden values can be compared");

  InspectOptions inspectOptions;
  CLI::App *inspectApp =
      app.add_subcommand("inspect", "prints what is in a package");
  inspectApp->add_option("PACKAGE", inspectOptions.package, "file (.mmx)")
      ->required();
  inspectApp->add_flag("--plan", inspectOptions.plan,
                       "also weights, buffers and launches");
  CLI11_PARSE(app, argc, argv);

  if (inspectApp->parsed())
    return inspect(inspectOptions);
  const ModelOptions &chosen = verifyApp->parsed()
                                   ? static_cast<ModelOptions &>(verifyOptions)
                                   : generateOptions;
  if (chosen.model.empty())
    mmx::runtime::fail("expected a model; see mmx-run --help");
  if (verifyApp->parsed())
    return verify(verifyOptions);
  for (const std::string &list : idLists)
    generateOptions.prompts.push_back(parseIds(list));
  if (generateOptions.prompts.empty())
    mmx::runtime::fail("expected a prompt: use --ids");
  return generate(generateOptions);
}

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &error) {
    std::cerr << "mmx-run: error: " << error.what() << "\n";
    return 2;
  }
}
