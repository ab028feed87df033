//===- Haystack.cpp - Needles hidden in long texts ------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/haystack/Haystack.h"

#include "runtime/support/Error.h"
#include "runtime/support/Random.h"

#include <cmath>
#include <iterator>

using namespace mmx::runtime;

template <size_t N>
static const char *pick(Random &random, const char *const (&list)[N]) {
  return list[random.below(N)];
}

/// What a needle may speak of.
static const char *const words[] = {
    "blood", "brother", "children", "city",   "device", "earth",  "father",
    "fire",  "hand",    "house",    "kernel", "king",   "land",   "machine",
    "name",  "people",  "power",    "priest", "server", "tree",   "water",
    "wife",  "word",    "world",    "disk",   "head",   "servant"};

/// " The good king came to the city before the children."
static std::string sentence(Random &random) {
  static const char *const qualities[] = {"",      "great ", "good ", "small ",
                                          "holy ", "first ", "last ", "other "};
  static const char *const subjects[] = {
      "king",   "priest",  "servant", "father", "people",  "child",
      "driver", "process", "machine", "user",   "program", "brother"};
  static const char *const verbs[] = {
      "came to",  "went from",  "looked upon", "found",    "brought",
      "remained", "called for", "opened",      "stood by", "spake of"};
  static const char *const objects[] = {
      "the city",  "the house",  "the land",    "the altar", "the tree",
      "the water", "the system", "the network", "the table", "the fire"};
  static const char *const ends[] = {"",
                                     " in the days of the king",
                                     " and said nothing",
                                     " before the children",
                                     " because of the word",
                                     " after many years",
                                     ", and it was good",
                                     " with all the people"};
  const char *quality = pick(random, qualities);
  const char *subject = pick(random, subjects);
  const char *verb = pick(random, verbs);
  const char *object = pick(random, objects);
  return concat(" The ", quality, subject, " ", verb, " ", object,
                pick(random, ends), ".");
}

Haystack::Haystack(Encode encode, std::string text)
    : encode(std::move(encode)) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    end = end == std::string::npos ? text.size() : end + 1;
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
  }
}

std::vector<std::vector<int32_t>> Haystack::pieces(int64_t tokens,
                                                   uint64_t seed) const {
  Random random(seed);
  std::vector<std::vector<int32_t>> pieces;
  size_t line = lines.empty() ? 0 : random.below(lines.size());
  // A text without a single token would never fill the prompt.
  for (int64_t count = 0, empty = 0; count < tokens;) {
    std::string piece =
        lines.empty() ? sentence(random) : lines[line++ % lines.size()];
    pieces.push_back(encode(piece));
    count += pieces.back().size();
    empty = pieces.back().empty() ? empty + 1 : 0;
    if (empty > int64_t(lines.size()))
      fail("the text of the haystack has no tokens");
  }
  return pieces;
}

HaystackQuestion Haystack::question(int64_t length, double depth,
                                    uint64_t seed) const {
  Random random(seed);
  HaystackQuestion result;
  result.word = pick(random, words);
  result.number = std::to_string(10000 + random.below(90000));
  std::string about = concat("secret number of ", result.word, " is ");
  std::vector<int32_t> needle =
      encode(concat(" The ", about, result.number, "."));
  std::vector<int32_t> asking = encode(concat("\n\nThe ", about));
  result.answer = encode(result.number);
  int64_t room = length - int64_t(needle.size() + asking.size());
  if (room < 0)
    fail("a prompt of ", length, " tokens is too short for a needle and a ",
         "question of ", needle.size() + asking.size());

  // The boundary of pieces nearest to the wanted place.
  std::vector<std::vector<int32_t>> text = pieces(room, seed);
  double wanted = depth * double(room);
  int64_t place = 0;
  for (int64_t end = 0; const std::vector<int32_t> &piece : text) {
    end = std::min<int64_t>(end + piece.size(), room);
    if (std::abs(double(end) - wanted) < std::abs(double(place) - wanted))
      place = end;
  }
  std::vector<int32_t> &prompt = result.prompt;
  prompt.reserve(length);
  for (const std::vector<int32_t> &piece : text)
    prompt.insert(prompt.end(), piece.begin(), piece.end());
  prompt.resize(room);
  prompt.insert(prompt.begin() + place, needle.begin(), needle.end());
  prompt.insert(prompt.end(), asking.begin(), asking.end());
  return result;
}
