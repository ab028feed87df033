//===- LoadedModel.cpp - A model ready to run -----------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedModel.h"

#include "runtime/device/CpuDevice.h"
#include "runtime/device/CudaDevice.h"
#include "runtime/engine/PackageCache.h"
#include "runtime/session/Session.h"
#include "runtime/support/Error.h"
#include "runtime/weights/CheckedTensors.h"
#include "runtime/weights/Checkpoint.h"
#include "runtime/weights/RandomTensors.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>

using namespace mmx::runtime;
using namespace mmx::tool;
namespace fs = std::filesystem;

static constexpr std::string_view randomPrefix = "random:";

bool mmx::tool::isPackage(const std::string &model) {
  return fs::is_regular_file(model) && fs::path(model).extension() != ".json";
}

std::shared_ptr<const Package>
mmx::tool::openNamedPackage(const ModelOptions &options) {
  return isPackage(options.model) ? Package::open(options.model) : nullptr;
}

std::string mmx::tool::chosenDtype(const ModelOptions &options) {
  if (!options.dtype.empty())
    return options.dtype;
  return options.device.starts_with("cuda") ? "bf16" : "f32";
}

std::unique_ptr<Trace> mmx::tool::openTrace(const ModelOptions &options) {
  return options.trace.empty() ? nullptr
                               : std::make_unique<Trace>(options.trace);
}

std::string mmx::tool::checkpointDirectory(const ModelOptions &options) {
  if (!options.weights.empty() && !options.weights.starts_with(randomPrefix))
    return options.weights;
  if (fs::is_directory(options.model))
    return options.model;
  fs::path parent = fs::path(options.model).parent_path();
  return parent.empty() ? "." : parent.string();
}

static uint64_t parseSeed(const std::string &weights) {
  const char *begin = weights.data() + randomPrefix.size();
  const char *end = weights.data() + weights.size();
  uint64_t seed = 0;
  auto [last, error] = std::from_chars(begin, end, seed);
  if (error != std::errc() || last != end || begin == end)
    fail("--weights: expected random:SEED with a non-negative number, but got ",
         weights);
  return seed;
}

/// The number of the GPU in "cuda" or "cuda:1"; nothing for other devices.
static std::optional<int> gpuNumber(std::string_view device) {
  if (device == "cuda")
    return 0;
  if (!device.starts_with("cuda:"))
    return std::nullopt;
  int number = 0;
  const char *begin = device.data() + 5, *end = device.data() + device.size();
  auto [last, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || last != end || begin == end || number < 0)
    fail("--device: expected cuda or cuda:NUMBER, but got ", device);
  return number;
}

void LoadedModel::openDevice() {
  if (options.device == "reference")
    return;
  if (std::optional<int> number = gpuNumber(options.device))
    device = std::make_unique<CudaDevice>(
        CudaDevice::Options{*number, options.threads, options.target});
  else if (!options.target.empty() && !options.target.starts_with("cpu"))
    fail("--target: ", options.target, " is a GPU, but the device is \"cpu\"; ",
         "add --device cuda");
  else
    device = std::make_unique<CpuDevice>(options.threads);
}

CompileSettings LoadedModel::settingsFor(Extras extras) const {
  CompileSettings settings;
  if (!options.target.empty())
    settings.target = options.target;
  else if (device)
    settings.target = device->target();
  settings.dtype = theDtype;
  settings.block = options.block;
  settings.keepHidden = extras.hidden;
  settings.routing = extras.routing;
  settings.progress = [this](const char *stage, int done, int total) {
    progress.update(stage, done, total);
  };
  return settings;
}

void LoadedModel::openPackage(Extras extras) {
  if (isPackage(options.model)) {
    if (!device)
      fail("--device ", options.device, " needs a checkpoint, but ",
           options.model, " is a package");
    stages.enter("open");
    if (!package)
      package = openNamedPackage(options);
    const flatbuffers::String *dtype = (*package)->dtype();
    if (!options.dtype.empty() && dtype && dtype->str() != options.dtype)
      fail(options.model, ": is compiled with --dtype ", dtype->str(),
           ", but got --dtype ", options.dtype, "; compile the model again");
    if (dtype)
      theDtype = dtype->str();
    return;
  }
  stages.enter("compile");
  compiler = std::make_unique<CompilerLibrary>();
  bool random = options.weights.starts_with(randomPrefix);
  // The reference needs a package only for the shapes of random weights.
  if (!device && !random)
    return;
  CompiledPackage compiled =
      compileCached(*compiler, options.model, settingsFor(extras));
  package = compiled.package;
  stages.note("compile", compiled.fromCache ? "from the cache" : "");
}

void LoadedModel::openWeights() {
  if (options.weights.starts_with(randomPrefix)) {
    weights =
        std::make_unique<RandomTensors>(**package, parseSeed(options.weights));
    return;
  }
  if (options.weights.empty() && isPackage(options.model))
    fail(options.model, " is a package without weights: use --weights DIR or ",
         "--weights random:SEED");
  if (!options.weights.empty() && !fs::is_directory(options.weights))
    fail("--weights: expected a directory or random:SEED, but there is no "
         "directory ",
         options.weights);
  weights = std::make_unique<Checkpoint>(checkpointDirectory(options));
  if (options.checkWeights)
    weights = std::make_unique<CheckedTensors>(std::move(weights));
}

LoadedModel::LoadedModel(const ModelOptions &options, Extras extras,
                         int64_t sequences, int64_t context, StageTable &stages,
                         Progress &progress,
                         std::shared_ptr<const Package> opened)
    : options(options), stages(stages), progress(progress),
      theDtype(chosenDtype(options)), package(std::move(opened)) {
  openDevice();
  // What is missing is to be said before the model is compiled.
  bool early =
      !isPackage(options.model) && !options.weights.starts_with(randomPrefix);
  stages.enter("weights");
  if (early)
    openWeights();
  openPackage(extras);
  stages.enter("weights");
  if (!early)
    openWeights();
  auto limits = [&](const ModelInfo &model) {
    return limitsFor(model, sequences, context);
  };
  if (!device) {
    CompileSettings settings = settingsFor(extras);
    settings.block = 0;
    theEngine = std::make_unique<ReferenceEngine>(*compiler, options.model,
                                                  settings, *weights, limits);
  } else {
    PackageEngine::Options engineOptions;
    engineOptions.limits = limits(ModelInfo(*(*package)->model()));
    engineOptions.poison = options.poison;
    engineOptions.profile = options.profile;
    engineOptions.graphs = options.graphs;
    engineOptions.trace = stages.trace();
    engineOptions.progress = [&](int64_t done, int64_t total) {
      progress.update("weights", done, total);
    };
    theEngine = std::make_unique<PackageEngine>(package, *device, *weights,
                                                std::move(engineOptions));
  }
  stages.note("weights", memoryText());
  stages.enter("other");
  progress.finish();
}

std::string LoadedModel::memoryText() const {
  auto *engine = dynamic_cast<const PackageEngine *>(theEngine.get());
  if (!engine)
    return "";
  auto megabytes = [](uint64_t bytes) { return (bytes + (1 << 19)) >> 20; };
  return concat(megabytes(engine->weightBytes()), " MiB of weights, ",
                megabytes(engine->poolBytes()), " MiB of state and cache");
}

uint64_t LoadedModel::memoryBytes() const {
  auto *engine = dynamic_cast<const PackageEngine *>(theEngine.get());
  return engine ? engine->weightBytes() + engine->poolBytes() : 0;
}

std::string LoadedModel::profileText() const {
  auto *engine = dynamic_cast<const PackageEngine *>(theEngine.get());
  if (!engine || !options.profile)
    return "";
  std::string text;
  for (const PackageEngine::KernelTime &time : engine->profile()) {
    char line[512];
    std::snprintf(line, sizeof(line), "%10.3f ms %8lld x %10.2f us  %s\n",
                  time.seconds * 1e3, (long long)time.launches,
                  time.launches > 0 ? time.seconds * 1e6 / time.launches : 0,
                  time.kernel.c_str());
    text += line;
  }
  return text;
}
