//===- StageTable.h - Where the wall time went ------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A clock that is always in one stage, so the stages add up to the wall time
// since construction. One thread at a time. No errors.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_PROGRESS_STAGETABLE_H
#define MMX_RUNTIME_PROGRESS_STAGETABLE_H

#include "runtime/trace/Trace.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace mmx::runtime {

class StageTable {
public:
  struct Row {
    std::string stage;
    double seconds = 0;
    std::string note; ///< "12 tokens, 3.4 tokens/s"
  };

  /// Every stay in a stage is also given to `trace`, unless that is null.
  explicit StageTable(Trace *trace = nullptr)
      : theTrace(trace), last(Clock::now()), entered(last) {
    enter("other");
  }

  /// Time from now on counts for `stage`; returns the stage left.
  std::string enter(const std::string &stage);
  /// Sets the note of a stage.
  void note(const std::string &stage, std::string text);
  /// Seconds of `stage` so far.
  double seconds(const std::string &stage);

  /// Null without a trace.
  Trace *trace() const { return theTrace; }

  /// The stages in the order they were entered first.
  const std::vector<Row> &rows();
  /// A table with a last line for the total.
  std::string text();

private:
  using Clock = std::chrono::steady_clock;
  Row &row(const std::string &stage);
  void settle();

  std::vector<Row> table;
  size_t current = 0;
  Trace *theTrace;
  Clock::time_point last, entered; ///< since when in the current stage
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_PROGRESS_STAGETABLE_H
