//===- TileSchedule.cpp - The schedule of a kernel as data ----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mmx/Dialect/Tile/TileDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mmx::tile;

#define GET_ATTRDEF_CLASSES
#include "mmx/Dialect/Tile/TileAttrs.cpp.inc"

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "mmx/Dialect/Tile/TileAttrs.cpp.inc"
      >();
}

/// `@name`.
static ParseResult parseName(AsmParser &parser, StringAttr &name) {
  return parser.parseSymbolName(name);
}

/// The keyword of an optional element `, keyword = ...`.
static ParseResult parseKey(AsmParser &parser, StringRef &key, SMLoc &loc) {
  loc = parser.getCurrentLocation();
  return failure(parser.parseKeyword(&key) || parser.parseEqual());
}

static ParseResult unknownKey(AsmParser &parser, SMLoc loc, StringRef key) {
  return parser.emitError(loc, "unexpected element '") << key << "'";
}

//===----------------------------------------------------------------------===//
// RoleAttr
//===----------------------------------------------------------------------===//

namespace {
/// The elements of a role after its name.
struct RoleElements {
  int64_t warps = 1, regs = 0, instances = 1, dim = 0;
  InstanceMode mode = InstanceMode::One;
  StringAttr loop;

  ParseResult parse(AsmParser &parser) {
    StringRef key;
    SMLoc loc;
    if (parseKey(parser, key, loc))
      return failure();
    if (key == "warps")
      return parser.parseInteger(warps);
    if (key == "regs")
      return parser.parseInteger(regs);
    if (key != "split" && key != "alternate")
      return unknownKey(parser, loc, key);
    if (mode != InstanceMode::One)
      return parser.emitError(loc, "expected one of split and alternate");
    if (parser.parseInteger(instances))
      return failure();
    if (key == "split") {
      mode = InstanceMode::Split;
      return failure(parser.parseKeyword("along") || parser.parseInteger(dim));
    }
    mode = InstanceMode::Alternate;
    return failure(parser.parseKeyword("over") || parseName(parser, loop));
  }
};
} // namespace

static void printElements(AsmPrinter &printer, RoleAttr role) {
  printer << "warps = " << role.getWarps();
  if (role.getRegs())
    printer << ", regs = " << role.getRegs();
  if (role.getMode() == InstanceMode::Split)
    printer << ", split = " << role.getInstances() << " along "
            << role.getDim();
  if (role.getMode() == InstanceMode::Alternate) {
    printer << ", alternate = " << role.getInstances() << " over ";
    printer.printSymbolName(role.getLoop());
  }
}

FailureOr<RoleAttr> RoleAttr::parseShort(AsmParser &parser) {
  StringAttr name;
  RoleElements elements;
  SMLoc loc = parser.getCurrentLocation();
  if (parseName(parser, name) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     [&] { return elements.parse(parser); }))
    return failure();
  RoleAttr role =
      getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                 name, elements.warps, elements.regs, elements.mode,
                 elements.instances, elements.dim, elements.loop);
  if (!role)
    return failure();
  return role;
}

void RoleAttr::printShort(AsmPrinter &printer) const {
  printer.printSymbolName(getName());
  printer << "<";
  printElements(printer, *this);
  printer << ">";
}

Attribute RoleAttr::parse(AsmParser &parser, Type) {
  StringAttr name;
  RoleElements elements;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseName(parser, name) || parser.parseComma() ||
      parser.parseCommaSeparatedList([&] { return elements.parse(parser); }) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    name, elements.warps, elements.regs, elements.mode,
                    elements.instances, elements.dim, elements.loop);
}

void RoleAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printSymbolName(getName());
  printer << ", ";
  printElements(printer, *this);
  printer << ">";
}

LogicalResult RoleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringAttr name, int64_t warps, int64_t regs,
                               InstanceMode mode, int64_t instances,
                               int64_t dim, StringAttr loop) {
  if (warps != 1 && warps != 4)
    return emitError() << "expected 1 or 4 warps, but got " << warps;
  if (regs && (regs % 8 || regs < 24 || regs > 240))
    return emitError() << "expected regs to be a multiple of 8 from 24 to 240,"
                          " but got "
                       << regs;
  if (mode != InstanceMode::One && instances < 2)
    return emitError() << "expected at least 2 instances, but got "
                       << instances;
  if (dim != 0 && dim != 1)
    return emitError() << "expected a split along 0 or 1, but got " << dim;
  return success();
}

//===----------------------------------------------------------------------===//
// RingAttr
//===----------------------------------------------------------------------===//

/// `depth = n`.
static ParseResult parseDepth(AsmParser &parser, int64_t &depth) {
  return failure(parser.parseKeyword("depth") || parser.parseEqual() ||
                 parser.parseInteger(depth));
}

FailureOr<RingAttr> RingAttr::parseShort(AsmParser &parser) {
  StringAttr name;
  int64_t depth = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parseName(parser, name) || parser.parseLess() ||
      parseDepth(parser, depth) || parser.parseGreater())
    return failure();
  RingAttr ring = getChecked([&] { return parser.emitError(loc); },
                             parser.getContext(), name, depth);
  if (!ring)
    return failure();
  return ring;
}

void RingAttr::printShort(AsmPrinter &printer) const {
  printer.printSymbolName(getName());
  printer << "<depth = " << getDepth() << ">";
}

Attribute RingAttr::parse(AsmParser &parser, Type) {
  StringAttr name;
  int64_t depth = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseName(parser, name) || parser.parseComma() ||
      parseDepth(parser, depth) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    name, depth);
}

void RingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printSymbolName(getName());
  printer << ", depth = " << getDepth() << ">";
}

LogicalResult RingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringAttr name, int64_t depth) {
  if (depth < 1)
    return emitError() << "expected a depth of at least 1, but got " << depth;
  if (name.getValue().contains('.'))
    return emitError() << "expected a ring name without '.', but got '"
                       << name.getValue() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

template <typename T>
static ParseResult parseList(AsmParser &parser, StringRef keyword,
                             SmallVectorImpl<T> &list) {
  auto element = [&]() -> ParseResult {
    FailureOr<T> attr = T::parseShort(parser);
    if (failed(attr))
      return failure();
    list.push_back(*attr);
    return success();
  };
  return failure(
      parser.parseKeyword(keyword) || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, element));
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SmallVector<RoleAttr> roles;
  SmallVector<RingAttr> rings;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseList(parser, "roles", roles) ||
      parser.parseComma() || parseList(parser, "rings", rings) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    roles, rings);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << "<roles = [";
  llvm::interleaveComma(getRoles(), printer,
                        [&](RoleAttr role) { role.printShort(printer); });
  printer << "], rings = [";
  llvm::interleaveComma(getRings(), printer,
                        [&](RingAttr ring) { ring.printShort(printer); });
  printer << "]>";
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<RoleAttr> roles,
                                   ArrayRef<RingAttr> rings) {
  llvm::StringSet<> names;
  for (RoleAttr role : roles)
    if (!names.insert(role.getName()).second)
      return emitError() << "duplicate role @" << role.getName().getValue();
  names.clear();
  for (RingAttr ring : rings)
    if (!names.insert(ring.getName()).second)
      return emitError() << "duplicate ring @" << ring.getName().getValue();
  return success();
}

//===----------------------------------------------------------------------===//
// AtAttr
//===----------------------------------------------------------------------===//

namespace {
/// The elements of a place after its role.
struct AtElements {
  std::optional<int64_t> order;
  int64_t stage = 0, field = 0, inflight = -1, multicast = -1;
  StringAttr ring, turn;

  ParseResult parse(AsmParser &parser) {
    StringRef key;
    SMLoc loc;
    if (parseKey(parser, key, loc))
      return failure();
    if (key == "order")
      return parser.parseInteger(order.emplace());
    if (key == "stage")
      return parser.parseInteger(stage);
    if (key == "inflight")
      return parser.parseInteger(inflight);
    if (key == "multicast")
      return parser.parseInteger(multicast);
    if (key == "turn")
      return parseName(parser, turn);
    if (key == "ring")
      return parseRing(parser);
    return unknownKey(parser, loc, key);
  }

  /// `@kv` or `@kv.1`; the dot is part of the token.
  ParseResult parseRing(AsmParser &parser) {
    SMLoc loc = parser.getCurrentLocation();
    if (parseName(parser, ring))
      return failure();
    auto [name, suffix] = ring.getValue().split('.');
    if (name.size() == ring.getValue().size())
      return success();
    if (suffix.getAsInteger(10, field))
      return parser.emitError(loc, "expected a field number after '.', but got"
                                   " '")
             << suffix << "'";
    ring = StringAttr::get(parser.getContext(), name);
    return success();
  }
};
} // namespace

Attribute AtAttr::parse(AsmParser &parser, Type) {
  StringAttr role;
  AtElements elements;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseName(parser, role) || parser.parseComma() ||
      parser.parseCommaSeparatedList([&] { return elements.parse(parser); }) ||
      parser.parseGreater())
    return {};
  if (!elements.order) {
    parser.emitError(loc, "expected an order");
    return {};
  }
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    role, *elements.order, elements.stage, elements.ring,
                    elements.field, elements.inflight, elements.multicast,
                    elements.turn);
}

void AtAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printSymbolName(getRole());
  printer << ", order = " << getOrder();
  if (getStage())
    printer << ", stage = " << getStage();
  if (getRing()) {
    printer << ", ring = ";
    printer.printSymbolName(getRing());
    if (getField())
      printer << "." << getField();
  }
  if (hasInflight())
    printer << ", inflight = " << getInflight();
  if (isMulticast())
    printer << ", multicast = " << getMulticast();
  if (getTurn()) {
    printer << ", turn = ";
    printer.printSymbolName(getTurn());
  }
  printer << ">";
}

LogicalResult AtAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                             StringAttr role, int64_t order, int64_t stage,
                             StringAttr ring, int64_t field, int64_t inflight,
                             int64_t multicast, StringAttr turn) {
  if (stage < 0)
    return emitError() << "expected a stage of at least 0, but got " << stage;
  if (field < 0)
    return emitError() << "expected a field of at least 0, but got " << field;
  return success();
}

//===----------------------------------------------------------------------===//
// LoopAttr
//===----------------------------------------------------------------------===//

Attribute LoopAttr::parse(AsmParser &parser, Type) {
  StringAttr name, turn;
  int64_t order = 0;
  if (parser.parseLess() || parseName(parser, name) || parser.parseComma() ||
      parser.parseKeyword("order") || parser.parseEqual() ||
      parser.parseInteger(order))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("turn") || parser.parseEqual() ||
       parseName(parser, turn)))
    return {};
  if (parser.parseGreater())
    return {};
  return LoopAttr::get(parser.getContext(), name, order, turn);
}

void LoopAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printSymbolName(getName());
  printer << ", order = " << getOrder();
  if (getTurn()) {
    printer << ", turn = ";
    printer.printSymbolName(getTurn());
  }
  printer << ">";
}
