//===- Trace.h - What ran when, for a timeline ------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects spans of time and writes them in the trace event format of Chrome
// (chrome://tracing, ui.perfetto.dev). Rows stand for "stages" of the program
// and "kernels" of the device. Threads: add may be called from several.
// Errors: a file that cannot be opened or written throws; it is opened at
// once, so that a wrong name costs no time.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_TRACE_TRACE_H
#define MMX_RUNTIME_TRACE_TRACE_H

#include <chrono>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

namespace mmx::runtime {

class Trace {
public:
  using Clock = std::chrono::steady_clock;
  enum class Row { Stages = 1, Kernels = 2 };

  explicit Trace(std::string path);

  /// A span of `seconds` from `begin`; `detail` is shown with it.
  void add(Row row, std::string name, Clock::time_point begin, double seconds,
           std::string detail = "");
  /// Writes all spans to the file. Once.
  void write();

private:
  struct Event {
    Row row;
    std::string name, detail;
    Clock::time_point begin;
    double seconds;
  };
  std::string path;
  std::ofstream file;
  Clock::time_point origin = Clock::now();
  std::mutex mutex;
  std::vector<Event> events;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_TRACE_TRACE_H
