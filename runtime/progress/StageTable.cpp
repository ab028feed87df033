//===- StageTable.cpp - Where the wall time went --------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/progress/StageTable.h"

#include <algorithm>
#include <cstdio>

using namespace mmx::runtime;

StageTable::Row &StageTable::row(const std::string &stage) {
  auto found = std::ranges::find(table, stage, &Row::stage);
  if (found == table.end())
    found = table.insert(found, Row{stage, 0, ""});
  return *found;
}

void StageTable::settle() {
  Clock::time_point now = Clock::now();
  if (!table.empty())
    table[current].seconds += std::chrono::duration<double>(now - last).count();
  last = now;
}

std::string StageTable::enter(const std::string &stage) {
  settle();
  std::string left = table.empty() ? "" : table[current].stage;
  if (theTrace && !left.empty())
    theTrace->add(Trace::Row::Stages, left, entered,
                  std::chrono::duration<double>(last - entered).count());
  entered = last;
  current = &row(stage) - table.data();
  return left;
}

void StageTable::note(const std::string &stage, std::string text) {
  row(stage).note = std::move(text);
}

double StageTable::seconds(const std::string &stage) {
  settle();
  return row(stage).seconds;
}

const std::vector<StageTable::Row> &StageTable::rows() {
  settle();
  return table;
}

std::string StageTable::text() {
  std::string result;
  double total = 0;
  auto line = [&](const std::string &name, double seconds,
                  const std::string &note) {
    char text[256];
    std::snprintf(text, sizeof(text), "%-12s %10.3f s  %s", name.c_str(),
                  seconds, note.c_str());
    result += text;
    result.erase(result.find_last_not_of(' ') + 1);
    result += '\n';
  };
  for (const Row &row : rows()) {
    if (&row != &table.front())
      line(row.stage, row.seconds, row.note);
    total += row.seconds;
  }
  // What no stage accounts for, though it was entered first.
  line(table.front().stage, table.front().seconds, table.front().note);
  line("total", total, "");
  return result;
}
