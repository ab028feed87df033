//===- PackageChecks.h - What a package must satisfy ------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules beyond the structure of the FlatBuffer, so that later code may use
// every number in a package without looking at it again:
// - every index is in range, every enumerator known, every name given once;
// - every expression is well-formed for its symbols (Expression.h);
// - shapes are not negative and their products fit; constants hold as many
//   bytes as their shape says, panels lie along a dimension there is;
// - a launch passes as many extents as its kernel takes;
// - kernels have what a launch on a GPU needs exactly where the target is one:
//   blocks, clusters and boxes within the limits of CUDA, tensor maps of views
//   that every launch passes.
// Values that depend on the symbols of a step are checked when it is bound.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_PACKAGE_PACKAGECHECKS_H
#define MMX_RUNTIME_PACKAGE_PACKAGECHECKS_H

#include "mmx/package_generated.h"

#include <optional>
#include <string_view>

namespace mmx::runtime {

/// Symbols of the shapes and offsets of a program.
enum class StepSymbol {
  Tokens,
  Sequences,
  Outputs,
  Slots,
  CacheRows,
  PageColumns
};
constexpr int64_t stepSymbolCount = 6;

/// A role split into its kind and layer: "state.3" is State of layer 3; roles
/// without a layer have layer -1.
enum class RoleKind {
  Ids,
  Positions,
  Starts,
  Slots,
  Past,
  CacheRows,
  Pages,
  LogitRows,
  Routing,
  State,
  KeyCache,
  ValueCache,
  Logits,
  Hidden,
  Experts
};
struct Role {
  RoleKind kind;
  int64_t layer;
};
std::optional<Role> parseRole(std::string_view text);

/// Throws if `package`, which passed the FlatBuffers verifier, breaks a rule.
void checkPackage(const package::Package &package);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_PACKAGE_PACKAGECHECKS_H
