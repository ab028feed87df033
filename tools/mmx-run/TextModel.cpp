//===- TextModel.cpp - The text half of a model ---------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextModel.h"

#include "runtime/support/Error.h"
#include "runtime/support/JsonText.h"
#include "runtime/support/MappedFile.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace mmx::runtime;
using namespace mmx::tool;
using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string TextFiles::where(const std::string &name) const {
  if (package && package->text(name))
    return concat(package->name(), ": ", name);
  return (fs::path(theFolder) / name).string();
}

std::optional<std::string> TextFiles::find(const std::string &name) const {
  if (package)
    if (std::optional<std::string_view> text = package->text(name))
      return std::string(*text);
  fs::path path = fs::path(theFolder) / name;
  if (!fs::exists(path))
    return std::nullopt;
  MappedFile file(path.string());
  std::span<const uint8_t> bytes = file.bytes();
  return std::string(bytes.begin(), bytes.end());
}

std::string TextFiles::read(const std::string &name) const {
  if (std::optional<std::string> text = find(name))
    return *text;
  fail(where(name), ": there is no such file");
}

static Tokenizer openTokenizer(const TextFiles &files) {
  std::optional<std::string> text = files.find("tokenizer.json");
  if (!text)
    fail(files.folder(), ": expected a tokenizer.json, to read and write text; "
                         "put the model's there, or use --ids");
  return Tokenizer::parse(*text, files.where("tokenizer.json"));
}

TextModel::TextModel(TextFiles files)
    : files(std::move(files)), theTokenizer(openTokenizer(this->files)) {}

ChatFormat TextModel::chatFormat() const {
  return chatFormatOf(files.read("config.json"));
}

GenerationConfig mmx::tool::generationConfig(const TextFiles &files) {
  constexpr const char *name = "generation_config.json";
  std::optional<std::string> text = files.find(name);
  return text ? parseGenerationConfig(*text, files.where(name))
              : GenerationConfig();
}

Sampler::Options mmx::tool::samplingFor(const AnswerOptions &options,
                                        const GenerationConfig &config) {
  Sampler::Options sampling;
  double temperature = config.sample ? config.temperature.value_or(1) : 0;
  sampling.temperature = options.temperature.value_or(temperature);
  sampling.topK = options.topK.value_or(config.topK.value_or(0));
  sampling.topP = options.topP.value_or(config.topP.value_or(1));
  sampling.seed = options.seed;
  return sampling;
}

bool mmx::tool::hasTextPrompts(const GenerateOptions &options) {
  return !options.texts.empty() || !options.promptFiles.empty() ||
         !options.chat.empty() || !options.system.empty();
}

std::string mmx::tool::readText(const std::string &file) {
  if (file == "-")
    return {std::istreambuf_iterator<char>(std::cin), {}};
  MappedFile mapped(file);
  std::span<const uint8_t> bytes = mapped.bytes();
  return {bytes.begin(), bytes.end()};
}

/// The length of the UTF-8 character that `text` begins with; 0: there is none.
static size_t characterLength(std::string_view text) {
  auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  unsigned lead = byte(0);
  if (lead < 0x80)
    return 1;
  size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (length == 0 || lead > 0xf4)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  // Longer than needed, surrogates, beyond U+10FFFF.
  bool wrong =
      (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) ||
      (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f);
  return wrong ? 0 : length;
}

void mmx::tool::checkUtf8(std::string_view text, const std::string &what) {
  for (size_t at = 0; at < text.size();) {
    size_t length = characterLength(text.substr(at));
    if (length == 0)
      fail(what, ": expected UTF-8, but byte ", at, " is part of no ",
           "character; convert the text first, with iconv for example");
    at += length;
  }
}

std::vector<int32_t>
TextModel::chatPrompt(const GenerateOptions &options) const {
  json conversation = json::array();
  if (!options.chat.empty()) {
    std::string text = readText(options.chat);
    checkUtf8(text, options.chat);
    refuseDeepJson(text, options.chat);
    try {
      conversation = json::parse(text);
    } catch (const json::exception &error) {
      fail(options.chat, ": ", error.what());
    }
  }
  json system = {{"role", "system"}, {"content", options.system}};
  json *messages = conversation.is_object() && conversation.contains("messages")
                       ? &conversation["messages"]
                       : &conversation;
  if (!options.system.empty() && messages->is_array())
    messages->insert(messages->begin(), system);
  // --system makes of a prompt the user's part of a conversation.
  for (const std::string &text : options.texts)
    if (messages->is_array())
      messages->push_back({{"role", "user"}, {"content", text}});
  return encodeChat(
      theTokenizer,
      renderChat(chatFormat(), conversation.dump(), /*answer=*/true),
      options.controlInMessages);
}

std::vector<std::vector<int32_t>>
TextModel::prompts(const GenerateOptions &options) const {
  for (const std::string &text : options.texts)
    checkUtf8(text, "--prompt");
  checkUtf8(options.system, "--system");
  if (!options.chat.empty() || !options.system.empty())
    return {chatPrompt(options)};
  std::vector<std::vector<int32_t>> result;
  for (const std::string &text : options.texts)
    result.push_back(theTokenizer.encode(text));
  for (const std::string &file : options.promptFiles) {
    std::string text = readText(file);
    checkUtf8(text, file);
    result.push_back(theTokenizer.encode(text));
  }
  return result;
}

/// The text that ends an answer, as a tokenizer_config.json gives it: itself,
/// or an object with its content; null: not given.
static const json *stopToken(const json &config) {
  auto eos = config.find("eos_token");
  if (eos == config.end())
    return nullptr;
  if (eos->is_string())
    return &*eos;
  if (!eos->is_object())
    return nullptr;
  auto content = eos->find("content");
  return content != eos->end() && content->is_string() ? &*content : nullptr;
}

std::vector<int32_t> TextModel::stopIds() const {
  std::vector<int32_t> ids = generationConfig(files).stopIds;
  if (!ids.empty())
    return ids;
  std::string token = "<end_of_sentence>";
  constexpr const char *name = "tokenizer_config.json";
  if (std::optional<std::string> text = files.find(name)) {
    refuseDeepJson(*text, files.where(name));
    json config = json::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (!config.is_object())
      fail(files.where(name), ": expected a JSON object");
    if (const json *given = stopToken(config))
      token = *given;
  }
  if (auto id = theTokenizer.find(token))
    ids.push_back(*id);
  return ids;
}
