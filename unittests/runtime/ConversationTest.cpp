//===- ConversationTest.cpp - Tests of conversations and their settings ---===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/chat/Conversation.h"
#include "runtime/chat/GenerationConfig.h"
#include "runtime/support/Error.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace mmx::runtime;

static const Tokenizer &smallTokenizer() {
  static const Tokenizer tokenizer(MMX_GOLDEN
                                   "/tokenizer/bpe1k_split_tokenizer.json");
  return tokenizer;
}

static bool startsWith(const std::vector<int32_t> &ids,
                       const std::vector<int32_t> &start) {
  return ids.size() > start.size() &&
         std::equal(start.begin(), start.end(), ids.begin());
}

class ConversationTest : public testing::TestWithParam<ChatFormat> {};

INSTANTIATE_TEST_SUITE_P(Formats, ConversationTest,
                         testing::Values(ChatFormat::Text01, ChatFormat::M1));

TEST_P(ConversationTest, RendersAsTheFormatDoes) {
  Conversation conversation(smallTokenizer(), GetParam());
  conversation.add("system", "Be brief.");
  conversation.add("user", "Hello  world");
  EXPECT_EQ(
      conversation.prompt(),
      encodeChat(smallTokenizer(),
                 renderChat(GetParam(),
                            R"([{"role": "system", "content": "Be brief."},
                                      {"role": "user",
                                       "content": "Hello  world"}])",
                            /*answer=*/true)));
}

// The ids of text that a tokenizer would write are those of the whole.
TEST_P(ConversationTest, AnswersAsTheTokenizerWritesThem) {
  Conversation conversation(smallTokenizer(), GetParam());
  conversation.add("user", "Hi");
  std::vector<int32_t> answer = smallTokenizer().encode("Good day, sir.");
  conversation.addAnswer(answer);
  conversation.add("user", "More?");
  EXPECT_EQ(conversation.prompt(),
            encodeChat(smallTokenizer(),
                       renderChat(GetParam(),
                                  R"([{"role": "user", "content": "Hi"},
                                      {"role": "assistant",
                                       "content": "Good day, sir."},
                                      {"role": "user", "content": "More?"}])",
                                  /*answer=*/true)));
}

// Ids that no tokenizer would write for that text, and none at all.
TEST_P(ConversationTest, PromptsBeginWithThePromptBefore) {
  Conversation conversation(smallTokenizer(), GetParam());
  conversation.add("system", "S");
  std::vector<int32_t> end = smallTokenizer().encode("<end_of_sentence>");
  std::vector<int32_t> bytes;
  for (char byte : std::string_view("\nbyte by byte \xc3"))
    bytes.push_back(
        smallTokenizer().encode(std::string_view(&byte, 1)).front());
  for (const std::vector<int32_t> &answer :
       {bytes, std::vector<int32_t>(), smallTokenizer().encode("\n\n x")}) {
    conversation.add("user", "a <end_of_sentence> b");
    std::vector<int32_t> prompt = conversation.prompt();
    conversation.addAnswer(answer);
    prompt.insert(prompt.end(), answer.begin(), answer.end());
    prompt.insert(prompt.end(), end.begin(), end.end());
    conversation.add("user", "next");
    EXPECT_TRUE(startsWith(conversation.prompt(), prompt));
    conversation.removeLast();
  }
}

TEST_P(ConversationTest, KeepsTheTextOfCutAnswers) {
  Conversation conversation(smallTokenizer(), GetParam());
  conversation.add("user", "Hi");
  std::vector<int32_t> before = conversation.prompt();
  conversation.addAnswer("Good");
  conversation.add("user", "More?");
  EXPECT_TRUE(startsWith(conversation.prompt(), before));
  // Nor does a token grow over the border.
  Conversation lines(smallTokenizer(), GetParam());
  lines.add("user", "Hi");
  lines.addAnswer("\n\n\n\nGood <end_of_sentence>");
  lines.add("user", "More?");
  EXPECT_TRUE(startsWith(lines.prompt(), before));
  int32_t end = smallTokenizer().encode("<end_of_sentence>").front();
  EXPECT_EQ(std::ranges::count(lines.prompt(), end), 3);
  EXPECT_NE(smallTokenizer()
                .decode(conversation.prompt())
                .find("ai name=assistant\nGood<end_of_sentence>"),
            std::string::npos);
  conversation.removeLast();
  conversation.clear();
  EXPECT_TRUE(conversation.empty());
  conversation.add("user", "Hi");
  EXPECT_EQ(conversation.prompt(), before);
}

TEST_P(ConversationTest, RefusesWhatIsNotUtf8) {
  Conversation conversation(smallTokenizer(), GetParam());
  EXPECT_THROW(conversation.add("user", "a\xff"), Error);
  EXPECT_TRUE(conversation.empty());
}

//===----------------------------------------------------------------------===//
// generation_config.json
//===----------------------------------------------------------------------===//

TEST(GenerationConfig, ReadsWhatIsThere) {
  GenerationConfig config = parseGenerationConfig(
      R"({"do_sample": true, "temperature": 0.75, "top_k": 40, "top_p": 0.95,
          "eos_token_id": [3, 5], "transformers_version": "4.45"})",
      "g");
  EXPECT_TRUE(config.sample);
  EXPECT_EQ(config.temperature, 0.75);
  EXPECT_EQ(config.topK, 40);
  EXPECT_EQ(config.topP, 0.95);
  EXPECT_EQ(config.stopIds, std::vector<int32_t>({3, 5}));
  config = parseGenerationConfig(
      R"({"temperature": null, "top_k": null, "eos_token_id": 200020})", "g");
  EXPECT_FALSE(config.sample);
  EXPECT_FALSE(config.temperature || config.topK || config.topP);
  EXPECT_EQ(config.stopIds, std::vector<int32_t>({200020}));
}

TEST(GenerationConfig, RefusesWhatCannotBeMeant) {
  auto errorFor = [](std::string_view text) -> std::string {
    try {
      parseGenerationConfig(text, "g.json");
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(errorFor("[1]"), "g.json: expected a JSON object");
  EXPECT_EQ(errorFor("{"), "g.json: expected a JSON object");
  EXPECT_EQ(errorFor(R"({"do_sample": 1})"),
            "g.json: expected do_sample as true or false, but got 1");
  EXPECT_EQ(errorFor(R"({"temperature": -1})"),
            "g.json: expected temperature as a number from 0 to 100, but got "
            "-1");
  EXPECT_EQ(errorFor(R"({"temperature": "hot"})"),
            "g.json: expected temperature as a number from 0 to 100, but got "
            "\"hot\"");
  EXPECT_EQ(errorFor(R"({"top_p": 1.5})"),
            "g.json: expected top_p as a number from 0 to 1, but got 1.5");
  EXPECT_EQ(errorFor(R"({"top_k": 0.5})"),
            "g.json: expected top_k as a whole number, 0 for all, but got 0.5");
  for (const char *id : {"-1", "1.5", "\"a\"", "4294967296"})
    EXPECT_EQ(errorFor(std::string(R"({"eos_token_id": [7,)") + id + "]}"),
              std::string("g.json: expected eos_token_id as an id or a list of "
                          "ids, but got [7,") +
                  id + "]")
        << id;
  // Nested too deeply to be printed.
  EXPECT_NE(errorFor("{\"top_p\": " + std::string(1 << 20, '[') +
                     std::string(1 << 20, ']') + "}"),
            "");
}
