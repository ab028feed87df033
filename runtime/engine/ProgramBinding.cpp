//===- ProgramBinding.cpp - A program for one set of symbols --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/ProgramBinding.h"

#include "runtime/package/Element.h"
#include "runtime/package/Expression.h"
#include "runtime/support/Error.h"

#include <climits>

using namespace mmx;
using namespace mmx::runtime;

int64_t mmx::runtime::bufferBytes(const package::Buffer &buffer,
                                  std::span<const int64_t> shape) {
  std::vector<int64_t> stored(shape.begin(), shape.end());
  if (int64_t panel = buffer.panel()) {
    int64_t &extent = stored[buffer.along()];
    extent = (extent + panel - 1) / panel * panel;
  }
  std::optional<int64_t> count = checkedProduct(stored);
  if (!count)
    fail("has the shape ", listText(shape));
  return *count * elementSize(buffer.element());
}

ProgramBinding::ProgramBinding(const package::Package &package,
                               const package::Program &program)
    : thePackage(&package), theProgram(&program) {
  memory.resize(program.buffers()->size());
  int64_t buffers = 0, extents = 0;
  for (const package::Launch *launch : *program.launches()) {
    buffers += launch->buffers()->size();
    extents += launch->extents()->size();
  }
  launchBuffers.reserve(buffers);
  launchExtents.reserve(extents);
  bound.reserve(program.launches()->size());
}

void ProgramBinding::failAt(const char *what, int64_t number,
                            const std::string &message) const {
  fail("program \"", theProgram->name()->str(), "\", ", what, " ", number, ": ",
       message);
}

std::vector<int64_t> ProgramBinding::shape(int64_t buffer,
                                           const StepSymbols &symbols) const {
  std::vector<int64_t> result;
  try {
    for (const package::Expression *extent :
         *theProgram->buffers()->Get(buffer)->shape())
      result.push_back(Expression(*extent).evaluate(symbols));
  } catch (const Error &error) {
    failAt("buffer", buffer, error.what());
  }
  return result;
}

int64_t ProgramBinding::arenaBytes(const StepSymbols &symbols) const {
  if (!theProgram->arena())
    return 0;
  int64_t bytes = Expression(*theProgram->arena()).evaluate(symbols);
  if (bytes < 0)
    fail("program \"", theProgram->name()->str(), "\": has an arena of ", bytes,
         " bytes");
  return bytes;
}

std::byte *ProgramBinding::temporary(int64_t buffer, const StepSymbols &symbols,
                                     std::byte *arena,
                                     int64_t arenaBytes) const {
  const package::Buffer &temporary = *theProgram->buffers()->Get(buffer);
  try {
    int64_t offset = Expression(*temporary.offset()).evaluate(symbols);
    int64_t bytes = bufferBytes(temporary, shape(buffer, symbols));
    if (offset < 0 || offset > arenaBytes || bytes > arenaBytes - offset)
      fail("expected ", bytes, " bytes at ", offset, " inside an arena of ",
           arenaBytes);
    return arena + offset;
  } catch (const Error &error) {
    failAt("buffer", buffer, error.what());
  }
}

void ProgramBinding::bindLaunch(const package::Launch &launch,
                                const StepSymbols &symbols) {
  KernelLaunch result = {};
  result.kernel = launch.kernel();
  size_t firstBuffer = launchBuffers.size();
  for (uint32_t buffer : *launch.buffers())
    launchBuffers.push_back(memory[buffer]);
  result.buffers = std::span(launchBuffers).subspan(firstBuffer);
  size_t firstExtent = launchExtents.size();
  for (const package::Expression *extent : *launch.extents())
    launchExtents.push_back(Expression(*extent).evaluate(symbols));
  result.extents = std::span(launchExtents).subspan(firstExtent);
  result.grid = {1, 1, 1};
  int64_t dimension = 0, cells = 1;
  for (const package::Expression *extent :
       *thePackage->kernels()->Get(launch.kernel())->grid()) {
    int64_t size = Expression(*extent).evaluate(result.extents);
    if (size < 0 || __builtin_mul_overflow(cells, size, &cells) ||
        cells > INT_MAX)
      fail("has a grid of ", size, " in dimension ", dimension);
    result.grid[dimension++] = size;
  }
  if (cells > 0)
    bound.push_back(result);
  sources.push_back(&launch);
}

void ProgramBinding::bind(const StepSymbols &symbols, std::byte *arena,
                          const Place &place) {
  launchBuffers.clear();
  launchExtents.clear();
  bound.clear();
  sources.clear();
  int64_t bytes = arenaBytes(symbols);
  for (int64_t i = 0; i < int64_t(memory.size()); ++i) {
    bool inArena =
        theProgram->buffers()->Get(i)->kind() == package::BufferKind::Temporary;
    memory[i] = inArena ? temporary(i, symbols, arena, bytes)
                        : place(i, shape(i, symbols));
  }
  int64_t number = 0;
  for (const package::Launch *launch : *theProgram->launches()) {
    try {
      bindLaunch(*launch, symbols);
    } catch (const Error &error) {
      failAt("launch", number, error.what());
    }
    ++number;
  }
}

std::string_view ProgramBinding::label(size_t launch) const {
  const package::Launch &source = *sources.at(launch);
  const flatbuffers::String *name =
      source.label() && source.label()->size() > 0
          ? source.label()
          : thePackage->kernels()->Get(source.kernel())->name();
  return name->string_view();
}
