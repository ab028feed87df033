//===- ExecDialect.td - The exec dialect -------------------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_EXEC_EXECDIALECT_TD
#define MMX_DIALECT_EXEC_EXECDIALECT_TD

include "mlir/IR/OpBase.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::mmx::exec";
  let summary = "What the host does: buffers and launches";
  let description = [{
    An `exec.program` is a list of launches, copies and fills on buffers whose
    extents are affine in the symbols of a step: tokens, sequences, outputs,
    slots, cache rows, page columns (`s0` to `s5`). List order is a valid
    serial order. `exec-plan-buffers` gives every temporary buffer an offset
    in one arena.
  }];
  let useDefaultTypePrinterParser = 1;
}

class Exec_Op<string mnemonic, list<Trait> traits = []>
    : Op<Exec_Dialect, mnemonic, traits>;

#endif // MMX_DIALECT_EXEC_EXECDIALECT_TD
