//===- TileOps.cpp - Operations of the tile dialect: syntax ---------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/Tile/TileOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mmx::tile;

//===----------------------------------------------------------------------===//
// Custom directives
//===----------------------------------------------------------------------===//

/// `(0, 2)`: dimensions of a view.
static ParseResult parseDims(OpAsmParser &parser, DenseI64ArrayAttr &dims) {
  SmallVector<int64_t> values;
  auto parse = [&] { return parser.parseInteger(values.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parse))
    return failure();
  dims = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

static void printDims(OpAsmPrinter &printer, Operation *,
                      DenseI64ArrayAttr dims) {
  printer << "(";
  llvm::interleaveComma(dims.asArrayRef(), printer);
  printer << ")";
}

/// The result type of an mma, which is also that of its accumulator.
static ParseResult
parseAccType(OpAsmParser &parser,
             std::optional<OpAsmParser::UnresolvedOperand> acc, Type &accType,
             Type &result) {
  if (parser.parseType(result))
    return failure();
  accType = acc ? result : Type();
  return success();
}

static void printAccType(OpAsmPrinter &printer, Operation *, Value, Type,
                         Type result) {
  printer << result;
}

static ParseResult parseSameType(OpAsmParser &parser, Type &operand,
                                 Type &result) {
  if (parser.parseType(operand))
    return failure();
  result = operand;
  return success();
}

static void printSameType(OpAsmPrinter &printer, Operation *, Type,
                          Type result) {
  printer << result;
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

ArrayRef<BlockArgument> KernelOp::getParams() {
  return getBody().getArguments().drop_back(getGridRank());
}

ArrayRef<BlockArgument> KernelOp::getGridIds() {
  return getBody().getArguments().take_back(getGridRank());
}

/// tile.kernel @name(params) grid(ids) = map [cluster(dim, n)] {body}
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> args, ids;
  AffineMapAttr grid;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(),
                             result.attributes) ||
      parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseKeyword("grid") ||
      parser.parseArgumentList(ids, OpAsmParser::Delimiter::Paren) ||
      parser.parseEqual() ||
      parser.parseAttribute(grid, getGridAttrName(result.name),
                            result.attributes) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (OpAsmParser::Argument &id : ids) {
    id.type = parser.getBuilder().getIndexType();
    args.push_back(id);
  }
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, args))
    return failure();
  // An empty body without arguments is parsed as no block.
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << "(";
  llvm::interleaveComma(getParams(), printer, [&](Value arg) {
    printer.printRegionArgument(cast<BlockArgument>(arg));
  });
  printer << ") grid(";
  llvm::interleaveComma(getGridIds(), printer,
                        [&](Value id) { printer << id; });
  printer << ") = " << getGridAttr();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {SymbolTable::getSymbolAttrName(), "grid"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// MapOp
//===----------------------------------------------------------------------===//

/// tile.map(%a, %b) [when %c] : (types) -> types {body}
ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  OpAsmParser::UnresolvedOperand when;
  bool hasWhen = false;
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("when"))) {
    hasWhen = true;
    if (parser.parseOperand(when))
      return failure();
  }
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, result.operands))
    return failure();
  if (hasWhen && parser.resolveOperand(when, parser.getBuilder().getI1Type(),
                                       result.operands))
    return failure();
  result.addAttribute(getOperandSegmentSizesAttrName(result.name),
                      parser.getBuilder().getDenseI32ArrayAttr(
                          {static_cast<int32_t>(operands.size()), hasWhen}));
  result.addTypes(type.getResults());
  return parser.parseRegion(*result.addRegion());
}

void MapOp::print(OpAsmPrinter &printer) {
  printer << "(" << getOperands_() << ")";
  if (getWhen())
    printer << " when " << getWhen();
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getOperandSegmentSizesAttrName()});
  printer << " : (";
  llvm::interleaveComma(getOperands_().getTypes(), printer);
  printer << ") -> ";
  bool one = getNumResults() == 1;
  if (!one)
    printer << "(";
  llvm::interleaveComma(getResultTypes(), printer);
  if (!one)
    printer << ")";
  printer << " ";
  printer.printRegion(getBody());
}

#define GET_OP_CLASSES
#include "mmx/Dialect/Tile/TileOps.cpp.inc"
