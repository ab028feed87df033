//===- TokenizerTest.cpp - Tests of runtime/tokenizer ---------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected ids are those of the Hugging Face tokenizers library
// (test/golden/README.md).
//
//===----------------------------------------------------------------------===//

#include "PlainMerges.h"
#include "SmallTokenizer.h"
#include "TestModel.h"

#include "runtime/support/Error.h"
#include "runtime/support/Random.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

using namespace mmx::runtime;
using namespace mmx::test;
using nlohmann::json;

static const std::string golden = MMX_GOLDEN "/tokenizer/";

static json cases(const std::string &name) {
  return json::parse(std::ifstream(golden + name));
}

static void expectIds(const Tokenizer &tokenizer, const std::string &name,
                      const char *key) {
  json all = cases(name);
  EXPECT_GT(all.size(), 10u);
  for (const json &one : all) {
    std::string text = one.at("text");
    std::vector<int32_t> expected = one.at(key);
    EXPECT_EQ(tokenizer.encode(text), expected) << json(text).dump();
    EXPECT_EQ(tokenizer.decode(expected), text) << json(text).dump();
  }
}

TEST(Tokenizer, ByteLevelSplit) {
  expectIds(Tokenizer(golden + "bpe1k_tokenizer.json"), "bpe1k_cases.json",
            "ids");
}

TEST(Tokenizer, SplitPattern) {
  expectIds(Tokenizer(golden + "bpe1k_split_tokenizer.json"),
            "bpe1k_cases.json", "split_ids");
}

TEST(Tokenizer, PublishedMerges) {
  Tokenizer tokenizer(MMX_BPE200K);
  expectIds(tokenizer, "bpe200k_cases.json", "ids");
  for (const json &one : cases("bpe200k_cases.json"))
    EXPECT_EQ(tokenizer.decode(one.at("ids").get<std::vector<int32_t>>(), true),
              one.at("decoded_skip_special").get<std::string>());
}

/// Bytes of which some stretches are text: ASCII, other characters, neither.
static std::string randomText(Random &random) {
  std::string text;
  uint64_t length = 1 + random.below(300);
  while (text.size() < length) {
    uint64_t kind = random.below(8);
    for (uint64_t i = 0, run = 1 + random.below(12); i < run; ++i) {
      uint64_t bits = random.next();
      if (kind == 0)
        text += char(bits);
      else if (kind == 1)
        text += {char(0xc3 + bits % 8), char(0x80 | (bits >> 8 & 0x3f))};
      else if (kind == 2)
        text += {char(0xe1 + bits % 9), char(0x80 | (bits >> 8 & 0x3f)),
                 char(0x80 | (bits >> 16 & 0x3f))};
      else if (kind == 3)
        text += " \n\t\r"[bits % 4];
      else if (kind == 4)
        text += "<end_of_sentence>"[bits % 17];
      else
        text += "etaoinshrdluETA 0123456789'"[bits % 27];
    }
    if (random.below(16) == 0)
      text += "<end_of_sentence>";
  }
  return text;
}

static void expectRoundTrips(const std::string &file, int count) {
  Tokenizer tokenizer(file), fresh(file);
  Random random(1);
  std::vector<std::string> texts;
  std::vector<std::vector<int32_t>> ids;
  for (int i = 0; i < count; ++i) {
    texts.push_back(randomText(random));
    ids.push_back(tokenizer.encode(texts.back()));
    ASSERT_EQ(tokenizer.decode(ids.back()), texts.back()) << "text " << i;
    TextPiece piece{texts.back(), /*control=*/false};
    ASSERT_EQ(tokenizer.decode(tokenizer.encode({&piece, 1})), texts.back());
  }
  // What was encoded before makes no difference.
  for (int i = count - 1; i >= 0; --i)
    ASSERT_EQ(fresh.encode(texts[i]), ids[i]) << "text " << i;
}

TEST(Tokenizer, AnyBytes) {
  expectRoundTrips(golden + "bpe1k_tokenizer.json", 3000);
  expectRoundTrips(golden + "bpe1k_split_tokenizer.json", 3000);
  expectRoundTrips(MMX_BPE200K, 3000);
}

/// Threads find out at the same time which tokens come out of their bytes.
TEST(Tokenizer, ManyThreads) {
  Tokenizer tokenizer(golden + "bpe1k_split_tokenizer.json"),
      fresh(golden + "bpe1k_split_tokenizer.json");
  Random random(4);
  std::vector<std::string> texts(100);
  for (std::string &text : texts)
    text = randomText(random);
  std::vector<std::vector<int32_t>> expected;
  for (const std::string &text : texts)
    expected.push_back(tokenizer.encode(text));
  std::atomic<int> different = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (size_t i = 0; i < texts.size(); ++i)
        different += fresh.encode(texts[i]) != expected[i];
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(different, 0);
}

/// Without a split pattern a text is one piece.
TEST(Tokenizer, AgreesWithTheDefinition) {
  json root = json::parse(std::ifstream(golden + "bpe1k_tokenizer.json"));
  root["pre_tokenizer"]["use_regex"] = false;
  root["added_tokens"] = json::array();
  TemporaryDirectory directory;
  Tokenizer tokenizer(directory.write("tokenizer.json", root.dump()));
  auto idOf = [&](const std::string &token) {
    return root["model"]["vocab"].at(token).get<int32_t>();
  };
  PlainMerges plain;
  for (const json &merge : root["model"]["merges"]) {
    std::string left, right;
    if (merge.is_array()) {
      left = merge[0], right = merge[1];
    } else {
      std::istringstream(merge.get<std::string>()) >> left >> right;
    }
    ASSERT_TRUE(plain.add(idOf(left), idOf(right), idOf(left + right)));
  }
  std::vector<int32_t> bytes;
  for (int byte = 0; byte < 256; ++byte) {
    char text = char(byte);
    bytes.push_back(*tokenizer.find({&text, 1}));
  }
  Random random(2);
  for (int i = 0; i < 1000; ++i) {
    // Parts of words come again, as pieces that are tokens.
    std::string text = randomText(random);
    if (i % 2)
      text = text.substr(0, 1 + random.below(4));
    std::vector<int32_t> ids;
    for (unsigned char byte : text)
      ids.push_back(bytes[byte]);
    ASSERT_EQ(tokenizer.encode(text), plain.merge(ids)) << json(text).dump();
  }
}

TEST(Tokenizer, LongestAddedToken) {
  json root = smallTokenizer();
  const char *names[] = {"<", "<a", "<a>", "<aa", "<ab>", "<b>", "x"};
  root["added_tokens"] = json::array();
  for (int32_t i = 0; i < 7; ++i)
    root["added_tokens"].push_back({{"content", names[i]}, {"id", 300 + i}});
  TemporaryDirectory directory;
  Tokenizer tokenizer(directory.write("tokenizer.json", root.dump()));
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    std::string text;
    for (uint64_t n = 0, length = 1 + random.below(12); n < length; ++n)
      text += "<<aab>xyz"[random.below(9)];
    std::vector<int32_t> expected;
    for (size_t at = 0; at < text.size();) {
      int32_t best = -1;
      for (int32_t t = 0; t < 7; ++t)
        if (text.compare(at, strlen(names[t]), names[t]) == 0 &&
            (best < 0 || strlen(names[t]) > strlen(names[best])))
          best = t;
      expected.push_back(best < 0 ? text[at] : 300 + best);
      at += best < 0 ? 1 : strlen(names[best]);
    }
    ASSERT_EQ(tokenizer.encode(text), expected) << text;
  }
}

TEST(Tokenizer, FindsTokens) {
  Tokenizer tokenizer(golden + "bpe1k_split_tokenizer.json");
  EXPECT_EQ(tokenizer.find("<end_of_sentence>"), 1026);
  EXPECT_EQ(tokenizer.find("a"), 64);
  EXPECT_EQ(tokenizer.find("no such token"), std::nullopt);
  EXPECT_EQ(tokenizer.size(), 1031);
}

/// n squared steps would take minutes.
TEST(Tokenizer, LongPieces) {
  for (const std::string &file :
       {golden + "bpe1k_split_tokenizer.json", std::string(MMX_BPE200K)}) {
    Tokenizer tokenizer(file);
    for (const char *part : {"a", "A", " ", "\n ", "!", "<", "\xe5\xa5\xbd",
                             "\xcc\x81", "\xff", "a\xff", "abc"}) {
      std::string text;
      while (text.size() < (*part == 'a' ? 1'000'000 : 100'000))
        text += part;
      EXPECT_TRUE(tokenizer.decode(tokenizer.encode(text)) == text) << part;
    }
  }
}

TEST(Tokenizer, Errors) {
  Tokenizer tokenizer(golden + "bpe1k_split_tokenizer.json");
  EXPECT_THROW(tokenizer.decode(std::vector<int32_t>{-1}), Error);
  EXPECT_THROW(tokenizer.decode(std::vector<int32_t>{1031}), Error);
  EXPECT_THROW(tokenizer.decode(std::vector<int32_t>{INT32_MAX}), Error);
  EXPECT_THROW(SplitPattern("("), Error);
}
