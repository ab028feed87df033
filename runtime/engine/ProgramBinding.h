//===- ProgramBinding.h - A program for one set of symbols ------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes, offsets, extents and grids of a program depend on the symbols of a
// step (schema/package.fbs). Binding evaluates them once, so that steps of the
// same sizes only launch. A binding views the package and the memory it was
// bound to. Threads: one at a time. Errors: a value that makes no sense names
// the program and the buffer or launch.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_ENGINE_PROGRAMBINDING_H
#define MMX_RUNTIME_ENGINE_PROGRAMBINDING_H

#include "runtime/device/Device.h"
#include "runtime/package/PackageChecks.h"

#include <functional>

namespace mmx::runtime {

using StepSymbols = std::array<int64_t, stepSymbolCount>;

/// Bytes of `buffer` with the extents `shape` in its layout.
int64_t bufferBytes(const package::Buffer &buffer,
                    std::span<const int64_t> shape);

class ProgramBinding {
public:
  ProgramBinding(const package::Package &package,
                 const package::Program &program);

  const package::Program &program() const { return *theProgram; }

  /// The extents of buffer number `buffer`, and the size of the arena.
  std::vector<int64_t> shape(int64_t buffer, const StepSymbols &symbols) const;
  int64_t arenaBytes(const StepSymbols &symbols) const;

  /// Resolves every launch. `place(buffer, shape)` is the memory of a buffer
  /// that is not a temporary.
  using Place = std::function<std::byte *(int64_t, std::span<const int64_t>)>;
  void bind(const StepSymbols &symbols, std::byte *arena, const Place &place);

  /// The launches with at least one cell, in order.
  std::span<const KernelLaunch> launches() const { return bound; }
  /// What launch number `launch` of these computes: "layers.3.qkv_proj"; the
  /// kernel's name if nothing says so.
  std::string_view label(size_t launch) const;

private:
  [[noreturn]] void failAt(const char *what, int64_t number,
                           const std::string &message) const;
  std::byte *temporary(int64_t buffer, const StepSymbols &symbols,
                       std::byte *arena, int64_t arenaBytes) const;
  void bindLaunch(const package::Launch &launch, const StepSymbols &symbols);

  const package::Package *thePackage;
  const package::Program *theProgram;
  std::vector<std::byte *> memory; ///< per buffer
  // Reserved to their final size once, since launches view them.
  std::vector<std::byte *> launchBuffers;
  std::vector<int64_t> launchExtents;
  std::vector<KernelLaunch> bound;
  std::vector<const package::Launch *> sources; ///< of the bound launches
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_ENGINE_PROGRAMBINDING_H
