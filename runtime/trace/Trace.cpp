//===- Trace.cpp - What ran when, for a timeline --------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/Trace.h"

#include "runtime/support/Error.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>

using namespace mmx::runtime;
using nlohmann::json;

Trace::Trace(std::string name) : path(std::move(name)), file(path) {
  if (!file)
    fail(path, ": cannot open: ", std::strerror(errno));
}

void Trace::add(Row row, std::string name, Clock::time_point begin,
                double seconds, std::string detail) {
  std::lock_guard lock(mutex);
  events.push_back({row, std::move(name), std::move(detail), begin, seconds});
}

/// Names a row.
static json rowName(Trace::Row row, const char *name) {
  return {{"ph", "M"},
          {"pid", 1},
          {"tid", int(row)},
          {"name", "thread_name"},
          {"args", {{"name", name}}}};
}

void Trace::write() {
  std::lock_guard lock(mutex);
  file << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
       << rowName(Row::Stages, "stages") << ",\n"
       << rowName(Row::Kernels, "kernels");
  for (const Event &event : events) {
    using Microseconds = std::chrono::duration<double, std::micro>;
    json line = {{"ph", "X"},
                 {"pid", 1},
                 {"tid", int(event.row)},
                 {"name", event.name},
                 {"ts", Microseconds(event.begin - origin).count()},
                 {"dur", event.seconds * 1e6}};
    if (!event.detail.empty())
      line["args"] = {{"detail", event.detail}};
    file << ",\n" << line;
  }
  file << "\n]}\n";
  file.close();
  if (!file)
    fail(path, ": cannot write: ", std::strerror(errno));
}
