//===- TileEmitterInterfaces.td - mmx ops as tile programs -*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_CONVERSION_MMXTOTILE_TILEEMITTERINTERFACES_TD
#define MMX_CONVERSION_MMXTOTILE_TILEEMITTERINTERFACES_TD

include "mlir/IR/OpBase.td"

def MMX_CellEmitterInterface : OpInterface<"CellEmitterInterface"> {
  let cppNamespace = "::mmx";
  let description = [{
    An anchor: writes the program of one grid cell. It owns the loops and the
    grid; the elementwise ops that follow it are emitted by the kernel emitter
    once it says that a result tile is known.
  }];
  let methods = [
    InterfaceMethod<"Emits the cell of the emitter's stage.",
                    "::llvm::LogicalResult", "emitCell",
                    (ins "::mmx::KernelEmitter &":$emitter)>,
    InterfaceMethod<"Kernels that run one after another: more than one where "
                    "all cells must have finished before the next step.",
                    "unsigned", "getNumStages", (ins), "", "return 1;">
  ];
}

def MMX_ElementEmitterInterface : OpInterface<"ElementEmitterInterface"> {
  let cppNamespace = "::mmx";
  let description = [{
    An elementwise op: scalar code for one element of its result.
  }];
  let methods = [
    InterfaceMethod<"Which elements of operand `index` an element needs.",
                    "::mmx::OperandAccess", "getOperandAccess",
                    (ins "unsigned":$index), "",
                    "return ::mmx::OperandAccess::Element;">,
    InterfaceMethod<"Emits the element from those of the operands, all f32.",
                    "::mlir::Value", "emitElement",
                    (ins "::mmx::ElementContext &":$context,
                         "::mlir::ValueRange":$operands)>
  ];
}

#endif // MMX_CONVERSION_MMXTOTILE_TILEEMITTERINTERFACES_TD
