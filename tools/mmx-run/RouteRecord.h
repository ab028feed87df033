//===- RouteRecord.h - Which experts the tokens went to ---------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The experts of the tokens of one sequence, layer by layer, as the outputs of
// its steps or a file give them. One thread. Errors: Error.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_MMXRUN_ROUTERECORD_H
#define MMX_TOOLS_MMXRUN_ROUTERECORD_H

#include "runtime/engine/Engine.h"
#include "runtime/weights/Safetensors.h"

#include <map>

namespace mmx::tool {

class RouteRecord {
public:
  /// `width` is the number of experts of a token.
  explicit RouteRecord(int64_t width) : width(width) {}

  void clear() { layers.clear(); }
  const std::vector<std::vector<int32_t>> &experts() const { return layers; }
  /// Adds the tokens of a step of the sequence.
  void append(const runtime::StepOutputs &outputs);
  /// Gives the tokens of a step of the same sequence, by their positions, the
  /// recorded experts; nothing if the model has no router.
  void give(runtime::StepInputs &inputs) const;
  /// The share of the first tokens, counted in every layer, that went to
  /// another set of experts than in `other`; `other` may be longer.
  double shareOfOthers(const RouteRecord &other) const;

private:
  friend class RouteFile;
  int64_t width;
  std::vector<std::vector<int32_t>> layers; ///< [tokens, width]
};

/// Records by the name of their prompt, kept in a safetensors file as tensors
/// "NAME.routing.L" of I32 [tokens, experts of a token].
class RouteFile {
public:
  void add(const std::string &name, const RouteRecord &record);
  /// Throws if the file cannot be written.
  void write(const std::string &path) const;
  /// Fills `record` from a file. Throws if it has nothing for `name`.
  static void read(const runtime::Safetensors &file, const std::string &name,
                   RouteRecord &record);

private:
  std::map<std::string, std::vector<int32_t>> tensors;
  int64_t width = 0;
};

} // namespace mmx::tool

#endif // MMX_TOOLS_MMXRUN_ROUTERECORD_H
