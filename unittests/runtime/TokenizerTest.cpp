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

#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/support/Error.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

using namespace mmx::runtime;
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

TEST(Tokenizer, AnyBytes) {
  Tokenizer tokenizer(golden + "bpe1k_split_tokenizer.json");
  std::string text = "a\xff\xfe b\xc3 \xe2\x82";
  text += '\0';
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(Tokenizer, FindsTokens) {
  Tokenizer tokenizer(golden + "bpe1k_split_tokenizer.json");
  EXPECT_EQ(tokenizer.find("<end_of_sentence>"), 1026);
  EXPECT_EQ(tokenizer.find("a"), 64);
  EXPECT_EQ(tokenizer.find("no such token"), std::nullopt);
  EXPECT_EQ(tokenizer.size(), 1031);
}

TEST(Tokenizer, LongPieces) {
  Tokenizer tokenizer(golden + "bpe1k_split_tokenizer.json");
  std::string text(200'000, ' ');
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(Tokenizer, Errors) {
  EXPECT_THROW(Tokenizer("/nonexistent/tokenizer.json"), Error);
  Tokenizer tokenizer(golden + "bpe1k_split_tokenizer.json");
  EXPECT_THROW(tokenizer.decode(std::vector<int32_t>{-1}), Error);
  EXPECT_THROW(tokenizer.decode(std::vector<int32_t>{1031}), Error);
  EXPECT_THROW(SplitPattern("("), Error);
  auto path = std::filesystem::temp_directory_path() / "mmx-tokenizer.json";
  for (const char *text :
       {"", "{", "{}", R"({"model": {"type": "Unigram"}})",
        R"({"model": {"vocab": {}, "merges": []}, "pre_tokenizer":
            {"type": "ByteLevel", "add_prefix_space": false}})",
        R"({"model": {}, "pre_tokenizer": {"type": "Digits"}})"}) {
    std::ofstream(path) << text;
    EXPECT_THROW(Tokenizer(path.string()), Error) << text;
  }
  std::filesystem::remove(path);
}
