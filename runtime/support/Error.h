//===- Error.h - The error of the runtime -----------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime reports every failure by throwing Error; its message says what
// was expected, what was found and where, and is one or more lines without a
// final newline. Nothing else is thrown on purpose. A function that throws
// leaves its object as it was, unless its header says otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_SUPPORT_ERROR_H
#define MMX_RUNTIME_SUPPORT_ERROR_H

#include <sstream>
#include <stdexcept>
#include <string>

namespace mmx::runtime {

class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The text of all arguments, one after another.
template <typename... Args> std::string concat(const Args &...args) {
  std::ostringstream stream;
  (stream << ... << args);
  return stream.str();
}

template <typename... Args> [[noreturn]] void fail(const Args &...args) {
  throw Error(concat(args...));
}

/// "[2, 3]".
template <typename Range> std::string listText(const Range &values) {
  std::ostringstream stream;
  const char *separator = "[";
  for (const auto &value : values) {
    stream << separator << value;
    separator = ", ";
  }
  return std::move(stream).str() + (*separator == '[' ? "[]" : "]");
}

} // namespace mmx::runtime

#endif // MMX_RUNTIME_SUPPORT_ERROR_H
