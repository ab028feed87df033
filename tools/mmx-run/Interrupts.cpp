//===- Interrupts.cpp - Ctrl-C that a loop can answer ---------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interrupts.h"

#include "runtime/support/Error.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace mmx::runtime;
using namespace mmx::tool;

// What a signal handler may touch.
static std::atomic<bool> isPending = false;
static std::atomic<int> writeEnd = -1;
static_assert(std::atomic<bool>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free);

static void onInterrupt(int) {
  int error = errno;
  if (isPending.exchange(true)) {
    // The cursor stands behind half an answer.
    if (::isatty(STDERR_FILENO) && ::write(STDERR_FILENO, "\n", 1) < 0)
      ::_exit(Interrupts::exitStatus);
    ::_exit(Interrupts::exitStatus);
  }
  // A pipe that is full can be read from, which is all that is wanted.
  [[maybe_unused]] ssize_t written = ::write(writeEnd, "!", 1);
  errno = error;
}

Interrupts::Interrupts() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    fail("cannot make a pipe: ", std::strerror(errno));
  readEnd = ends[0];
  writeEnd = ends[1];
  isPending = false;
  struct sigaction action = {};
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &previous);
}

Interrupts::~Interrupts() {
  ::sigaction(SIGINT, &previous, nullptr);
  ::close(readEnd);
  ::close(writeEnd.exchange(-1));
}

bool Interrupts::pending() const { return isPending; }

bool Interrupts::take() {
  char bytes[16];
  while (::read(readEnd, bytes, sizeof(bytes)) > 0) {
  }
  return isPending.exchange(false);
}
