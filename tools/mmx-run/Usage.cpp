//===- Usage.cpp - What a command line should have been -------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Usage.h"

#include "runtime/support/Error.h"
#include "runtime/support/MappedFile.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

using mmx::runtime::fail;
using mmx::runtime::MappedFile;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Examples
//===----------------------------------------------------------------------===//

static constexpr std::pair<std::string_view, std::string_view> examples[] = {
    {"chat", "  mmx-run chat MODEL --system \"Be brief.\"\n"
             "  mmx-run chat MODEL --temperature 0.7 --top-p 0.9\n"
             "  mmx-run chat MODEL < messages.txt\n"},
    {"verify", "  mmx-run verify MODEL\n"
               "  mmx-run verify MODEL --device reference\n"
               "  mmx-run verify model.mmx --weights DIR\n"
               "  mmx-run verify MODEL --device cuda --dtype f32\n"},
    {"niah", "  mmx-run niah MODEL --lengths 1k,16k --depths 10 --trials 5\n"
             "  mmx-run niah MODEL --lengths 8k --svg map.svg\n"},
    {"inspect", "  mmx-compile MODEL -o model.mmx\n"
                "  mmx-run inspect model.mmx\n"
                "  mmx-run inspect model.mmx --plan\n"},
    {"cache", "  mmx-run cache list\n"
              "  mmx-run cache clear\n"},
    {"plan", "  mmx-run plan MODEL --target h200 --ctx 128k\n"
             "  mmx-run plan MODEL --target h800 --gpus 8 --ctx 1M "
             "--quant int8\n"},
    {"tokenize", "  echo 'In the beginning' | mmx-run tokenize MODEL\n"
                 "  echo 1,2,3 | mmx-run tokenize MODEL --decode\n"},
};

void mmx::tool::addExamples(CLI::App &app) {
  for (CLI::App *command : app.get_subcommands({})) {
    command->footer("");
    for (auto [name, text] : examples)
      if (command->get_name() == name)
        command->footer("Examples:\n" + std::string(text));
  }
}

//===----------------------------------------------------------------------===//
// What was meant
//===----------------------------------------------------------------------===//

/// Insertions, deletions and replacements between two words.
static size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < to.size(); ++j) {
      size_t replaced = diagonal + (from[i] != to[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

/// "; did you mean --prompt?" if a name is near `word`, else nothing.
static std::string suggest(const std::string &word,
                           const std::vector<std::string> &names) {
  std::string best;
  size_t least = 1 + word.size() / 3;
  for (const std::string &name : names)
    if (size_t distance = editDistance(word, name); distance < least) {
      least = distance;
      best = name;
    }
  return best.empty() ? "" : "; did you mean " + best + "?";
}

static std::vector<std::string> commandNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands({}))
    names.push_back(command->get_name());
  return names;
}

static std::vector<std::string> optionNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

/// The command that was chosen, or the program.
static const CLI::App &chosenCommand(const CLI::App &app) {
  auto commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

/// Says which of the arguments nobody takes. One of an unknown option looks
/// like an argument, so options come first.
[[noreturn]] static void reportExtras(const CLI::App &app) {
  std::vector<std::string> extras = app.remaining(/*recurse=*/true);
  const CLI::App &command = chosenCommand(app);
  std::string help = "; see mmx-run " +
                     (&command == &app ? "" : command.get_name() + " ") +
                     "--help";
  for (const std::string &extra : extras)
    if (extra.starts_with("-")) {
      std::string name = extra.substr(0, extra.find('='));
      fail("there is no option ", name, suggest(name, optionNames(command)),
           help);
    }
  std::string first =
      &command == &app ? app.get_option("MODEL")->as<std::string>() : "";
  if (!first.empty() && !fs::exists(first))
    fail("there is no command ", first, " and no model of this name",
         suggest(first, commandNames(app)), help);
  std::string extra = extras.empty() ? "" : extras.front();
  if (&command == &app)
    help = "; a prompt is given by --prompt TEXT or --ids 1,2,3" + help;
  fail("expected no further argument, but got ", extra, help);
}

int mmx::tool::reportParseError(const CLI::App &app,
                                const CLI::ParseError &error) {
  if (error.get_exit_code() == 0)
    return app.exit(error);
  if (dynamic_cast<const CLI::ExtrasError *>(&error))
    reportExtras(app);
  const CLI::App &command = chosenCommand(app);
  fail(error.what(), "; see mmx-run ",
       &command == &app ? "" : command.get_name() + " ", "--help");
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// "; models/tiny has one": folders inside that could be meant.
static std::string findCheckpoints(const fs::path &folder) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(folder, ignored))
    if (fs::exists(entry.path() / "config.json", ignored))
      found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found.empty() ? "" : "; " + found.front() + " has one";
}

static bool hasMagic(const std::string &path) {
  MappedFile file(path);
  std::string_view text(reinterpret_cast<const char *>(file.bytes().data()),
                        file.bytes().size());
  return text.starts_with("MMXPKG01");
}

void mmx::tool::checkModelPath(const CLI::App &app, const std::string &model,
                               const std::string &before) {
  const CLI::App &command = chosenCommand(app);
  if (model.empty() && !before.empty() && &command != &app)
    fail("expected the command first: mmx-run ", command.get_name(), " ",
         before);
  if (model.empty())
    fail("expected a model; see mmx-run --help");
  if (!fs::exists(model))
    fail(model, ": there is no such file or directory",
         &command == &app ? suggest(model, commandNames(app)) : "");
  if (fs::is_directory(model)) {
    if (!fs::exists(fs::path(model) / "config.json"))
      fail(model,
           ": expected a checkpoint directory, but it has no "
           "config.json",
           findCheckpoints(model));
  } else if (!fs::is_regular_file(model)) {
    // Opening a pipe would wait for a writer.
    fail(model, ": expected a regular file");
  } else if (fs::path(model).extension() != ".json" && !hasMagic(model)) {
    fail(model,
         ": expected a checkpoint directory, a config.json or a "
         "package (.mmx)",
         fs::path(model).extension() == ".safetensors"
             ? "; give the directory that it stands in"
             : "");
  }
}
