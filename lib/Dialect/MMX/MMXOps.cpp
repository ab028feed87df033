//===- MMXOps.cpp - Operations of the mmx dialect: syntax -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Dialect/MMX/MMXOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mmx;

//===----------------------------------------------------------------------===//
// Custom directives
//===----------------------------------------------------------------------===//

/// `(types) (types) (types)`: the types of three operand groups.
static ParseResult parseGroupTypes(OpAsmParser &parser,
                                   SmallVectorImpl<Type> &tokens,
                                   SmallVectorImpl<Type> &blocks,
                                   SmallVectorImpl<Type> &carry) {
  for (SmallVectorImpl<Type> *group : {&tokens, &blocks, &carry}) {
    auto parse = [&] { return parser.parseType(group->emplace_back()); };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parse))
      return failure();
  }
  return success();
}

static void printGroupTypes(OpAsmPrinter &printer, Operation *,
                            TypeRange tokens, TypeRange blocks,
                            TypeRange carry) {
  auto print = [&](TypeRange group) {
    printer << "(";
    llvm::interleaveComma(group, printer);
    printer << ")";
  };
  print(tokens);
  printer << " ";
  print(blocks);
  printer << " ";
  print(carry);
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

/// mmx.kernel(%a = %x, ...) : (types) -> types attributes {...} { body }
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseArgument(args.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(inputs.emplace_back()));
  };
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parsePair) ||
      parser.parseColonType(type) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(inputs, type.getInputs(), loc, result.operands))
    return failure();
  for (auto [arg, argType] : llvm::zip_equal(args, type.getInputs()))
    arg.type = argType;
  result.addTypes(type.getResults());
  return parser.parseRegion(*result.addRegion(), args);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << "(";
  llvm::interleaveComma(llvm::zip_equal(getBody().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          printer << std::get<0>(pair) << " = "
                                  << std::get<1>(pair);
                        });
  printer << ") : ";
  printer.printFunctionalType(*this);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto global =
      symbols.lookupNearestSymbolFrom<GlobalOp>(*this, getGlobalAttr());
  if (!global)
    return emitOpError("refers to ")
           << getGlobalAttr() << ", which is no mmx.global of the module";
  if (global.getType() != getResult().getType())
    return emitOpError("expected the type of ")
           << getGlobalAttr() << ", " << global.getType() << ", but got "
           << getResult().getType();
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom(*this, getKernelAttr()))
    return emitOpError("refers to kernel ")
           << getKernelAttr() << ", which is not in the module";
  return success();
}

#define GET_OP_CLASSES
#include "mmx/Dialect/MMX/MMXOps.cpp.inc"
