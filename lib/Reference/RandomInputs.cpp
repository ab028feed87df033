//===- RandomInputs.cpp - Random but valid inputs of functions ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/RandomInputs.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

using namespace mlir;
using namespace mmx;
using namespace mmx::reference;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, 2014).
uint64_t Random::next() {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

int64_t Random::below(int64_t count) {
  return next() % static_cast<uint64_t>(count);
}

double Random::normal() {
  // Box and Muller; the first number is in (0, 1].
  double u = ((next() >> 11) + 1) * 0x1p-53, v = (next() >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

static Tensor randomFloats(Random random, ArrayRef<int64_t> shape, Type type,
                           double mean, double deviation) {
  Tensor tensor = Tensor::floats(shape);
  for (double &x : tensor.getMutableFloats())
    x = roundToType(mean + deviation * random.normal(), type);
  return tensor;
}

/// `count` different numbers of [0, end), in random order.
static std::vector<int32_t> sampleDistinct(Random &random, int64_t count,
                                           int64_t end) {
  std::vector<int32_t> numbers(end);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (int64_t i = 0; i < count; ++i)
    std::swap(numbers[i], numbers[i + random.below(end - i)]);
  numbers.resize(count);
  return numbers;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static constexpr StringLiteral symbolNames[numStepSymbols] = {
    "tokens", "sequences", "outputs", "slots", "cache_rows", "page_columns"};

llvm::Expected<StepSizes> StepSizes::parse(StringRef text) {
  StepSizes sizes;
  for (StringRef item : llvm::split(text, ',')) {
    if (item.empty())
      continue;
    auto [name, number] = item.split(':');
    const auto *found = llvm::find(symbolNames, name);
    int64_t value = 0;
    if (found == std::end(symbolNames) || number.getAsInteger(10, value) ||
        value < 1)
      return llvm::createStringError(
          "expected sizes as name:value, with a name among " +
          llvm::join(ArrayRef<StringLiteral>(symbolNames), ", ") +
          " and a positive value, but got \"" + item + "\"");
    sizes.values[found - symbolNames] = value;
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// What arguments are
//===----------------------------------------------------------------------===//

namespace {
/// What an argument holds.
enum class Role {
  Activation,
  Weight,
  Ids,
  Positions,
  Starts,
  Slots,
  Past,
  CacheRows,
  Pages,
  LogitRows,
  Experts,
  Routing,
  State,
  Cache,
  Unknown,
};

struct Argument {
  Role role = Role::Unknown;
  /// Integers lie in [0, limit), for `Ids`, `Experts` and `Routing`.
  int64_t limit = 1;
};
} // namespace

/// The use of a value that says most: inside kernels, the use of the block
/// argument that stands for it.
static void collectUses(Value value, SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : value.getUses()) {
    if (auto kernel = dyn_cast<KernelOp>(use.getOwner()))
      collectUses(kernel.getBody().getArgument(use.getOperandNumber()), uses);
    else
      uses.push_back(&use);
  }
}

static int64_t extentOf(Value value, int64_t dim) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dim);
}

static Argument roleOfUse(OpOperand &use) {
  Value value = use.get();
  auto either = [&](Value table, Role role) {
    return Argument{table == value ? role : Role::Unknown};
  };
  auto first = [&](std::initializer_list<std::pair<Value, Role>> pairs) {
    for (auto [table, role] : pairs)
      if (table && table == value)
        return Argument{role};
    return Argument();
  };
  return TypeSwitch<Operation *, Argument>(use.getOwner())
      .Case([&](EmbeddingOp op) {
        if (op.getIds() != value)
          return Argument();
        return Argument{Role::Ids, extentOf(op.getTable(), 0)};
      })
      .Case(
          [&](TakeRowsOp op) { return either(op.getRows(), Role::LogitRows); })
      .Case([&](RopeTableOp op) {
        return either(op.getPositions(), Role::Positions);
      })
      .Case([&](LightningAttentionOp op) {
        return first({{op.getStarts(), Role::Starts},
                      {op.getSlots(), Role::Slots},
                      {op.getStates(), Role::State}});
      })
      .Case([&](LightningStepOp op) {
        return first(
            {{op.getSlots(), Role::Slots}, {op.getStates(), Role::State}});
      })
      .Case([&](SoftmaxAttentionOp op) {
        return first({{op.getStarts(), Role::Starts},
                      {op.getPast(), Role::Past},
                      {op.getCacheRows(), Role::CacheRows},
                      {op.getPages(), Role::Pages},
                      {op.getKeyCache(), Role::Cache},
                      {op.getValueCache(), Role::Cache}});
      })
      .Case([&](AttendOp op) {
        return first({{op.getStarts(), Role::Starts},
                      {op.getPast(), Role::Past},
                      {op.getPages(), Role::Pages},
                      {op.getKeyCache(), Role::Cache},
                      {op.getValueCache(), Role::Cache}});
      })
      .Case([&](CacheAppendOp op) {
        return first({{op.getCacheRows(), Role::CacheRows},
                      {op.getCache(), Role::Cache}});
      })
      .Case([&](ForBlocksOp op) {
        if (llvm::is_contained(op.getCarry(), value))
          return Argument{Role::State};
        return first(
            {{op.getStarts(), Role::Starts}, {op.getSlots(), Role::Slots}});
      })
      .Case([&](SegmentTableOp op) {
        return either(op.getStarts(), Role::Starts);
      })
      .Case([&](ScanStatesOp op) {
        return first({{op.getStarts(), Role::Starts},
                      {op.getSlots(), Role::Slots},
                      {op.getStates(), Role::State}});
      })
      .Case([&](ExpertsOp op) {
        if (op.getExperts() != value)
          return Argument();
        return Argument{Role::Experts, extentOf(op.getW1(), 0)};
      })
      .Case([&](RouteOp op) {
        if (op.getGiven() != value)
          return Argument();
        return Argument{Role::Routing, extentOf(op.getLogits(), 1)};
      })
      .Case([&](GroupTokensOp op) {
        return Argument{Role::Experts, extentOf(op.getOffsets(), 0) - 1};
      })
      .Default([](Operation *) { return Argument(); });
}

static Role roleOfName(StringRef name) {
  if (name.starts_with("state."))
    return Role::State;
  if (name.starts_with("key_cache.") || name.starts_with("value_cache."))
    return Role::Cache;
  return llvm::StringSwitch<Role>(name)
      .Case("ids", Role::Ids)
      .Case("positions", Role::Positions)
      .Case("starts", Role::Starts)
      .Case("slots", Role::Slots)
      .Case("past", Role::Past)
      .Case("cache_rows", Role::CacheRows)
      .Case("pages", Role::Pages)
      .Case("logit_rows", Role::LogitRows)
      .Default(Role::Unknown);
}

static Argument describeArgument(func::FuncOp function, unsigned index) {
  SmallVector<OpOperand *> uses;
  collectUses(function.getArgument(index), uses);
  Argument result;
  for (OpOperand *use : uses)
    if (Argument found = roleOfUse(*use); found.role != Role::Unknown)
      result = found;
  if (auto role = function.getArgAttrOfType<StringAttr>(index, "mmx.role"))
    if (Role named = roleOfName(role.getValue()); named != Role::Unknown)
      result.role = named;
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[index]);
  if (result.role == Role::Unknown && isa<FloatType>(type.getElementType()))
    result.role = type.hasStaticShape() ? Role::Weight : Role::Activation;
  return result;
}

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

namespace {
/// The tables of one random step.
class Step {
public:
  static llvm::Expected<Step> create(Random random, StepSizes sizes,
                                     int64_t page, bool decode);

  int64_t get(StepSymbol symbol) const {
    return extents[static_cast<unsigned>(symbol)];
  }
  ArrayRef<int64_t> getExtents() const { return extents; }
  ArrayRef<int32_t> getTable(Role role) const;

private:
  Step() = default;
  void set(StepSymbol symbol, int64_t value) {
    extents[static_cast<unsigned>(symbol)] = value;
  }
  void cutSequences(Random &random, bool decode);
  llvm::Error layPages(Random &random, StepSizes sizes, int64_t page);

  std::array<int64_t, numStepSymbols> extents = {};
  std::vector<int32_t> starts, slots, past, cacheRows, pages, positions,
      logitRows;
};
} // namespace

ArrayRef<int32_t> Step::getTable(Role role) const {
  switch (role) {
  case Role::Starts:
    return starts;
  case Role::Slots:
    return slots;
  case Role::Past:
    return past;
  case Role::CacheRows:
    return cacheRows;
  case Role::Pages:
    return pages;
  case Role::Positions:
    return positions;
  default:
    return logitRows;
  }
}

void Step::cutSequences(Random &random, bool decode) {
  int64_t tokens = get(StepSymbol::Tokens);
  starts.resize(get(StepSymbol::Sequences) + 1);
  starts.back() = tokens;
  for (int32_t &start : MutableArrayRef(starts).drop_front().drop_back())
    start = random.below(tokens + 1);
  llvm::sort(starts);
  if (decode)
    std::iota(starts.begin(), starts.end(), 0);
}

llvm::Error Step::layPages(Random &random, StepSizes sizes, int64_t page) {
  int64_t sequences = get(StepSymbol::Sequences);
  // Pages that a sequence may take: what the sizes leave, or enough for a
  // past of some pages.
  int64_t most = 1 << 20;
  if (auto columns = sizes[StepSymbol::PageColumns])
    most = std::min(most, *columns);
  if (auto rows = sizes[StepSymbol::CacheRows])
    most = std::min(most, *rows / page / sequences);
  std::vector<int64_t> needed(sequences);
  for (int64_t b = 0; b < sequences; ++b) {
    int64_t count = starts[b + 1] - starts[b];
    int64_t room = most * page - count;
    if (room < 0)
      return llvm::createStringError(
          "expected cache rows and page columns for " + Twine(count) +
          " tokens of a sequence, but got " + Twine(most) + " pages of " +
          Twine(page) + " rows for each");
    past.push_back(random.below(std::min(room, 2 * page) + 1));
    needed[b] = (past[b] + count + page - 1) / page;
  }
  int64_t columns =
      sizes[StepSymbol::PageColumns].value_or(*llvm::max_element(needed) + 1);
  int64_t total = std::accumulate(needed.begin(), needed.end(), int64_t(0));
  int64_t rows = sizes[StepSymbol::CacheRows].value_or((total + 1) * page);
  set(StepSymbol::PageColumns, columns);
  set(StepSymbol::CacheRows, rows);
  std::vector<int32_t> order = sampleDistinct(random, rows / page, rows / page);
  pages.assign(sequences * columns, 0);
  auto next = order.begin();
  for (int64_t b = 0; b < sequences; ++b) {
    std::copy_n(next, needed[b], pages.begin() + b * columns);
    next += needed[b];
    for (int64_t t = starts[b]; t < starts[b + 1]; ++t) {
      int64_t position = past[b] + t - starts[b];
      positions.push_back(position);
      cacheRows.push_back(pages[b * columns + position / page] * page +
                          position % page);
    }
  }
  return llvm::Error::success();
}

llvm::Expected<Step> Step::create(Random random, StepSizes sizes, int64_t page,
                                  bool decode) {
  Step step;
  int64_t sequences = sizes[StepSymbol::Sequences].value_or(
      decode ? sizes[StepSymbol::Tokens].value_or(3) : 3);
  int64_t tokens = decode ? sequences : sizes[StepSymbol::Tokens].value_or(9);
  int64_t outputs = sizes[StepSymbol::Outputs].value_or(sequences);
  int64_t slots = sizes[StepSymbol::Slots].value_or(sequences + 1);
  if (slots < sequences)
    return llvm::createStringError("expected at least " + Twine(sequences) +
                                   " slots, but got " + Twine(slots));
  step.set(StepSymbol::Tokens, tokens);
  step.set(StepSymbol::Sequences, sequences);
  step.set(StepSymbol::Outputs, outputs);
  step.set(StepSymbol::Slots, slots);
  step.cutSequences(random, decode);
  step.slots = sampleDistinct(random, sequences, slots);
  for (int64_t i = 0; i < outputs; ++i)
    step.logitRows.push_back(random.below(tokens));
  if (llvm::Error error = step.layPages(random, sizes, page))
    return error;
  return step;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The extent of dimension `dim` of an argument without `mmx.shape`.
static int64_t defaultExtent(const Step &step, Role role, int64_t dim) {
  switch (role) {
  case Role::Starts:
    return step.get(StepSymbol::Sequences) + 1;
  case Role::Slots:
  case Role::Past:
    return step.get(StepSymbol::Sequences);
  case Role::Pages:
    return step.get(dim == 0 ? StepSymbol::Sequences : StepSymbol::PageColumns);
  case Role::LogitRows:
    return step.get(StepSymbol::Outputs);
  case Role::State:
    return step.get(StepSymbol::Slots);
  case Role::Cache:
    return step.get(StepSymbol::CacheRows);
  default:
    return step.get(StepSymbol::Tokens);
  }
}

static SmallVector<int64_t> resolveShape(func::FuncOp function, unsigned index,
                                         const Step &step, Role role) {
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[index]);
  SmallVector<int64_t> shape(type.getShape());
  auto map = function.getArgAttrOfType<AffineMapAttr>(index, "mmx.shape");
  SmallVector<Attribute> symbols;
  if (map) {
    Builder builder(function.getContext());
    for (int64_t extent : step.getExtents())
      symbols.push_back(builder.getIndexAttr(extent));
  }
  SmallVector<Attribute> extents;
  bool known = map &&
               succeeded(map.getValue().constantFold(symbols, extents)) &&
               extents.size() == shape.size();
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(extent))
      extent = known ? cast<IntegerAttr>(extents[dim]).getInt()
                     : defaultExtent(step, role, dim);
  return shape;
}

/// Sizes that the static extents of tables and pools fix.
static void fixSizes(func::FuncOp function, StepSizes &sizes) {
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto fix = [&](StepSymbol symbol, int64_t dim, int64_t less = 0) {
      int64_t extent = cast<RankedTensorType>(type).getDimSize(dim);
      if (!ShapedType::isDynamic(extent))
        sizes[symbol] = extent - less;
    };
    switch (describeArgument(function, index).role) {
    case Role::Ids:
    case Role::Positions:
    case Role::CacheRows:
    case Role::Experts:
    case Role::Routing:
      fix(StepSymbol::Tokens, 0);
      break;
    case Role::Starts:
      fix(StepSymbol::Sequences, 0, 1);
      break;
    case Role::Pages:
      fix(StepSymbol::PageColumns, 1);
      [[fallthrough]];
    case Role::Slots:
    case Role::Past:
      fix(StepSymbol::Sequences, 0);
      break;
    case Role::LogitRows:
      fix(StepSymbol::Outputs, 0);
      break;
    case Role::State:
      fix(StepSymbol::Slots, 0);
      break;
    case Role::Cache:
      fix(StepSymbol::CacheRows, 0);
      break;
    default:
      break;
    }
  }
}

static bool isDecode(func::FuncOp function) {
  if (auto phase = function->getAttrOfType<StringAttr>("mmx.phase"))
    return phase.getValue() == "decode";
  return function.walk([](LightningStepOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static int64_t pageSize(func::FuncOp function) {
  int64_t page = 64;
  function.walk([&](Operation *op) {
    if (auto attend = dyn_cast<AttendOp>(op))
      page = attend.getPage();
    else if (auto attention = dyn_cast<SoftmaxAttentionOp>(op))
      page = attention.getPage();
  });
  return page;
}

static llvm::Expected<Tensor> randomArgument(func::FuncOp function,
                                             unsigned index, const Step &step,
                                             Random random) {
  Argument argument = describeArgument(function, index);
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[index]);
  SmallVector<int64_t> shape =
      resolveShape(function, index, step, argument.role);
  auto fail = [&](const Twine &message) {
    return llvm::createStringError("argument " + Twine(index) + " of @" +
                                   function.getSymName() + ": " + message);
  };
  switch (argument.role) {
  case Role::Weight:
    return randomFloats(random, shape, type.getElementType(), 0,
                        1 / std::sqrt(shape.empty() ? 1.0 : shape.back()));
  case Role::Activation:
  case Role::State:
  case Role::Cache:
    return randomFloats(random, shape, type.getElementType(), 0, 1);
  case Role::Ids:
  case Role::Experts: {
    Tensor numbers = Tensor::ints(shape);
    for (int32_t &number : numbers.getMutableInts())
      number = random.below(argument.limit);
    return numbers;
  }
  case Role::Routing: {
    // Half of the choices are free.
    Tensor numbers = Tensor::ints(shape);
    for (int32_t &number : numbers.getMutableInts())
      number = random.below(2) ? random.below(argument.limit) : -1;
    return numbers;
  }
  case Role::Unknown:
    return fail("cannot tell what its integers stand for; expected mmx.role");
  default:
    break;
  }
  ArrayRef<int32_t> table = step.getTable(argument.role);
  if (countElements(shape) != static_cast<int64_t>(table.size()))
    return fail("expected " + Twine(table.size()) +
                " elements for the sizes of the step, but got " +
                Twine(countElements(shape)));
  return Tensor::ints(shape, std::vector<int32_t>(table.begin(), table.end()));
}

llvm::Expected<SmallVector<Tensor>>
RandomInputs::getArguments(func::FuncOp function) const {
  for (Type type : function.getArgumentTypes())
    if (!isa<RankedTensorType>(type))
      return llvm::createStringError("expected tensors as arguments of @" +
                                     function.getSymName());
  StepSizes fixed = sizes;
  fixSizes(function, fixed);
  // Streams that do not overlap in practice: one for the step, one for each
  // argument.
  Random streams(seed);
  llvm::Expected<Step> step = Step::create(
      Random(streams.next()), fixed, pageSize(function), isDecode(function));
  if (!step)
    return step.takeError();
  SmallVector<Tensor> arguments;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    llvm::Expected<Tensor> argument =
        randomArgument(function, index, *step, Random(streams.next()));
    if (!argument)
      return argument.takeError();
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}

Tensor RandomInputs::getWeight(GlobalOp global) const {
  auto type = cast<RankedTensorType>(global.getType());
  Random random(seed ^ llvm::xxh3_64bits(global.getSymName()));
  if (type.getRank() == 1)
    return randomFloats(random, type.getShape(), type.getElementType(), 1, 0.1);
  return randomFloats(random, type.getShape(), type.getElementType(), 0,
                      1 / std::sqrt(type.getShape().back()));
}
