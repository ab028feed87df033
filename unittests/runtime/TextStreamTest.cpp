//===- TextStreamTest.cpp - Tests of text that arrives in parts -----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TextStream.h"

#include <gtest/gtest.h>

using namespace mmx::runtime;

TEST(TextStream, HoldsBackPartsOfCharacters) {
  TextStream stream;
  EXPECT_EQ(stream.push("a\xe2"), "a");
  EXPECT_EQ(stream.push("\x82"), "");
  EXPECT_EQ(stream.push("\xac!"), "\xe2\x82\xac!");
  EXPECT_EQ(stream.push("\xf0\x9f\x98"), "");
  EXPECT_EQ(stream.finish(), "\xf0\x9f\x98");
}

TEST(TextStream, BytesThatAreNoTextAreNotHeld) {
  TextStream stream;
  EXPECT_EQ(stream.push("\xff\x80\x80\x80\x80"), "\xff\x80\x80\x80\x80");
}

TEST(TextStream, StopsAcrossParts) {
  TextStream stream({"END", "", "ENOUGH"});
  EXPECT_EQ(stream.push("the E"), "the ");
  EXPECT_EQ(stream.push("EN"), "E");
  EXPECT_EQ(stream.push("O"), "");
  EXPECT_EQ(stream.push("x EN"), "ENOx ");
  EXPECT_FALSE(stream.stopped());
  EXPECT_EQ(stream.push("D more"), "");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.push("END"), "");
  EXPECT_EQ(stream.finish(), "");
}

TEST(TextStream, TheFirstStopCounts) {
  TextStream stream({"c", "b"});
  EXPECT_EQ(stream.push("abc"), "a");
}

// The one that is complete first, whether it is seen in one part or in many.
TEST(TextStream, StopsThatOverlap) {
  for (size_t step : {1, 2, 10}) {
    TextStream stream({"one two", "two three", "ne"});
    std::string text = "a one two three", out;
    for (size_t begin = 0; begin < text.size(); begin += step)
      out += stream.push(text.substr(begin, step));
    EXPECT_EQ(out + stream.finish(), "a o") << step;
    EXPECT_TRUE(stream.stopped());
  }
  TextStream sameEnd({"three", "two three"});
  EXPECT_EQ(sameEnd.push("one two three"), "one ");
}

TEST(TextStream, CutAnywhereTheTextIsTheSame) {
  std::string text = "gr\xc3\xbc\xc3\x9f dich \xf0\x9f\x98\x80 ab";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    TextStream stream({"abc"});
    std::string out = stream.push(text.substr(0, cut));
    EXPECT_EQ(unfinishedBytes(out), 0u);
    out += stream.push(text.substr(cut));
    EXPECT_EQ(out + stream.finish(), text);
  }
}
