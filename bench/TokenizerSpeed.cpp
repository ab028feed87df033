//===- TokenizerSpeed.cpp - How fast text becomes ids and back ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: mmx-tokenizer-speed TOKENIZER.json ROUNDS FILE... The files are one
// text. Prints JSON: CPU seconds to open the tokenizer, seconds of the first
// encoding, medians of the others and of decoding, all by one thread; and the
// SHA-256 of the ids. Exits 1 if the decoded text differs from what was
// encoded.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/MappedFile.h"
#include "runtime/support/Sha256.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>

using namespace mmx::runtime;

/// Seconds of this thread, which others on the machine do not lengthen.
static double now() {
  timespec time;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// Seconds that `work` takes.
template <typename Work> static double timeOf(const Work &work) {
  double begin = now();
  work();
  return now() - begin;
}

static double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

static int measure(const char *file, int rounds, const std::string &text) {
  std::optional<Tokenizer> tokenizer;
  double open = timeOf([&] { tokenizer.emplace(file); });
  std::vector<int32_t> ids;
  double first = timeOf([&] { ids = tokenizer->encode(text); });
  std::string decoded;
  std::vector<double> encodes, decodes;
  for (int round = 0; round < rounds; ++round) {
    encodes.push_back(timeOf([&] { ids = tokenizer->encode(text); }));
    decodes.push_back(timeOf([&] { decoded = tokenizer->decode(ids); }));
    if (decoded != text) {
      std::cerr << "the decoded text differs from what was encoded\n";
      return 1;
    }
  }
  std::cout << "{\"bytes\": " << text.size() << ", \"ids\": " << ids.size()
            << ", \"open\": " << open << ", \"first\": " << first
            << ", \"encode\": " << median(encodes)
            << ", \"decode\": " << median(decodes) << ", \"digest\": \""
            << toHex(Sha256::of({reinterpret_cast<const uint8_t *>(ids.data()),
                                 ids.size() * sizeof(ids[0])}))
            << "\"}\n";
  return 0;
}

int main(int argc, char **argv) {
  int rounds = argc > 3 ? std::atoi(argv[2]) : 0;
  if (rounds < 1) {
    std::cerr << "usage: mmx-tokenizer-speed TOKENIZER.json ROUNDS FILE...\n";
    return 2;
  }
  try {
    std::string text;
    for (int i = 3; i < argc; ++i) {
      MappedFile file(argv[i]);
      text.append(reinterpret_cast<const char *>(file.bytes().data()),
                  file.bytes().size());
    }
    return measure(argv[1], rounds, text);
  } catch (const std::exception &error) {
    std::cerr << "mmx-tokenizer-speed: " << error.what() << "\n";
    return 2;
  }
}
