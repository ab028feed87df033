//===- LoadedModel.h - A model ready to run ---------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens what the options name: compiles a checkpoint (or takes the package
// from the cache), opens the weights, and makes the engine. Owns all of it.
// One thread. Errors: Error.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_MMXRUN_LOADEDMODEL_H
#define MMX_TOOLS_MMXRUN_LOADEDMODEL_H

#include "Commands.h"

#include "runtime/device/Device.h"
#include "runtime/engine/PackageEngine.h"
#include "runtime/engine/ReferenceEngine.h"
#include "runtime/progress/StageTable.h"

namespace mmx::tool {

class LoadedModel {
public:
  /// What the model is compiled to do besides logits.
  struct Extras {
    bool hidden = false, routing = false;
  };
  /// Room for `sequences` sequences of `context` tokens. `opened` is the
  /// package that the options name, if it is open already.
  LoadedModel(const ModelOptions &options, Extras extras, int64_t sequences,
              int64_t context, runtime::StageTable &stages,
              runtime::Progress &progress,
              std::shared_ptr<const runtime::Package> opened = nullptr);

  runtime::Engine &engine() { return *theEngine; }
  /// "f32" or "bf16".
  const std::string &dtype() const { return theDtype; }
  /// Weights, pools and step buffers in words; empty if not known.
  std::string memoryText() const;
  /// The same in bytes; 0 if not known.
  uint64_t memoryBytes() const;
  /// The table of --profile; empty without it.
  std::string profileText() const;

private:
  void openDevice();
  runtime::CompileSettings settingsFor(Extras extras) const;
  void openPackage(Extras extras);
  void openWeights();

  const ModelOptions &options;
  runtime::StageTable &stages;
  runtime::Progress &progress;
  std::string theDtype;
  std::unique_ptr<runtime::CompilerLibrary> compiler;
  std::shared_ptr<const runtime::Package> package;
  std::unique_ptr<runtime::TensorSource> weights;
  std::unique_ptr<runtime::Device> device; ///< null for the reference
  std::unique_ptr<runtime::Engine> theEngine;
};

/// Whether `model` names a package: a file that is no config.json.
bool isPackage(const std::string &model);

/// The package that the options name; null if they name something else.
std::shared_ptr<const runtime::Package>
openNamedPackage(const ModelOptions &options);

/// The dtype that a checkpoint is compiled with: by default that of the device.
std::string chosenDtype(const ModelOptions &options);

/// The file of --trace, if it is given.
std::unique_ptr<runtime::Trace> openTrace(const ModelOptions &options);

/// The folder of the checkpoint: where weights and golden answers stand.
std::string checkpointDirectory(const ModelOptions &options);

} // namespace mmx::tool

#endif // MMX_TOOLS_MMXRUN_LOADEDMODEL_H
