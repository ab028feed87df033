//===- HaystackTest.cpp - Tests of runtime/haystack -----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/haystack/Haystack.h"
#include "runtime/support/Error.h"

#include <gtest/gtest.h>

using namespace mmx::runtime;

/// A vocabulary of bytes.
static std::vector<int32_t> bytes(std::string_view text) {
  return {text.begin(), text.end()};
}

static std::string textOf(const std::vector<int32_t> &ids) {
  return {ids.begin(), ids.end()};
}

static std::string needleOf(const HaystackQuestion &question) {
  return " The secret number of " + question.word + " is " + question.number +
         ".";
}

TEST(Haystack, OneNeedleAndItsQuestion) {
  Haystack haystack(bytes);
  for (double depth : {0.0, 0.3, 1.0}) {
    HaystackQuestion question = haystack.question(2000, depth, 5);
    std::string text = textOf(question.prompt), needle = needleOf(question);
    EXPECT_EQ(question.prompt.size(), 2000u);
    size_t at = text.find(needle);
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(text.find(question.number, at + needle.size()),
              std::string::npos);
    EXPECT_TRUE(
        text.ends_with("\n\nThe secret number of " + question.word + " is "));
    EXPECT_EQ(textOf(question.answer), question.number);
    EXPECT_EQ(question.number.size(), 5u);
    // Sentences of the grammar are shorter than 120 bytes.
    EXPECT_NEAR(double(at), depth * (2000 - 2 * needle.size()), 120);
  }
}

TEST(Haystack, DepthMovesOnlyTheNeedle) {
  Haystack haystack(bytes);
  HaystackQuestion first = haystack.question(900, 0, 3);
  HaystackQuestion last = haystack.question(900, 1, 3);
  EXPECT_EQ(first.number, last.number);
  std::string needle = needleOf(first);
  std::string a = textOf(first.prompt), b = textOf(last.prompt);
  EXPECT_TRUE(a.starts_with(needle));
  b.erase(b.find(needle), needle.size());
  EXPECT_EQ(a.substr(needle.size()), b);
}

TEST(Haystack, SeedsDecide) {
  Haystack haystack(bytes);
  EXPECT_EQ(haystack.question(500, 0.5, 1).prompt,
            haystack.question(500, 0.5, 1).prompt);
  EXPECT_NE(haystack.question(500, 0.5, 1).prompt,
            haystack.question(500, 0.5, 2).prompt);
  // The same on every machine.
  EXPECT_EQ(needleOf(haystack.question(500, 0.5, 1)),
            " The secret number of earth is 38519.");
}

TEST(Haystack, TextIsRepeatedAndCutAtLines) {
  Haystack haystack(bytes, "first line\nsecond line\n");
  HaystackQuestion question = haystack.question(300, 0.5, 1);
  std::string text = textOf(question.prompt);
  EXPECT_NE(text.find("line\n" + needleOf(question)), std::string::npos);
  EXPECT_NE(text.find("first line\nsecond line\nfirst line\n"),
            std::string::npos);
}

TEST(Haystack, Errors) {
  Haystack haystack(bytes);
  EXPECT_THROW(haystack.question(40, 0, 1), Error);
  Haystack empty(
      [](std::string_view text) {
        return text.starts_with("x") ? std::vector<int32_t>{} : bytes(text);
      },
      "x\nx\n");
  EXPECT_THROW(empty.question(300, 0, 1), Error);
}
