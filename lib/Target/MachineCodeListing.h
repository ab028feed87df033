//===- MachineCodeListing.h - Instructions of a listing ---------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_TARGET_MACHINECODELISTING_H
#define MMX_LIB_TARGET_MACHINECODELISTING_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mmx {

/// Registers `first` to `first + count - 1`.
struct RegisterRange {
  int first = 0, count = 0;
};

/// One instruction of sm_90a. Texts refer to the listing.
struct MachineInstruction {
  unsigned address;
  llvm::StringRef text;
  llvm::StringRef opcode; ///< with its modifiers
  bool conditional;       ///< under a predicate
  llvm::SmallVector<llvm::StringRef, 6> operands;

  bool is(llvm::StringRef name) const {
    return opcode == name ||
           (opcode.starts_with(name) && opcode[name.size()] == '.');
  }
  bool hasModifier(llvm::StringRef modifier) const;

  /// What the instruction writes; empty for stores, branches and the like.
  RegisterRange getResult() const;
  /// The left operand of a product in registers, or nothing.
  RegisterRange getLeftOperand() const;
  /// First registers of all operands but the result.
  llvm::SmallVector<int> getSources() const;
};

/// The instructions of one kernel and where each may go on.
struct MachineFunction {
  std::string name;
  std::vector<MachineInstruction> instructions;
  std::vector<llvm::SmallVector<unsigned, 2>> successors;
};

/// Reads what `nvdisasm -c` and `cuobjdump -sass` print.
std::vector<MachineFunction> parseListing(llvm::StringRef listing);

} // namespace mmx

#endif // MMX_LIB_TARGET_MACHINECODELISTING_H
