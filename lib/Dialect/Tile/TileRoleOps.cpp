//===- TileRoleOps.cpp - What the roles of a kernel execute ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/Tile/TileRoleOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mmx::tile;

static ParseResult parseKeyword(OpAsmParser &parser, StringAttr &kind) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  for (StringRef known : {"step", "prologue", "steady", "epilogue", "guarded"})
    if (keyword == known) {
      kind = parser.getBuilder().getStringAttr(keyword);
      return success();
    }
  return parser.emitError(loc, "expected step, prologue, steady, epilogue or "
                               "guarded, but got '")
         << keyword << "'";
}

static void printKeyword(OpAsmPrinter &printer, Operation *, StringAttr kind) {
  printer << kind.getValue();
}

#define GET_OP_CLASSES
#include "mmx/Dialect/Tile/TileRoleOps.cpp.inc"
