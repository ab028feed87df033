//===- Assembler.h - PTX to machine code, with a report ---------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs NVIDIA's ptxas, the one that the build found, or that of CUDA_HOME or
// PATH at run time. It exits with success while it serialises matrix products,
// so what it says is read, too.
//
// Threads: any number at a time. Errors: llvm::Error with its messages.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TARGET_ASSEMBLER_H
#define MMX_TARGET_ASSEMBLER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mmx {

/// What the assembler says of a kernel.
struct AssemblyReport {
  int64_t registers = 0;   ///< of a thread
  int64_t spillBytes = 0;  ///< stores and loads of spilled registers
  int64_t stackBytes = 0;  ///< local memory of a thread
  int64_t sharedBytes = 0; ///< static shared memory
  int64_t barriers = 0;    ///< named barriers
  /// Remarks numbered C7500 to C7599: matrix products that are serialised,
  /// ignored register limits and the like.
  std::vector<std::string> remarks;
};

/// Reads the output of `ptxas -v` on one kernel.
AssemblyReport parseAssemblyReport(llvm::StringRef text);

/// The assembler, or empty if there is none.
std::string findAssembler();

/// Path and version of an assembler: the part of a cache key that stands for
/// it. One that does not say its version is known by its path alone.
std::string identifyAssembler(llvm::StringRef ptxas);

struct Assembly {
  std::vector<uint8_t> cubin;
  std::string log;
};

/// Assembles `ptx` for `arch` ("sm_90a").
llvm::Expected<Assembly> assemble(llvm::StringRef ptxas, llvm::StringRef ptx,
                                  llvm::StringRef arch);

} // namespace mmx

#endif // MMX_TARGET_ASSEMBLER_H
