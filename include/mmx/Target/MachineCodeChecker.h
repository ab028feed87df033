//===- MachineCodeChecker.h - Registers of products in flight ---*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of a warp group (HGMMA) runs on after it is issued: it reads its
// left operand from registers and writes its accumulators until a
// WARPGROUP.DEPBAR waits for its group. The assembler may give the registers of
// the left operand away before that, without a warning. This looks for it in
// the machine code of sm_90a, over all paths of a kernel.
//
// Threads: any number at a time. Errors: llvm::Error for a disassembler that
// fails; what is wrong with the code is returned as text.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TARGET_MACHINECODECHECKER_H
#define MMX_TARGET_MACHINECODECHECKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mmx {

/// nvdisasm or cuobjdump: that of the environment's MMX_DISASSEMBLER, the one
/// that the build found, or that of PATH; empty if there is none.
std::string findDisassembler();

/// The listing of a cubin.
llvm::Expected<std::string> disassemble(llvm::StringRef disassembler,
                                        llvm::ArrayRef<uint8_t> cubin);

/// Reads a listing of `nvdisasm -c` or `cuobjdump -sass`. One line for every
/// instruction that writes a register which a product in flight reads, or
/// touches one which it writes; empty if the code is right.
std::vector<std::string> findOperandsInFlight(llvm::StringRef listing);

} // namespace mmx

#endif // MMX_TARGET_MACHINECODECHECKER_H
