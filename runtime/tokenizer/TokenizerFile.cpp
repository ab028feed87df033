//===- TokenizerFile.cpp - What a tokenizer.json says ---------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TokenizerFile.h"

#include "runtime/support/Error.h"
#include "runtime/support/JsonText.h"
#include "runtime/support/MappedFile.h"

#include <nlohmann/json.hpp>

#include <array>
#include <set>

using namespace mmx::runtime;
using nlohmann::json;

/// Where a ByteLevel step splits if the file gives no pattern: GPT-2's.
static constexpr const char *byteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+)"
    R"(|\s+(?!\S)|\s+)";

/// Vocabularies write a byte as a visible character: itself if it is one, else
/// one from U+0100 on. The byte of each such character, or -1.
static constexpr std::array<int16_t, 0x144> bytesOfCharacters() {
  std::array<int16_t, 0x144> result = {};
  result.fill(-1);
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    bool visible = (byte >= 0x21 && byte <= 0x7e) ||
                   (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    result[visible ? byte : next++] = int16_t(byte);
  }
  return result;
}

/// The bytes that a token of the vocabulary stands for; empty if it has
/// characters that stand for none.
static std::string bytesOf(const std::string &token) {
  static constexpr auto bytes = bytesOfCharacters();
  std::string result;
  for (size_t i = 0; i < token.size(); ++i) {
    size_t character = static_cast<unsigned char>(token[i]);
    // All the characters in question take one or two bytes of UTF-8.
    if (character >= 0xc0 && character < 0xe0 && i + 1 < token.size())
      character = (character & 0x1f) << 6 | (token[++i] & 0x3f);
    else if (character >= 0x80)
      return "";
    if (character >= bytes.size() || bytes[character] < 0)
      return "";
    result += char(bytes[character]);
  }
  return result;
}

static std::string quoted(const std::string &text) {
  return shortJson(json(text));
}

static int32_t idOf(const json &value, const std::string &token) {
  if (!value.is_number_unsigned() ||
      value.get<uint64_t>() >= uint64_t(TokenizerFile::idLimit))
    fail("token ", quoted(token), ": expected an id from 0 to ",
         TokenizerFile::idLimit - 1, ", but got ", shortJson(value));
  return value.get<int32_t>();
}

namespace {

/// Parses the file and takes the vocabulary and the merges, which are nearly
/// all of it, out of the stream of events: a tree of them would take longer to
/// build than all the rest.
class Parser {
public:
  explicit Parser(TokenizerFile &file) : file(file) {}

  /// Returns the rest.
  json parse(std::string_view text) {
    refuseDeepJson(text);
    try {
      return json::parse(
          text.begin(), text.end(),
          [this](int depth, json::parse_event_t event, json &value) {
            return handle(depth, event, value);
          });
    } catch (const json::exception &error) {
      fail("not JSON: ", error.what());
    }
  }

private:
  /// Whether `value` belongs to the rest.
  bool handle(int depth, json::parse_event_t event, json &value) {
    using Event = json::parse_event_t;
    if (event == Event::key && depth <= 2)
      return enter(depth, value.get<std::string>());
    if (outer != "model" || depth < 2)
      return true;
    bool begins = event == Event::array_start || event == Event::object_start;
    if (inner == "vocab") {
      if (event == Event::array_start && depth == 2)
        fail("expected \"vocab\" to be an object");
      if (begins && depth == 3)
        fail("token ", quoted(token), ": expected an id");
      if (event == Event::key) {
        token = value.get<std::string>();
        return false;
      }
      if (event == Event::value && depth == 3)
        addToken(value);
    } else if (inner == "merges") {
      if (event == Event::object_start && depth == 2)
        fail("expected \"merges\" to be a list");
      if (!begins && event != Event::key && depth == 3) {
        addMerge(value);
        return false;
      }
    }
    return true;
  }

  bool enter(int depth, const std::string &key) {
    (depth == 1 ? outer : inner) = key;
    if (depth == 1)
      inner.clear();
    if ((depth == 1 || outer == "model") &&
        !keys.insert(depth == 1 ? key : "model/" + key).second)
      fail(quoted(key), " stands twice in the file");
    return true;
  }

  void addToken(const json &id) {
    std::string bytes = bytesOf(token);
    bool isBytes = !bytes.empty();
    file.vocabulary.push_back(
        {isBytes ? std::move(bytes) : token, idOf(id, token), isBytes});
  }

  void addMerge(const json &merge) {
    std::string left, right;
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
        merge[1].is_string()) {
      left = merge[0], right = merge[1];
    } else if (merge.is_string()) {
      const auto &both = merge.get_ref<const std::string &>();
      size_t space = both.find(' ');
      if (space != std::string::npos && space == both.rfind(' '))
        left = both.substr(0, space), right = both.substr(space + 1);
    }
    left = bytesOf(left), right = bytesOf(right);
    if (left.empty() || right.empty())
      fail("merge ", file.merges.size(), ": expected two tokens that stand ",
           "for bytes, but got ", shortJson(merge));
    file.merges.push_back({std::move(left), std::move(right)});
  }

  TokenizerFile &file;
  std::string outer, inner; ///< the keys that the parser is inside of
  std::string token;        ///< whose id comes next
  std::set<std::string> keys;
};

} // namespace

/// Adds the patterns of a pre-tokenizer; true if it ends in a ByteLevel step.
static bool readSteps(const json &step, std::vector<std::string> &patterns) {
  std::string type;
  if (step.is_object() && step.contains("type") && step["type"].is_string())
    type = step["type"];
  const json none;
  auto get = [&](const char *key) -> const json & {
    auto found = step.find(key);
    return found == step.end() ? none : *found;
  };
  if (type == "Sequence" && get("pretokenizers").is_array()) {
    bool bytes = false;
    for (const json &inner : get("pretokenizers")) {
      if (bytes)
        fail("expected ByteLevel as the last pre-tokenizer, but got ",
             shortJson(inner), " after it");
      bytes = readSteps(inner, patterns);
    }
    return bytes;
  }
  const json &pattern = get("pattern");
  if (type == "Split" && get("behavior") == "Isolated" &&
      get("invert") != true && pattern.is_object() &&
      pattern.contains("Regex") && pattern["Regex"].is_string()) {
    patterns.push_back(pattern["Regex"]);
    return false;
  }
  if (type == "ByteLevel" && get("add_prefix_space") == false) {
    if (get("use_regex") != false)
      patterns.push_back(byteLevelPattern);
    return true;
  }
  fail("expected a pre-tokenizer of type Sequence, Split (Isolated, Regex) or ",
       "ByteLevel (without a space before the text), but got ",
       shortJson(step));
}

static void checkModel(const json &root) {
  if (!root.is_object() || !root.contains("model") ||
      !root["model"].is_object())
    fail("expected an object with a \"model\"");
  const json &model = root["model"];
  // What is not mentioned is off.
  auto refuse = [](const json &object, const char *key, bool holds) {
    if (!holds)
      fail("expected a byte-level BPE model, but got \"", key,
           "\": ", shortJson(object[key]));
  };
  if (model.contains("type"))
    refuse(model, "type", model["type"] == "BPE");
  for (const char *key : {"byte_fallback", "dropout",
                          "continuing_subword_prefix", "end_of_word_suffix"})
    if (model.contains(key))
      refuse(model, key,
             model[key].is_null() || model[key] == false || model[key] == "" ||
                 model[key] == 0);
  if (root.contains("normalizer") && !root["normalizer"].is_null())
    fail("expected no normalizer, but got ", shortJson(root["normalizer"]));
  if (!model.contains("vocab") || !model["vocab"].is_object())
    fail("expected a \"vocab\" of tokens and ids in \"model\"");
  if (!model.contains("merges") || !model["merges"].is_array())
    fail("expected a list of \"merges\" in \"model\"");
}

static void readAdded(const json &list, TokenizerFile &file) {
  if (!list.is_array())
    fail("expected a list of \"added_tokens\", but got ", shortJson(list));
  std::set<std::string> texts;
  for (const json &token : list) {
    if (!token.is_object() || !token.contains("content") ||
        !token["content"].is_string() || !token.contains("id"))
      fail("expected an added token with \"content\" and \"id\", but got ",
           shortJson(token));
    std::string content = token["content"];
    if (content.empty())
      fail("an added token is empty");
    for (const char *option : {"lstrip", "rstrip", "single_word"})
      if (token.contains(option) && token[option] != false)
        fail("added token ", quoted(content), " asks for ", option,
             ", which is not supported");
    if (!texts.insert(content).second)
      fail("added token ", quoted(content), " stands twice in the file");
    bool special = token.contains("special") && token["special"] == true;
    file.added.push_back({content, idOf(token["id"], content), special});
  }
}

TokenizerFile mmx::runtime::parseTokenizerFile(std::string_view text,
                                               const std::string &name) {
  TokenizerFile file;
  try {
    json root = Parser(file).parse(text);
    checkModel(root);
    const json &model = root["model"];
    file.ignoreMerges =
        model.contains("ignore_merges") && model["ignore_merges"] == true;
    json step = root.contains("pre_tokenizer") ? root["pre_tokenizer"] : json();
    if (!readSteps(step, file.patterns))
      fail("expected a pre-tokenizer that ends with ByteLevel, but got ",
           shortJson(step));
    if (root.contains("added_tokens"))
      readAdded(root["added_tokens"], file);
  } catch (const Error &error) {
    fail(name, ": ", error.what());
  }
  return file;
}

TokenizerFile mmx::runtime::readTokenizerFile(const std::string &path) {
  MappedFile mapped(path);
  std::span<const uint8_t> bytes = mapped.bytes();
  return parseTokenizerFile(
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()}, path);
}
