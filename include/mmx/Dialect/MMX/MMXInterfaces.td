//===- MMXInterfaces.td - Interfaces of mmx ops ------------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_MMX_MMXINTERFACES_TD
#define MMX_DIALECT_MMX_MMXINTERFACES_TD

include "mlir/IR/OpBase.td"

def MMX_SymbolicShapeInterface : OpInterface<"SymbolicShapeInterface"> {
  let cppNamespace = "::mmx";
  let description = [{
    Says how the dynamic extents of the results follow from those of the
    operands, as affine expressions in the symbols of a step (tokens,
    sequences, ...). Static extents are constants.
  }];
  let methods = [
    InterfaceMethod<[{
      Shapes of all results, given the shapes of all operands (one affine
      expression per dimension; empty for operands that are no tensors).
    }],
    "::llvm::SmallVector<::mmx::SymbolicShape>", "inferSymbolicShapes",
    (ins "::llvm::ArrayRef<::mmx::SymbolicShape>":$operands)>
  ];
}

def MMX_FusionInterface : OpInterface<"FusionInterface"> {
  let cppNamespace = "::mmx";
  let description = [{
    What `mmx-fuse` needs to know of an op to put it into a kernel.
  }];
  let methods = [
    InterfaceMethod<"Elementwise ops follow an anchor, unless it is isolated; "
                    "an anchor has a loop of its own and there is one in each "
                    "kernel.",
                    "::mmx::FusionKind", "getFusionKind">
  ];
}

#endif // MMX_DIALECT_MMX_MMXINTERFACES_TD
