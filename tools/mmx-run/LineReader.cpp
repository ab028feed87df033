//===- LineReader.cpp - Lines of a terminal or a pipe ---------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineReader.h"

#include "runtime/support/Error.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

using namespace mmx::runtime;
using namespace mmx::tool;

static constexpr size_t longestLine = size_t(1) << 28;

bool LineReader::takeLine(std::string &line) {
  size_t end = buffer.find('\n', searched);
  searched = buffer.size();
  if (end == std::string::npos && !(ended && !buffer.empty())) {
    if (buffer.size() > longestLine)
      fail("standard input: expected lines of at most ", longestLine, " bytes");
    return false;
  }
  line = buffer.substr(0, end);
  if (line.ends_with('\r'))
    line.pop_back();
  buffer.erase(0, end == std::string::npos ? end : end + 1);
  searched = 0;
  return true;
}

LineReader::Result LineReader::next(std::string &line) {
  while (true) {
    if (interrupts.pending())
      return Result::Interrupted;
    if (takeLine(line))
      return Result::Line;
    if (ended)
      return Result::End;
    pollfd waited[] = {{descriptor, POLLIN, 0},
                       {interrupts.descriptor(), POLLIN, 0}};
    if (::poll(waited, 2, /*timeout=*/-1) < 0 || waited[1].revents != 0)
      continue;
    char bytes[1 << 16];
    ssize_t count = ::read(descriptor, bytes, sizeof(bytes));
    if (count < 0 && errno != EINTR && errno != EAGAIN)
      fail("standard input: cannot be read: ", std::strerror(errno));
    if (count == 0)
      ended = true;
    if (count > 0)
      buffer.append(bytes, count);
  }
}
