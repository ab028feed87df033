//===- TokenizerFileTest.cpp - Tests of tokenizer files -------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every file that is refused is refused with a message that says why.
//
//===----------------------------------------------------------------------===//

#include "SmallTokenizer.h"
#include "TestModel.h"

#include "runtime/tokenizer/Tokenizer.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

using namespace mmx::runtime;
using namespace mmx::test;
using nlohmann::json;

class TokenizerFileTest : public testing::Test {
protected:
  std::string errorOfText(const std::string &text) {
    std::string path = directory.write("tokenizer.json", text);
    std::string error = errorOf([&] { Tokenizer tokenizer(path); });
    if (error.empty())
      return error;
    EXPECT_TRUE(error.starts_with(path + ": ")) << error;
    return error.substr(std::min(error.size(), path.size() + 2));
  }
  /// The message for the small tokenizer with changes (RFC 7396).
  std::string errorWith(const char *changes) {
    json root = smallTokenizer();
    root.merge_patch(json::parse(changes));
    return errorOfText(root.dump());
  }
  Tokenizer tokenizerWith(const char *changes) {
    json root = smallTokenizer();
    root.merge_patch(json::parse(changes));
    return Tokenizer(directory.write("tokenizer.json", root.dump()));
  }
  static void expectPart(const std::string &error, const std::string &part) {
    EXPECT_NE(error.find(part), std::string::npos)
        << "\"" << error << "\" does not hold \"" << part << "\"";
  }

  TemporaryDirectory directory;
};

TEST_F(TokenizerFileTest, SmallOneIsGood) {
  Tokenizer tokenizer = tokenizerWith("{}");
  EXPECT_EQ(tokenizer.encode("hello<s>he"),
            (std::vector<int32_t>{257, 'l', 'o', 258, 256}));
  EXPECT_EQ(tokenizer.size(), 259);
}

TEST_F(TokenizerFileTest, NotJson) {
  expectPart(errorOfText(""), "not JSON: ");
  expectPart(errorOfText("{\"model\": "), "not JSON: ");
  expectPart(errorOfText("{\"a\": \"\xff\"}"), "not JSON: ");
  for (const char *text : {"[]", "3", "null", "{}", R"({"model": 1})",
                           R"({"model": []})", R"([{"vocab": {"a": 1}}])"})
    EXPECT_EQ(errorOfText(text), "expected an object with a \"model\"") << text;
  EXPECT_EQ(errorOfText(std::string(100'000, '[')),
            "expected JSON nested at most 64 levels deep, but got 100000");
  EXPECT_EQ(errorOfText(R"({"model": {}, "model": {}})"),
            "\"model\" stands twice in the file");
  EXPECT_EQ(errorOfText(R"({"model": {"vocab": {}, "vocab": {}}})"),
            "\"vocab\" stands twice in the file");
}

TEST_F(TokenizerFileTest, WrongTypes) {
  const std::string vocabulary =
      "expected a \"vocab\" of tokens and ids in \"model\"";
  EXPECT_EQ(errorWith(R"({"model": {"vocab": null}})"), vocabulary);
  EXPECT_EQ(errorWith(R"({"model": {"vocab": 1}})"), vocabulary);
  EXPECT_EQ(errorWith(R"({"model": {"vocab": ["a", "b"]}})"),
            "expected \"vocab\" to be an object");
  const std::string merges = "expected a list of \"merges\" in \"model\"";
  EXPECT_EQ(errorWith(R"({"model": {"merges": null}})"), merges);
  EXPECT_EQ(errorWith(R"({"model": {"merges": "h e"}})"), merges);
  EXPECT_EQ(errorWith(R"({"model": {"merges": {"h": "e"}}})"),
            "expected \"merges\" to be a list");
  EXPECT_EQ(errorWith(R"({"added_tokens": {"<s>": 1}})"),
            "expected a list of \"added_tokens\", but got {\"<s>\":1}");
  for (const char *token : {"1", "{}", R"({"id": 3})", R"({"content": "x"})",
                            R"({"content": 1, "id": 3})"})
    expectPart(errorWith(concat("{\"added_tokens\": [", token, "]}").c_str()),
               "expected an added token with \"content\" and \"id\", but got ");
  for (const char *merge :
       {"1", "null", "{}", "\"he\"", "\"h e l\"", "\" e\"", "\"h \"", "[]",
        R"(["h"])", R"(["h", 1])", R"(["h", "e", "l"])", R"(["", "h"])"})
    expectPart(
        errorWith(concat("{\"model\": {\"merges\": [\"h e\", ", merge, "]}}")
                      .c_str()),
        "merge 1: expected two tokens that stand for bytes, but got ");
}

TEST_F(TokenizerFileTest, EmptyVocabulary) {
  json root = smallTokenizer();
  root["model"]["vocab"] = json::object();
  EXPECT_EQ(errorOfText(root.dump()), "the vocabulary has no token for byte 0");
  EXPECT_EQ(errorWith(R"({"model": {"vocab": {"a": null}}})"),
            "the vocabulary has no token for byte 97");
}

TEST_F(TokenizerFileTest, Ids) {
  for (const char *id : {"-1", "4194304", "18446744073709551616", "1.5",
                         "6.7e+88", "\"7\"", "true", "null", "[]", "{}"}) {
    std::string patch =
        concat(R"({"added_tokens": [{"content": "x", "id": )", id, "}]}");
    expectPart(errorWith(patch.c_str()),
               "token \"x\": expected an id from 0 to 4194303, but got ");
  }
  json root = smallTokenizer();
  for (const json &id : {json(-1), json(1 << 22), json(6.7e88), json("7")}) {
    root["model"]["vocab"]["xy"] = id;
    expectPart(errorOfText(root.dump()),
               "token \"xy\": expected an id from 0 to 4194303, but got ");
  }
  for (const json &id : {json::array({7}), json::object()}) {
    root["model"]["vocab"]["xy"] = id;
    EXPECT_EQ(errorOfText(root.dump()), "token \"xy\": expected an id");
  }
}

TEST_F(TokenizerFileTest, DuplicateIds) {
  EXPECT_EQ(errorWith(R"({"model": {"vocab": {"xy": 97}}})"),
            "id 97 is given to \"a\" and to \"xy\"");
  EXPECT_EQ(errorWith(R"({"added_tokens": [{"content": "xy", "id": 97}]})"),
            "id 97 is given to \"a\" and to \"xy\"");
  EXPECT_EQ(errorWith(R"({"added_tokens": [{"content": "x1", "id": 300},
                                           {"content": "x2", "id": 300}]})"),
            "id 300 is given to \"x1\" and to \"x2\"");
  EXPECT_EQ(errorWith(R"({"added_tokens": [{"content": "x", "id": 300},
                                           {"content": "x", "id": 301}]})"),
            "added token \"x\" stands twice in the file");
  // A key that stands twice in JSON.
  std::string text = smallTokenizer().dump();
  size_t place = text.find("\"he\":256");
  EXPECT_EQ(errorOfText(text.insert(place, "\"he\":300,")),
            "the ids 300 and 256 are both given to \"he\"");
  // One that is in the vocabulary as well.
  Tokenizer tokenizer =
      tokenizerWith(R"({"added_tokens": [{"content": "hel", "id": 257}]})");
  EXPECT_EQ(tokenizer.encode("hhel"), (std::vector<int32_t>{'h', 257}));
}

TEST_F(TokenizerFileTest, GapsBetweenIds) {
  Tokenizer tokenizer = tokenizerWith(
      R"({"added_tokens": [{"content": "<far>", "id": 4194303}]})");
  EXPECT_EQ(tokenizer.size(), 1 << 22);
  EXPECT_EQ(tokenizer.encode("<far>"), std::vector<int32_t>{4194303});
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{4194303}), "<far>");
  EXPECT_THROW(tokenizer.decode(std::vector<int32_t>{4194302}), Error);
}

TEST_F(TokenizerFileTest, Merges) {
  EXPECT_EQ(errorWith(R"({"model": {"merges": ["h e", "h x"]}})"),
            "merge 1 of \"h\" and \"x\": \"hx\" is not in the vocabulary");
  EXPECT_EQ(errorWith(R"({"model": {"merges": ["xy z"]}})"),
            "merge 0 of \"xy\" and \"z\": \"xy\" is not in the vocabulary");
  EXPECT_EQ(errorWith(R"({"model": {"merges": ["h e", ["h", "e"]]}})"),
            "merge 1 of \"h\" and \"e\" stands twice in the file");
  // Merges can form no cycle, as wholes are longer than parts; but parts may
  // be learned after what they are part of.
  Tokenizer tokenizer =
      tokenizerWith(R"({"model": {"merges": ["he l", "h e"]}})");
  EXPECT_EQ(tokenizer.encode("hel"), std::vector<int32_t>{257});
}

TEST_F(TokenizerFileTest, AddedTokens) {
  EXPECT_EQ(errorWith(R"({"added_tokens": [{"content": "", "id": 300}]})"),
            "an added token is empty");
  for (const char *option : {"lstrip", "rstrip", "single_word"})
    EXPECT_EQ(
        errorWith(concat(R"({"added_tokens": [{"content": "x", "id": 300,)",
                         "\"", option, "\": true}]}")
                      .c_str()),
        concat("added token \"x\" asks for ", option,
               ", which is not supported"));
}

TEST_F(TokenizerFileTest, OtherModels) {
  auto refusal = [](const char *what) {
    return concat("expected a byte-level BPE model, but got ", what);
  };
  EXPECT_EQ(errorWith(R"({"model": {"type": "Unigram"}})"),
            refusal(R"("type": "Unigram")"));
  EXPECT_EQ(errorWith(R"({"model": {"type": 3}})"), refusal(R"("type": 3)"));
  EXPECT_EQ(errorWith(R"({"model": {"byte_fallback": true}})"),
            refusal(R"("byte_fallback": true)"));
  EXPECT_EQ(errorWith(R"({"model": {"dropout": 0.1}})"),
            refusal(R"("dropout": 0.1)"));
  EXPECT_EQ(errorWith(R"({"model": {"end_of_word_suffix": "</w>"}})"),
            refusal(R"("end_of_word_suffix": "</w>")"));
  EXPECT_EQ(errorWith(R"({"normalizer": {"type": "NFC"}})"),
            R"(expected no normalizer, but got {"type":"NFC"})");
}

TEST_F(TokenizerFileTest, PreTokenizers) {
  for (const char *step :
       {"3", "[]", R"({"type": "Metaspace"})", R"({"type": 3})",
        R"({"type": "ByteLevel", "add_prefix_space": true})",
        R"({"type": "Sequence", "pretokenizers": 3})",
        R"({"type": "Split", "behavior": "Removed",
            "pattern": {"Regex": "a"}})",
        R"({"type": "Split", "behavior": "Isolated", "invert": true,
            "pattern": {"Regex": "a"}})",
        R"({"type": "Split", "behavior": "Isolated", "pattern": "a"})",
        R"({"type": "Split", "behavior": "Isolated", "pattern": {"Regex": 3}})",
        R"({"type": "Split", "behavior": "Isolated",
            "pattern": {"String": "a"}})"}) {
    json root = smallTokenizer();
    root["pre_tokenizer"] = json::parse(step);
    expectPart(errorOfText(root.dump()),
               "expected a pre-tokenizer of type Sequence, Split (Isolated, "
               "Regex) or ByteLevel (without a space before the text), but "
               "got ");
  }
  expectPart(errorWith(R"({"pre_tokenizer": null})"), "but got null");
  expectPart(errorWith(R"({"pre_tokenizer":
                           {"type": "Sequence", "pretokenizers": []}})"),
             "expected a pre-tokenizer that ends with ByteLevel, but got ");
  expectPart(
      errorWith(R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                    {"type": "ByteLevel", "add_prefix_space": false},
                    {"type": "ByteLevel", "add_prefix_space": false}]}})"),
      "expected ByteLevel as the last pre-tokenizer, but got ");
  expectPart(
      errorWith(R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                    {"type": "Split", "behavior": "Isolated",
                     "pattern": {"Regex": "("}},
                    {"type": "ByteLevel", "add_prefix_space": false}]}})"),
      "the split pattern is not understood at offset 1: ");
}

TEST_F(TokenizerFileTest, NoRegularFile) {
  std::string missing = (directory.path() / "none.json").string();
  EXPECT_EQ(errorOf([&] { Tokenizer tokenizer(missing); }),
            missing + ": cannot open: No such file or directory");
  std::string folder = directory.path().string();
  EXPECT_EQ(errorOf([&] { Tokenizer tokenizer(folder); }),
            folder + ": expected a regular file");
  std::string pipe = (directory.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(errorOf([&] { Tokenizer tokenizer(pipe); }),
            pipe + ": expected a regular file");
  std::string locked = directory.write("locked.json", "{}");
  ASSERT_EQ(::chmod(locked.c_str(), 0), 0);
  if (::access(locked.c_str(), R_OK) != 0) // else root runs the test
    EXPECT_EQ(errorOf([&] { Tokenizer tokenizer(locked); }),
              locked + ": cannot open: Permission denied");
}

TEST_F(TokenizerFileTest, SurvivesEveryTruncation) {
  std::string text = smallTokenizer().dump();
  for (size_t length = 0; length < text.size(); length += 7)
    EXPECT_NE(errorOfText(text.substr(0, length)), "") << length;
}
