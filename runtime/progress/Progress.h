//===- Progress.h - How far the work is -------------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reports on standard error: a bar that redraws itself on a terminal, one line
// a stage (and every ten seconds within one) in a pipe, or one JSON object a
// line for programs: {"stage": "weights", "done": 3, "total": 8}. Calls from
// several threads are serialised. No errors.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_PROGRESS_PROGRESS_H
#define MMX_RUNTIME_PROGRESS_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

namespace mmx::runtime {

class Progress {
public:
  enum class Mode { Auto, Bar, Lines, Json, None };

  /// Auto is Bar if `stream` is a terminal, else Lines.
  explicit Progress(Mode mode = Mode::Auto, std::FILE *stream = stderr);
  ~Progress();

  /// `done` of `total` units of `stage`; a total of 0 is unknown.
  void update(const std::string &stage, int64_t done, int64_t total);
  /// Ends the current stage: removes the bar.
  void finish();

private:
  using Clock = std::chrono::steady_clock;
  void draw(int64_t done, int64_t total);

  std::mutex mutex;
  std::FILE *stream;
  Mode mode;
  std::string stage;
  Clock::time_point begin, last;
  bool drawn = false;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_PROGRESS_PROGRESS_H
