//===- Tokenize.cpp - Text to ids and back --------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "LoadedModel.h"
#include "Numbers.h"
#include "TextModel.h"

#include "runtime/support/Error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>

using namespace mmx::runtime;
using namespace mmx::tool;
using json = nlohmann::ordered_json;

CLI::App *mmx::tool::addTokenize(CLI::App &app, TokenizeOptions &options) {
  CLI::App *tokenize = app.add_subcommand(
      "tokenize", "text on standard input to ids on standard output");
  tokenize
      ->add_option("MODEL", options.model,
                   "checkpoint directory, or package with a tokenizer")
      ->required();
  tokenize->add_flag("--decode", options.decode,
                     "ids, separated by commas or spaces, to text");
  tokenize->add_flag("--json", options.json,
                     "a list of {id, piece, begin, end}: the text of each id "
                     "and its bytes in the whole");
  tokenize->add_flag("--plain", options.plain,
                     "control tokens written in the text stay text");
  return tokenize;
}

static json piecesOf(const Tokenizer &tokenizer,
                     const std::vector<int32_t> &ids) {
  json list = json::array();
  size_t begin = 0;
  for (int32_t id : ids) {
    std::string piece = tokenizer.decode({&id, 1});
    size_t end = begin + piece.size();
    list.push_back(
        {{"id", id}, {"piece", piece}, {"begin", begin}, {"end", end}});
    begin = end;
  }
  return list;
}

int mmx::tool::tokenize(const TokenizeOptions &options) {
  if (!std::filesystem::exists(options.model))
    fail(options.model, ": there is no such file or directory");
  ModelOptions named;
  named.model = options.model;
  TextModel model(
      TextFiles(openNamedPackage(named), checkpointDirectory(named)));
  std::string input = readText("-");
  std::vector<int32_t> ids;
  if (options.decode) {
    std::ranges::replace_if(
        input, [](unsigned char c) { return std::isspace(c); }, ',');
    // Separators in a row are one, at the ends none.
    auto repeated = std::ranges::unique(
        input, [](char a, char b) { return a == ',' && b == ','; });
    input.erase(repeated.begin(), repeated.end());
    if (input.starts_with(","))
      input.erase(0, 1);
    if (input.ends_with(","))
      input.pop_back();
    if (!input.empty())
      ids = parseIds(input, "standard input");
  } else {
    TextPiece piece{input, /*control=*/!options.plain};
    ids = model.tokenizer().encode({&piece, 1});
  }
  if (options.json) {
    std::cout << piecesOf(model.tokenizer(), ids)
                     .dump(-1, ' ', false, json::error_handler_t::replace)
              << "\n";
  } else if (options.decode) {
    std::cout << model.tokenizer().decode(ids);
  } else {
    for (size_t i = 0; i < ids.size(); ++i)
      std::cout << (i ? "," : "") << ids[i];
    std::cout << "\n";
  }
  return 0;
}
