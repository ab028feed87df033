//===- LineReader.h - Lines of a terminal or a pipe -------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads lines of a file descriptor, whatever its kind, until it ends or an
// interrupt comes. The terminal edits the line, in the mode it is in. One
// thread. Errors: Error, for a descriptor that cannot be read and a line of
// more than 256 MiB.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_MMXRUN_LINEREADER_H
#define MMX_TOOLS_MMXRUN_LINEREADER_H

#include "Interrupts.h"

#include <string>

namespace mmx::tool {

class LineReader {
public:
  LineReader(int descriptor, const Interrupts &interrupts)
      : descriptor(descriptor), interrupts(interrupts) {}

  enum class Result { Line, End, Interrupted };
  /// Waits for the next line, and gives it without its end. The last line may
  /// lack one.
  Result next(std::string &line);

private:
  bool takeLine(std::string &line);

  int descriptor;
  const Interrupts &interrupts;
  std::string buffer;
  size_t searched = 0; ///< of the buffer, for an end of line
  bool ended = false;
};

} // namespace mmx::tool

#endif // MMX_TOOLS_MMXRUN_LINEREADER_H
