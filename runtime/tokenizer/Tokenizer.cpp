//===- Tokenizer.cpp - Text to ids and back -------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Tokenizer.h"

#include "runtime/support/Error.h"
#include "runtime/tokenizer/TokenizerFile.h"

#include <algorithm>

using namespace mmx::runtime;

Tokenizer Tokenizer::open(const std::string &directory) {
  return Tokenizer(directory + "/tokenizer.json");
}

Tokenizer Tokenizer::parse(std::string_view text, const std::string &name) {
  return Tokenizer(name, parseTokenizerFile(text, name));
}

Tokenizer::Tokenizer(const std::string &file)
    : Tokenizer(file, readTokenizerFile(file)) {}

Tokenizer::Tokenizer(const std::string &name, const TokenizerFile &contents)
    : file(name) {
  try {
    build(contents);
  } catch (const Error &error) {
    fail(file, ": ", error.what());
  }
}

void Tokenizer::build(const TokenizerFile &contents) {
  ignoreMerges = contents.ignoreMerges;
  for (const std::string &pattern : contents.patterns)
    splits.emplace_back(pattern);
  for (const TokenizerFile::Token &token : contents.vocabulary) {
    tokens.set(token.id, token.text);
    if (token.isBytes)
      tokens.makeFindable(token.id);
  }
  for (int byte = 0; byte < 256; ++byte) {
    char text = char(byte);
    byteIds[byte] = tokens.find({&text, 1});
    if (byteIds[byte] < 0)
      fail("the vocabulary has no token for byte ", byte);
  }
  addMerges(contents);
  for (const TokenizerFile::AddedToken &token : contents.added) {
    tokens.set(token.id, token.text);
    added.emplace(token.text, token.id);
    longestAdded = std::max(longestAdded, token.text.size());
  }
  special.resize(size());
  for (const TokenizerFile::AddedToken &token : contents.added)
    special[token.id] = token.special;
  stability = std::vector<std::atomic<Stability>>(size());
}

void Tokenizer::addMerges(const TokenizerFile &contents) {
  int64_t number = 0;
  for (const TokenizerFile::Merge &merge : contents.merges) {
    auto idOf = [&](const std::string &bytes) {
      int32_t id = tokens.find(bytes);
      if (id < 0)
        fail("merge ", number, " of \"", merge.left, "\" and \"", merge.right,
             "\": \"", bytes, "\" is not in the vocabulary");
      return id;
    };
    int32_t left = idOf(merge.left), right = idOf(merge.right);
    if (!merger.add(left, right, idOf(merge.left + merge.right)))
      fail("merge ", number, " of \"", merge.left, "\" and \"", merge.right,
           "\" stands twice in the file");
    ++number;
  }
}

void Tokenizer::mergeBytes(std::string_view piece,
                           std::vector<int32_t> &ids) const {
  size_t begin = ids.size();
  ids.resize(begin + piece.size());
  for (size_t i = 0; i < piece.size(); ++i)
    ids[begin + i] = byteIds[static_cast<unsigned char>(piece[i])];
  merger.merge(ids, begin);
}

void Tokenizer::encodePiece(std::string_view piece,
                            std::vector<int32_t> &ids) const {
  int32_t whole = tokens.find(piece);
  if (whole < 0)
    return mergeBytes(piece, ids);
  if (ignoreMerges ||
      stability[whole].load(std::memory_order_relaxed) == Stability::Stable) {
    ids.push_back(whole);
    return;
  }
  size_t begin = ids.size();
  mergeBytes(piece, ids);
  if (ids.size() == begin + 1 && ids.back() == whole)
    stability[whole].store(Stability::Stable, std::memory_order_relaxed);
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
  std::string_view key = text.substr(0, longestAdded);
  for (;;) {
    // The last token that does not stand behind the key: a prefix of the key
    // is that one, or a prefix of it too.
    auto place = added.upper_bound(key);
    if (place == added.begin())
      return nullptr;
    const std::string &token = (--place)->first;
    if (key.starts_with(token))
      return &*place;
    size_t shared = std::ranges::mismatch(key, token).in1 - key.begin();
    key = key.substr(0, shared);
  }
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
  for (auto [text, control] : pieces) {
    size_t done = 0, at = control ? 0 : text.size();
    while (at < text.size()) {
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
    if (!tokens.has(id))
      fail(file, ": there is no token ", id);
    if (!skipSpecial || !special[id])
      text += tokens.text(id);
  }
  return text;
}

std::optional<int32_t> Tokenizer::find(std::string_view token) const {
  if (auto found = added.find(token); found != added.end())
    return found->second;
  int32_t id = tokens.find(token);
  return id < 0 ? std::nullopt : std::optional(id);
}
