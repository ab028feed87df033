//===- ChatTest.cpp - Tests of runtime/chat -------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// M1: what jinja2 makes of the published template (test/golden/README.md).
//
//===----------------------------------------------------------------------===//

#include "runtime/chat/Chat.h"
#include "runtime/support/Error.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

using namespace mmx::runtime;
using json = nlohmann::ordered_json;

static Tokenizer smallTokenizer() {
  return Tokenizer(MMX_GOLDEN "/tokenizer/bpe1k_split_tokenizer.json");
}

static std::string text01(const char *conversation, bool answer = true) {
  return chatText(renderChat(ChatFormat::Text01, conversation, answer));
}

TEST(Chat, M1) {
  json cases = json::parse(std::ifstream(MMX_GOLDEN "/chat/m1_cases.json"));
  Tokenizer tokenizer = smallTokenizer();
  EXPECT_EQ(cases.size(), 9u);
  for (const json &one : cases) {
    std::string expected = one.at("rendered");
    auto pieces =
        renderChat(ChatFormat::M1, one.dump(), one.at("add_generation_prompt"));
    EXPECT_EQ(chatText(pieces), expected);
    EXPECT_EQ(tokenizer.decode(encodeChat(tokenizer, pieces)), expected);
    EXPECT_EQ(encodeChat(tokenizer, pieces, /*controlInMessages=*/true),
              tokenizer.encode(expected));
  }
}

TEST(Chat, PlainStringsAreOnePart) {
  json cases = json::parse(std::ifstream(MMX_GOLDEN "/chat/m1_cases.json"));
  for (json one : cases) {
    bool single = true;
    for (json &message : one["messages"])
      if (message["content"].size() == 1 && message["role"] != "tool")
        message["content"] = std::string(message["content"][0]["text"]);
      else
        single = false;
    if (single)
      EXPECT_EQ(chatText(renderChat(ChatFormat::M1, one.dump(),
                                    one.at("add_generation_prompt"))),
                one.at("rendered").get<std::string>());
  }
}

TEST(Chat, Text01) {
  EXPECT_EQ(text01(R"([{"role": "system", "content": "S"},
                       {"role": "user", "content": "U"},
                       {"role": "assistant", "content": "A"},
                       {"role": "user", "content":
                        [{"type": "text", "text": "V"}]}])"),
            "<beginning_of_sentence>system ai_setting=assistant\n"
            "S<end_of_sentence>\n"
            "<beginning_of_sentence>user name=user\nU<end_of_sentence>\n"
            "<beginning_of_sentence>ai name=assistant\nA<end_of_sentence>\n"
            "<beginning_of_sentence>user name=user\nV<end_of_sentence>\n"
            "<beginning_of_sentence>ai name=assistant\n");
  EXPECT_EQ(text01(R"({"messages": [{"role": "user", "content": "U"}],
                       "tools": [{"name": "f", "n": [1, 2]}]})",
                   /*answer=*/false),
            "<beginning_of_sentence>user name=user\nU<end_of_sentence>\n"
            "<beginning_of_sentence>system function_setting=functions\n"
            "[{\"name\": \"f\", \"n\": [1, 2]}]<end_of_sentence>\n");
}

TEST(Chat, ControlTokensInMessagesStayText) {
  Tokenizer tokenizer = smallTokenizer();
  int32_t end = *tokenizer.find("<end_of_sentence>");
  auto pieces = renderChat(ChatFormat::M1,
                           R"([{"role": "user",
                                "content": "a<end_of_sentence>b"}])",
                           /*answer=*/false);
  EXPECT_EQ(std::ranges::count(encodeChat(tokenizer, pieces), end), 1);
  EXPECT_EQ(std::ranges::count(encodeChat(tokenizer, pieces, true), end), 2);
  // Nor does a token come about where a message meets the format.
  pieces = renderChat(ChatFormat::M1,
                      R"([{"role": "tool", "content": [{"type": "text",
                           "name": "f", "text": "<end_of_sentence>"}]}])",
                      /*answer=*/false);
  EXPECT_EQ(std::ranges::count(encodeChat(tokenizer, pieces), end), 1);
}

TEST(Chat, FormatOfAModel) {
  EXPECT_EQ(chatFormatOf(R"({"model_type": "minimax_m1"})"), ChatFormat::M1);
  EXPECT_EQ(chatFormatOf(R"({"architectures": ["MiniMaxM1ForCausalLM"]})"),
            ChatFormat::M1);
  EXPECT_EQ(chatFormatOf(R"({"model_type": "minimax"})"), ChatFormat::Text01);
  EXPECT_THROW(chatFormatOf("[]"), Error);
}

TEST(Chat, Errors) {
  for (const char *text :
       {"", "{", "{}", "[]", "[1]", R"([{"role": "user"}])",
        R"([{"role": "judge", "content": "x"}])",
        R"([{"role": "user", "content": []}])",
        R"([{"role": "user", "content": [{"type": "image"}]}])",
        R"({"messages": [{"role": "user", "content": "x"}], "tools": 1})",
        "[{\"role\": \"user\", \"content\": \"\xff\"}]"})
    EXPECT_THROW(renderChat(ChatFormat::M1, text, true), Error) << text;
}
