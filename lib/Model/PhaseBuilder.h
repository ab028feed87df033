//===- PhaseBuilder.h - Builds the function of one phase --------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_MODEL_PHASEBUILDER_H
#define MMX_LIB_MODEL_PHASEBUILDER_H

#include "WeightImporter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mmx/Model/ImportModel.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace mmx {

/// Builds @prefill or @decode. One object builds one function.
class PhaseBuilder {
public:
  PhaseBuilder(const ModelConfig &config, const ImportOptions &options,
               WeightImporter &weights, mlir::Location loc)
      : config(config), options(options), weights(weights),
        b(loc, loc.getContext()) {}

  /// The function `name`, not yet in a module: its weights are declared
  /// before it.
  mlir::func::FuncOp build(llvm::StringRef name);

private:
  void addArgument(const llvm::Twine &role, llvm::ArrayRef<int64_t> shape,
                   mlir::Type element, llvm::ArrayRef<StepSymbol> symbols);
  void addArguments();
  /// Whether tokens are sent to experts by a router.
  bool isRouted() const;
  mlir::func::FuncOp createFunction(llvm::StringRef name);
  void buildBody();
  void returnValues(mlir::Value logits);

  mlir::Value layer(int64_t index, mlir::Value h);
  mlir::Value lightning(int64_t index, mlir::Value x);
  mlir::Value softmax(int64_t index, mlir::Value x);
  mlir::Value feedForward(int64_t index, mlir::Value y);
  mlir::Value experts(int64_t index, mlir::Value y, mlir::Value input);
  mlir::Value swiglu(const SwigluWeights &weights, mlir::Value input);

  mlir::Value weight(GlobalOp global);
  mlir::Value weight(int64_t layer, llvm::StringRef symbol,
                     llvm::ArrayRef<int64_t> shape, llvm::StringRef tensor);
  mlir::Value linear(mlir::Value input, mlir::Value weight);
  mlir::Value norm(mlir::Value input, mlir::Value weight, double eps);
  mlir::Value residual(mlir::Value input, mlir::Value branch,
                       const ResidualFactors &factors);
  mlir::Value convert(mlir::Value input, mlir::Type element);
  /// `input` in the type that products read.
  mlir::Value matrixInput(mlir::Value input);
  mlir::Value splitHeads(mlir::Value input, int64_t heads);
  mlir::Value &pool(const llvm::Twine &role) { return values[role.str()]; }
  void setLocation(const llvm::Twine &name);

  const ModelConfig &config;
  const ImportOptions &options;
  WeightImporter &weights;
  mlir::ImplicitLocOpBuilder b;

  llvm::SmallVector<std::string> roles, pools;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::AffineMap> shapes;
  /// The tables, and the newest value of each pool.
  llvm::StringMap<mlir::Value> values;
  llvm::SmallVector<mlir::Value> hidden, routes;
  mlir::Value ropeTable;
};

} // namespace mmx

#endif // MMX_LIB_MODEL_PHASEBUILDER_H
