//===- Progress.cpp - How far the work is ---------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/progress/Progress.h"

#include <algorithm>
#include <cinttypes>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace mmx::runtime;
using namespace std::chrono_literals;

Progress::Progress(Mode mode, std::FILE *stream) : stream(stream), mode(mode) {
  if (mode == Mode::Auto)
    this->mode = ::isatty(::fileno(stream)) ? Mode::Bar : Mode::Lines;
}

Progress::~Progress() { finish(); }

void Progress::update(const std::string &newStage, int64_t done,
                      int64_t total) {
  if (mode == Mode::None)
    return;
  std::lock_guard lock(mutex);
  Clock::time_point now = Clock::now();
  bool begins = newStage != stage;
  if (begins) {
    stage = newStage;
    begin = last = now;
  }
  bool ends = total > 0 && done >= total;
  auto interval = mode == Mode::Lines ? 10000ms : 100ms;
  if (!begins && !ends && now - last < interval)
    return;
  last = now;
  draw(done, total);
}

void Progress::draw(int64_t done, int64_t total) {
  double seconds = std::chrono::duration<double>(last - begin).count();
  if (mode == Mode::Json) {
    nlohmann::json line = {{"stage", stage},
                           {"done", done},
                           {"total", total},
                           {"seconds", seconds}};
    std::fprintf(stream, "%s\n", line.dump().c_str());
  } else if (mode == Mode::Lines) {
    std::fprintf(stream, "mmx: %s %" PRId64 "/%" PRId64 "\n", stage.c_str(),
                 done, total);
  } else {
    constexpr int width = 30;
    int filled = total > 0 ? int(width * std::min(done, total) / total) : 0;
    std::fprintf(stream, "\r\033[K%-12s [%s%s] %3d%%  %.1f s", stage.c_str(),
                 std::string(filled, '=').c_str(),
                 std::string(width - filled, ' ').c_str(),
                 total > 0 ? int(100 * std::min(done, total) / total) : 0,
                 seconds);
    drawn = true;
  }
  std::fflush(stream);
}

void Progress::finish() {
  std::lock_guard lock(mutex);
  stage.clear();
  if (!drawn)
    return;
  std::fprintf(stream, "\r\033[K");
  std::fflush(stream);
  drawn = false;
}
