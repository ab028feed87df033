//===- HopperToNVVM.cpp - Tensor-core products to instructions ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mmx/Conversion/Passes.h"
#include "mmx/Dialect/Hopper/HopperOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace mmx {
#define GEN_PASS_DEF_CONVERTHOPPERTONVVM
#include "mmx/Conversion/Passes.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;
using hopper::MatrixAttr;

//===----------------------------------------------------------------------===//
// Values and registers
//===----------------------------------------------------------------------===//

namespace {

/// Builds the ops that replace one op.
class Emitter {
public:
  explicit Emitter(Operation *op) : builder(op), loc(op->getLoc()) {}

  Value constant(int64_t value, Type type) {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    builder.getIntegerAttr(type, value));
  }
  Value i32(int64_t value) { return constant(value, builder.getI32Type()); }

  template <typename Op> Value binary(Value lhs, int64_t rhs) {
    return Op::create(builder, loc, lhs, constant(rhs, lhs.getType()));
  }

  SmallVector<Value> unpack(Value vector) {
    SmallVector<Value> elements;
    int64_t length = cast<VectorType>(vector.getType()).getNumElements();
    for (int64_t i = 0; i < length; ++i)
      elements.push_back(
          LLVM::ExtractElementOp::create(builder, loc, vector, i32(i)));
    return elements;
  }

  Value pack(ArrayRef<Value> elements, Type type) {
    Value vector = LLVM::PoisonOp::create(builder, loc, type);
    for (auto [i, element] : llvm::enumerate(elements))
      vector =
          LLVM::InsertElementOp::create(builder, loc, vector, element, i32(i));
    return vector;
  }

  /// Registers of two 16-bit elements.
  SmallVector<Value> unpackPairs(Value fragment) {
    int64_t length = cast<VectorType>(fragment.getType()).getNumElements();
    auto type = VectorType::get(length / 2, builder.getI32Type());
    return unpack(LLVM::BitcastOp::create(builder, loc, type, fragment));
  }

  /// An instruction that updates the registers `inOut`, of which it only
  /// writes if `fresh`, and reads `inputs`, whose constraints are
  /// `inputConstraints`.
  void emitInPlace(StringRef text, MutableArrayRef<Value> inOut, bool fresh,
                   ArrayRef<Value> inputs,
                   ArrayRef<std::string> inputConstraints) {
    SmallVector<std::string> constraints(inOut.size(), "=f");
    SmallVector<Value> operands;
    if (!fresh)
      for (auto [i, value] : llvm::enumerate(inOut)) {
        constraints.push_back(std::to_string(i));
        operands.push_back(value);
      }
    llvm::append_range(constraints, inputConstraints);
    constraints.push_back("~{memory}");
    llvm::append_range(operands, inputs);
    SmallVector<Type> types(inOut.size(), builder.getF32Type());
    Type result;
    if (types.size() == 1)
      result = types.front();
    else if (!types.empty())
      result = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
    auto instruction = LLVM::InlineAsmOp::create(
        builder, loc, result ? TypeRange(result) : TypeRange(), operands, text,
        llvm::join(constraints, ","), /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        LLVM::AsmDialectAttr::get(builder.getContext(),
                                  LLVM::AsmDialect::AD_ATT),
        /*operand_attrs=*/ArrayAttr());
    if (inOut.size() == 1)
      inOut[0] = instruction.getResult(0);
    else
      for (auto [i, value] : llvm::enumerate(inOut))
        value = LLVM::ExtractValueOp::create(
            builder, loc, instruction.getResult(0), int64_t(i));
  }

  OpBuilder builder;
  Location loc;
};

} // namespace

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

namespace {

/// How the instructions of one product read a matrix in shared memory.
struct Descriptor {
  MatrixAttr matrix;
  bool kMajor;   ///< the extent of the sum is contiguous
  Value address; ///< units of 16 bytes
  uint32_t low;  ///< constant part of bits 0 to 31
  uint32_t high; ///< bits 32 to 63

  Descriptor(Emitter &emitter, Value pointer, MatrixAttr matrix, bool kMajor)
      : matrix(matrix), kMajor(kMajor) {
    Value bytes = LLVM::PtrToIntOp::create(
        emitter.builder, emitter.loc, emitter.builder.getI32Type(), pointer);
    bytes = emitter.binary<LLVM::AndOp>(bytes, 0x3FFFF);
    address = emitter.binary<LLVM::LShrOp>(bytes, 4);
    // PTX ISA, "Matrix descriptor format": the leading offset, of panels, has
    // a meaning only where the sum is not contiguous; the stride offset is
    // that of 8 rows; 1, 2, 3 are the swizzles of 128, 64, 32 bytes.
    uint32_t leading = kMajor ? 1 : matrix.getPanel() / 16;
    uint32_t stride = 8 * matrix.getSwizzle() / 16;
    uint32_t mode = 8 - llvm::Log2_64(matrix.getSwizzle());
    low = leading << 16;
    high = stride | mode << 30;
  }

  /// Byte offset of the 16 numbers of K of `step`, and of the 64 rows of the
  /// result of `block`.
  int64_t getOffset(int64_t block, int64_t step) const {
    int64_t swizzle = matrix.getSwizzle();
    if (!kMajor)
      return 64 / (swizzle / 2) * matrix.getPanel() * block +
             16 * swizzle * step;
    int64_t bytes = 32 * step;
    return 64 * swizzle * block + bytes / swizzle * matrix.getPanel() +
           bytes % swizzle;
  }

  Value get(Emitter &emitter, int64_t block, int64_t step) const {
    Type i64 = emitter.builder.getI64Type();
    Value units = emitter.binary<LLVM::AddOp>(
        address, getOffset(block, step) / 16 + int64_t(low));
    Value wide = LLVM::ZExtOp::create(emitter.builder, emitter.loc, i64, units);
    return emitter.binary<LLVM::OrOp>(
        wide, static_cast<int64_t>(uint64_t(high) << 32));
  }
};

/// `{$0,$1}` for registers from `first` on.
std::string listRegisters(int64_t first, int64_t count) {
  return "{" +
         llvm::join(
             llvm::map_range(llvm::seq(first, first + count),
                             [](int64_t i) { return "$" + std::to_string(i); }),
             ",") +
         "}";
}

} // namespace

/// The instruction for 64 x N and 16 of K; `fresh`: without accumulator.
static std::string getInstruction(hopper::WgmmaOp op, bool fresh) {
  int64_t count = op.getN() / 2;
  int64_t first = fresh ? count : 2 * count;
  int64_t numA = op.hasFragmentA() ? 4 : 1;
  StringRef type = op.getBMatrix().getElementType().isBF16() ? "bf16" : "f16";
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "{\n.reg .pred p;\nsetp.ne.b32 p, " << (fresh ? 0 : 1)
         << ", 0;\nwgmma.mma_async.sync.aligned.m64n" << op.getN() << "k16.f32."
         << type << "." << type << " " << listRegisters(0, count) << ", ";
  if (op.hasFragmentA())
    stream << listRegisters(first, numA);
  else
    stream << "$" << first;
  stream << ", $" << first + numA << ", p, 1, 1";
  if (!op.hasFragmentA())
    stream << ", " << (op.getTransposeA() ? 1 : 0);
  stream << ", " << (op.getTransposeB() ? 0 : 1) << ";\n}";
  return text;
}

static void lowerWgmma(hopper::WgmmaOp op) {
  Emitter emitter(op);
  int64_t count = op.getN() / 2, blocks = op.getRowBlocks();
  SmallVector<Value> results(blocks * count);
  if (op.getAcc())
    results = emitter.unpack(op.getAcc());
  SmallVector<Value> fragment;
  std::optional<Descriptor> matrixA;
  if (op.hasFragmentA())
    fragment = emitter.unpackPairs(op.getA());
  else
    matrixA.emplace(emitter, op.getA(), *op.getAMatrix(), !op.getTransposeA());
  Descriptor matrixB(emitter, op.getB(), op.getBMatrix(), op.getTransposeB());

  // The fence takes what the products read, so that nothing which writes it
  // moves behind the fence (ptxas then warns with C7519).
  MutableArrayRef<Value> carried;
  if (op.getAcc())
    carried = results;
  emitter.emitInPlace("wgmma.fence.sync.aligned;", carried, /*fresh=*/false,
                      fragment, SmallVector<std::string>(fragment.size(), "r"));
  int64_t steps = op.getK() / 16;
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t step = 0; step < steps; ++step) {
      SmallVector<Value> inputs;
      SmallVector<std::string> constraints;
      if (matrixA) {
        inputs = {matrixA->get(emitter, block, step)};
        constraints = {"l"};
      } else {
        llvm::append_range(
            inputs, ArrayRef(fragment).slice(4 * (block * steps + step), 4));
        constraints.assign(4, "r");
      }
      inputs.push_back(matrixB.get(emitter, 0, step));
      constraints.push_back("l");
      bool fresh = !op.getAcc() && step == 0;
      emitter.emitInPlace(getInstruction(op, fresh),
                          MutableArrayRef(results).slice(block * count, count),
                          fresh, inputs, constraints);
    }
  NVVM::WgmmaGroupSyncAlignedOp::create(emitter.builder, emitter.loc);
  op.replaceAllUsesWith(emitter.pack(results, op.getType()));
  op.erase();
}

//===----------------------------------------------------------------------===//
// wait
//===----------------------------------------------------------------------===//

/// Uses the registers of a fragment once more. The assembler frees registers
/// after their last use, and for it a product uses its own when it is issued.
static void keepFragment(Emitter &emitter, Value fragment) {
  OpBuilder &builder = emitter.builder;
  // A size that shared memory never has, and that the assembler cannot know.
  Value size =
      NVVM::DynamicSmemSize::create(builder, emitter.loc, builder.getI32Type());
  Value never = LLVM::ICmpOp::create(
      builder, emitter.loc, LLVM::ICmpPredicate::eq, size, emitter.i32(-1));
  SmallVector<Value> registers = emitter.unpackPairs(fragment);
  for (size_t i = 0; i < registers.size(); i += 4) {
    SmallVector<Value> inputs(ArrayRef(registers).slice(i, 4));
    inputs.append({size, never});
    emitter.emitInPlace("@$5 st.shared.v4.b32 [$4], {$0,$1,$2,$3};", {}, false,
                        inputs, {"r", "r", "r", "r", "r", "b"});
  }
}

static bool isReadByLaterProduct(hopper::WaitOp op, Value result) {
  return llvm::any_of(result.getUsers(), [&](Operation *user) {
    return isa<hopper::WgmmaOp>(user) && user->getBlock() == op->getBlock();
  });
}

static void lowerWait(hopper::WaitOp op) {
  Emitter emitter(op);
  SmallVector<Value> registers;
  for (Value value : op.getValues())
    if (getElementTypeOrSelf(value).isF32())
      llvm::append_range(registers, emitter.unpack(value));
  emitter.emitInPlace("wgmma.wait_group.sync.aligned " +
                          std::to_string(op.getPending()) + ";",
                      registers, /*fresh=*/false, {}, {});
  size_t used = 0;
  for (auto [value, result] : llvm::zip(op.getValues(), op.getResults())) {
    auto type = cast<VectorType>(value.getType());
    if (type.getElementType().isF32()) {
      size_t length = type.getNumElements();
      result.replaceAllUsesWith(
          emitter.pack(ArrayRef(registers).slice(used, length), type));
      used += length;
      continue;
    }
    if (!isReadByLaterProduct(op, result))
      keepFragment(emitter, value);
    result.replaceAllUsesWith(value);
  }
  op.erase();
}

//===----------------------------------------------------------------------===//
// address
//===----------------------------------------------------------------------===//

static void lowerAddress(hopper::AddressOp op) {
  Emitter emitter(op);
  MatrixAttr matrix = op.getMatrix();
  int64_t swizzle = matrix.getSwizzle(), width = matrix.getPanelCols();
  Value panel = emitter.binary<LLVM::LShrOp>(op.getCol(), llvm::Log2_64(width));
  Value inner = emitter.binary<LLVM::AndOp>(op.getCol(), width - 1);
  Value offset =
      LLVM::AddOp::create(emitter.builder, emitter.loc,
                          emitter.binary<LLVM::MulOp>(op.getRow(), swizzle),
                          emitter.binary<LLVM::MulOp>(inner, 2));
  // As many bits from 7 on as the swizzle has 16-byte units move to bit 4.
  Value bits = emitter.binary<LLVM::AndOp>(
      emitter.binary<LLVM::LShrOp>(offset, 3), swizzle - 16);
  offset = LLVM::XOrOp::create(emitter.builder, emitter.loc, offset, bits);
  offset = LLVM::AddOp::create(
      emitter.builder, emitter.loc, offset,
      emitter.binary<LLVM::MulOp>(panel, matrix.getPanel()));
  op.replaceAllUsesWith(
      LLVM::GEPOp::create(emitter.builder, emitter.loc, op.getType(),
                          emitter.builder.getI8Type(), op.getBase(), offset)
          .getResult());
  op.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult checkUsesInFlight(hopper::WgmmaOp op) {
  for (OpOperand &use : op.getResult().getUses()) {
    Operation *user = use.getOwner();
    auto product = dyn_cast<hopper::WgmmaOp>(user);
    if ((product && product.getAcc() == op.getResult()) ||
        isa<hopper::WaitOp, RegionBranchOpInterface>(user) ||
        user->hasTrait<OpTrait::IsTerminator>())
      continue;
    return user->emitOpError("reads a product in flight; expected a "
                             "hopper.wait before it");
  }
  return success();
}

namespace {

struct ConvertHopperToNVVM
    : mmx::impl::ConvertHopperToNVVMBase<ConvertHopperToNVVM> {
  using ConvertHopperToNVVMBase::ConvertHopperToNVVMBase;

  void runOnOperation() override {
    // Waits look at the products after them, so ops go in order.
    SmallVector<Operation *> ops;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa_and_nonnull<hopper::HopperDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (auto product = dyn_cast<hopper::WgmmaOp>(op))
        if (failed(checkUsesInFlight(product)))
          return signalPassFailure();
    for (Operation *op : ops) {
      if (auto product = dyn_cast<hopper::WgmmaOp>(op))
        lowerWgmma(product);
      else if (auto wait = dyn_cast<hopper::WaitOp>(op))
        lowerWait(wait);
      else
        lowerAddress(cast<hopper::AddressOp>(op));
    }
  }
};

} // namespace
