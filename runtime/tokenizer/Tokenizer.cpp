//===- Tokenizer.cpp - Text to ids and back -------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Tokenizer.h"

#include "runtime/support/Error.h"
#include "runtime/support/MappedFile.h"

#include <nlohmann/json.hpp>

#include <iterator>
#include <queue>

using namespace mmx::runtime;
using nlohmann::json;

/// Where a ByteLevel step splits if the file gives no pattern: GPT-2's.
static constexpr const char *byteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+)"
    R"(|\s+(?!\S)|\s+)";

/// Vocabularies write a byte as a visible character: itself if it is one, else
/// one from U+0100 on. Returns the byte of each such character.
static std::map<char32_t, char> bytesOfCharacters() {
  std::map<char32_t, char> result;
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    bool visible = (byte >= 0x21 && byte <= 0x7e) ||
                   (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    result[visible ? char32_t(byte) : next++] = char(byte);
  }
  return result;
}

/// The bytes that a token of the vocabulary stands for; empty if it has
/// characters that stand for none.
static std::string bytesOf(const std::string &token) {
  static const std::map<char32_t, char> bytes = bytesOfCharacters();
  std::string result;
  for (size_t i = 0; i < token.size(); ++i) {
    auto lead = static_cast<unsigned char>(token[i]);
    char32_t character = lead;
    // All the characters in question take one or two bytes of UTF-8.
    if (lead >= 0xc0 && lead < 0xe0 && i + 1 < token.size())
      character = (lead & 0x1f) << 6 | (token[++i] & 0x3f);
    auto found = bytes.find(character);
    if (found == bytes.end())
      return "";
    result += found->second;
  }
  return result;
}

static std::string readFile(const std::string &path) {
  MappedFile file(path);
  std::span<const uint8_t> bytes = file.bytes();
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// The patterns that cut a text, one after the other.
static std::vector<SplitPattern> readSplits(const json &step) {
  std::vector<SplitPattern> result;
  std::string type = step.at("type");
  if (type == "Sequence") {
    for (const json &inner : step.at("pretokenizers"))
      for (SplitPattern &split : readSplits(inner))
        result.push_back(std::move(split));
  } else if (type == "Split" && step.at("behavior") == "Isolated" &&
             !step.value("invert", false) &&
             step.at("pattern").contains("Regex")) {
    result.emplace_back(step.at("pattern").at("Regex").get<std::string>());
  } else if (type == "ByteLevel" && !step.value("add_prefix_space", true)) {
    if (step.value("use_regex", true))
      result.emplace_back(byteLevelPattern);
  } else {
    fail("expected a pre-tokenizer of type Sequence, Split (Isolated, Regex) "
         "or ByteLevel (without a space before the text), but got ",
         step.dump());
  }
  return result;
}

static uint64_t pairKey(int32_t left, int32_t right) {
  return uint64_t(uint32_t(left)) << 32 | uint32_t(right);
}

Tokenizer Tokenizer::open(const std::string &directory) {
  return Tokenizer(directory + "/tokenizer.json");
}

Tokenizer::Tokenizer(const std::string &file) : file(file) {
  try {
    readVocabulary(readFile(file));
  } catch (const json::exception &error) {
    fail(file, ": ", error.what());
  }
}

void Tokenizer::readVocabulary(const std::string &text) {
  json root = json::parse(text);
  const json &model = root.at("model");
  if (model.value("type", "BPE") != "BPE" ||
      model.value("byte_fallback", false))
    fail(file, ": expected a byte-level BPE model, but got ",
         model.value("type", "BPE"));
  if (root.contains("normalizer") && !root["normalizer"].is_null())
    fail(file, ": expected no normalizer, but got ", root["normalizer"].dump());
  ignoreMerges = model.value("ignore_merges", false);
  splits = readSplits(root.at("pre_tokenizer"));
  auto set = [&](int64_t id, std::string bytes) {
    if (id < 0 || id > (1 << 28))
      fail(file, ": expected an id, but got ", id);
    if (id >= size())
      texts.resize(id + 1), special.resize(id + 1);
    texts[id] = std::move(bytes);
  };
  for (const auto &[token, id] : model.at("vocab").items()) {
    std::string bytes = bytesOf(token);
    set(id, bytes.empty() ? token : bytes);
    vocabulary.emplace(std::move(bytes), id.get<int32_t>());
  }
  for (int byte = 0; byte < 256; ++byte) {
    auto found = vocabulary.find(std::string(1, char(byte)));
    if (found == vocabulary.end())
      fail(file, ": the vocabulary has no token for byte ", byte);
    byteIds[byte] = found->second;
  }
  int32_t rank = 0;
  for (const json &merge : model.at("merges")) {
    std::string left, right;
    if (merge.is_array()) {
      left = merge.at(0), right = merge.at(1);
    } else {
      std::string both = merge;
      left = both.substr(0, both.find(' '));
      right = both.substr(both.find(' ') + 1);
    }
    auto a = vocabulary.find(bytesOf(left)),
         b = vocabulary.find(bytesOf(right));
    auto whole = vocabulary.find(bytesOf(left) + bytesOf(right));
    if (a == vocabulary.end() || b == vocabulary.end() ||
        whole == vocabulary.end())
      fail(file, ": merge ", rank, " names a token that is not in the ",
           "vocabulary: ", merge.dump());
    merges.try_emplace(pairKey(a->second, b->second),
                       Merge{rank++, whole->second});
  }
  for (const json &token : root.value("added_tokens", json::array())) {
    std::string content = token.at("content");
    if (content.empty())
      fail(file, ": an added token is empty");
    for (const char *option : {"lstrip", "rstrip", "single_word"})
      if (token.value(option, false))
        fail(file, ": added token ", content, " asks for ", option,
             ", which is not supported");
    set(token.at("id"), content);
    added[content] = token.at("id");
    special[token.at("id").get<int64_t>()] = token.value("special", false);
  }
}

const Tokenizer::Merge *Tokenizer::mergeOf(int32_t left, int32_t right) const {
  auto found = merges.find(pairKey(left, right));
  return found == merges.end() ? nullptr : &found->second;
}

void Tokenizer::encodePiece(std::string_view piece,
                            std::vector<int32_t> &ids) const {
  if (ignoreMerges) {
    auto whole = vocabulary.find(std::string(piece));
    if (whole != vocabulary.end()) {
      ids.push_back(whole->second);
      return;
    }
  }
  // A list of symbols; a queue of merges of neighbours by rank, then place.
  struct Symbol {
    int32_t id, before, after;
  };
  struct Candidate {
    int32_t rank, left, leftId, rightId, id;
    bool operator>(const Candidate &other) const {
      return std::pair(rank, left) > std::pair(other.rank, other.left);
    }
  };
  std::vector<Symbol> symbols;
  for (size_t i = 0; i < piece.size(); ++i)
    symbols.push_back({byteIds[static_cast<unsigned char>(piece[i])],
                       int32_t(i) - 1,
                       i + 1 < piece.size() ? int32_t(i) + 1 : -1});
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  auto offer = [&](int32_t left) {
    if (left < 0 || symbols[left].after < 0)
      return;
    int32_t a = symbols[left].id, b = symbols[symbols[left].after].id;
    if (const Merge *merge = mergeOf(a, b))
      queue.push({merge->rank, left, a, b, merge->id});
  };
  for (size_t i = 0; i < symbols.size(); ++i)
    offer(i);
  for (; !queue.empty(); queue.pop()) {
    Candidate best = queue.top();
    Symbol &left = symbols[best.left];
    // Either side may have been merged away since.
    if (left.id != best.leftId || left.after < 0 ||
        symbols[left.after].id != best.rightId)
      continue;
    Symbol &right = symbols[left.after];
    left.id = best.id;
    left.after = right.after;
    right.id = -1;
    if (left.after >= 0)
      symbols[left.after].before = best.left;
    offer(left.before);
    offer(best.left);
  }
  for (int32_t i = symbols.empty() ? -1 : 0; i >= 0; i = symbols[i].after)
    ids.push_back(symbols[i].id);
}

void Tokenizer::encodePlain(std::string_view text,
                            std::vector<int32_t> &ids) const {
  auto cut = [&](auto &self, std::string_view part, size_t step) -> void {
    if (step == splits.size())
      return encodePiece(part, ids);
    splits[step].split(
        part, [&](std::string_view piece) { self(self, piece, step + 1); });
  };
  cut(cut, text, 0);
}

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  TextPiece piece{text, /*control=*/true};
  return encode({&piece, 1});
}

const std::pair<const std::string, int32_t> *
Tokenizer::addedAt(std::string_view text) const {
  const std::pair<const std::string, int32_t> *longest = nullptr;
  for (const auto &token : added)
    if (text.starts_with(token.first) &&
        (!longest || token.first.size() > longest->first.size()))
      longest = &token;
  return longest;
}

std::vector<int32_t>
Tokenizer::encode(std::span<const TextPiece> pieces) const {
  bool starts[256] = {};
  for (const auto &[content, id] : added)
    starts[static_cast<unsigned char>(content[0])] = true;
  std::vector<int32_t> ids;
  std::string plain; ///< since the last added token
  auto flush = [&] {
    encodePlain(plain, ids);
    plain.clear();
  };
  for (const auto &[text, control] : pieces) {
    size_t done = 0;
    for (size_t at = 0; control && at < text.size();) {
      const auto *token = starts[static_cast<unsigned char>(text[at])]
                              ? addedAt(text.substr(at))
                              : nullptr;
      if (!token) {
        ++at;
        continue;
      }
      plain += text.substr(done, at - done);
      flush();
      ids.push_back(token->second);
      done = at += token->first.size();
    }
    plain += text.substr(done);
  }
  flush();
  return ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids,
                              bool skipSpecial) const {
  std::string text;
  for (int32_t id : ids) {
    if (id < 0 || id >= size() || !texts[id])
      fail(file, ": there is no token ", id);
    if (!skipSpecial || !special[id])
      text += *texts[id];
  }
  return text;
}

std::optional<int32_t> Tokenizer::find(std::string_view token) const {
  if (auto found = added.find(token); found != added.end())
    return found->second;
  if (auto found = vocabulary.find(std::string(token));
      found != vocabulary.end())
    return found->second;
  return std::nullopt;
}
