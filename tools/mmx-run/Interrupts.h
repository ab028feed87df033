//===- Interrupts.h - Ctrl-C that a loop can answer -------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While an object is alive, SIGINT does not end the program but is noted; a
// second one that comes before the first is taken ends it at once with status
// 130. At most one object at a time. Any thread may receive the signal; the
// members are for one. Errors: Error, if there are no file descriptors left.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_MMXRUN_INTERRUPTS_H
#define MMX_TOOLS_MMXRUN_INTERRUPTS_H

#include <csignal>

namespace mmx::tool {

class Interrupts {
public:
  /// What a shell expects of a program that SIGINT ends.
  static constexpr int exitStatus = 128 + SIGINT;

  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts &) = delete;
  Interrupts &operator=(const Interrupts &) = delete;

  /// Whether there was one that is not yet taken.
  bool pending() const;
  /// Takes it; returns whether there was one.
  bool take();
  /// Can be read from while one is pending: for poll.
  int descriptor() const { return readEnd; }

private:
  int readEnd = -1;
  struct sigaction previous;
};

} // namespace mmx::tool

#endif // MMX_TOOLS_MMXRUN_INTERRUPTS_H
