//===- JSONReader.h - Checked access to JSON files --------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_MODEL_JSONREADER_H
#define MMX_LIB_MODEL_JSONREADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mmx {

/// An error with a message of one or more lines.
llvm::Error makeError(const llvm::Twine &message);

/// Parses `text`, which stands in `file`. Nesting deeper than 64 is an error:
/// the parser is recursive.
llvm::Expected<llvm::json::Value> parseJSON(llvm::StringRef text,
                                            llvm::StringRef file);

/// Reads `file`, of at most `maxBytes`.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readTextFile(llvm::StringRef file, uint64_t maxBytes);

/// Reads and parses `file`, of at most `maxBytes`.
llvm::Expected<llvm::json::Value> readJSONFile(llvm::StringRef file,
                                               uint64_t maxBytes);

/// A short description of a value for messages: `"abc"`, `12`, `an array`.
std::string describe(const llvm::json::Value &value);

/// Reads the keys of one object. A key that is absent or null has the
/// fallback; a wrong one is noted as an error and has the fallback too, so
/// that one run reports all of them.
class ObjectReader {
public:
  ObjectReader(const llvm::json::Object &object, llvm::StringRef file)
      : object(object), file(file) {}

  /// The value of `key`, or null if it is absent or null.
  const llvm::json::Value *find(llvm::StringRef key) const;

  int64_t integer(llvm::StringRef key, int64_t fallback, int64_t low,
                  int64_t high);
  double number(llvm::StringRef key, double fallback, double low, double high);
  bool boolean(llvm::StringRef key, bool fallback);
  std::string string(llvm::StringRef key, llvm::StringRef fallback);

  /// An integer, or a list of integers that are all the same.
  int64_t uniformInteger(llvm::StringRef key, int64_t fallback, int64_t low,
                         int64_t high);
  /// An integer or a list of integers; nothing if absent.
  std::vector<int64_t> integers(llvm::StringRef key, int64_t low, int64_t high);

  /// Notes "file: expected <expected> for "key", but got <value>".
  void fail(llvm::StringRef key, const llvm::Twine &expected);
  void failWith(const llvm::Twine &message);
  void warn(const llvm::Twine &message);

  /// Takes over the errors and warnings of another reader.
  void take(ObjectReader &other);
  /// All errors so far, as one.
  llvm::Error takeError();
  std::vector<std::string> takeWarnings() { return std::move(warnings); }

private:
  const llvm::json::Object &object;
  std::string file;
  std::vector<std::string> errors, warnings;
};

} // namespace mmx

#endif // MMX_LIB_MODEL_JSONREADER_H
