//===- PackageEngine.cpp - The programs of a package on a device ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/PackageEngine.h"

#include "runtime/package/Element.h"
#include "runtime/support/Error.h"
#include "runtime/weights/WeightLoader.h"

#include <algorithm>
#include <mutex>

using namespace mmx;
using namespace mmx::runtime;

static constexpr int64_t alignment = 64;

static int64_t alignUp(int64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

static Role roleOf(const package::Buffer &buffer) {
  return *parseRole(buffer.role()->string_view());
}

static bool isPool(RoleKind kind) {
  return kind == RoleKind::State || kind == RoleKind::KeyCache ||
         kind == RoleKind::ValueCache;
}

/// What the engine provides for a role.
static std::vector<int64_t> roleShape(RoleKind kind, const ModelInfo &model,
                                      const StepSymbols &symbols) {
  auto [tokens, sequences, outputs, slots, cacheRows, pageColumns] = symbols;
  switch (kind) {
  case RoleKind::Ids:
  case RoleKind::Positions:
  case RoleKind::CacheRows:
    return {tokens};
  case RoleKind::Starts:
    return {sequences + 1};
  case RoleKind::Slots:
  case RoleKind::Past:
    return {sequences};
  case RoleKind::Pages:
    return {sequences, pageColumns};
  case RoleKind::LogitRows:
    return {outputs};
  case RoleKind::State:
    return {slots, model.heads, model.headDim, model.headDim};
  case RoleKind::KeyCache:
  case RoleKind::ValueCache:
    return {cacheRows, model.kvHeads, model.headDim};
  case RoleKind::Logits:
    return {outputs, model.vocab};
  case RoleKind::Hidden:
    return {tokens, model.hidden};
  case RoleKind::Routing:
  case RoleKind::Experts:
    return {tokens, model.expertsPerToken};
  }
  return {};
}

/// The element types that a role may have.
static bool roleTakes(RoleKind kind, package::Element element) {
  if (kind == RoleKind::KeyCache || kind == RoleKind::ValueCache)
    return element == package::Element::F32 ||
           element == package::Element::BF16;
  bool isFloat = kind == RoleKind::State || kind == RoleKind::Logits ||
                 kind == RoleKind::Hidden;
  return element == (isFloat ? package::Element::F32 : package::Element::I32);
}

PackageEngine::PackageEngine(std::shared_ptr<const Package> package,
                             Device &device, const TensorSource &weights,
                             Options options)
    : package(std::move(package)), device(device), options(std::move(options)),
      info(*(*this->package)->model()) {
  if (this->options.limits.slots < 1)
    fail("expected at least one slot, but got ", this->options.limits.slots);
  addProgram("prefill");
  addProgram("decode");
  checkLayouts();
  kernels = device.load(*this->package);
  allocatePools();
  loadWeights(weights);
  tokenless = runtime::tokenlessIds(weights, info.vocab);
}

void PackageEngine::addProgram(const char *name) {
  const package::Program *program = package->program(name);
  if (!program)
    fail(package->name(), ": has no program \"", name, "\"");
  Bound bound = {.binding = ProgramBinding(**package, *program)};
  for (const package::Buffer *buffer : *program->buffers()) {
    DeviceMemory memory;
    if (buffer->kind() == package::BufferKind::Constant && buffer->data()) {
      memory = DeviceMemory(device, buffer->data()->size());
      device.upload(memory.data(),
                    std::as_bytes(std::span(buffer->data()->data(),
                                            buffer->data()->size())));
    }
    bound.constants.push_back(std::move(memory));
    if (buffer->kind() == package::BufferKind::Input)
      bound.roles.insert(buffer->role()->str());
  }
  programs.push_back(std::move(bound));
}

/// Element types fit their roles, both programs see the pools alike, and none
/// of the pools of the model's layers is missing.
void PackageEngine::checkLayouts() const {
  std::map<std::string, const package::Buffer *> pools;
  for (const Bound &bound : programs) {
    for (const package::Buffer *buffer : *bound.binding.program().buffers()) {
      if (buffer->kind() != package::BufferKind::Input)
        continue;
      std::string role = buffer->role()->str();
      if (!roleTakes(roleOf(*buffer).kind, buffer->element()))
        fail(package->name(), ": \"", role, "\" has elements ",
             package::EnumNameElement(buffer->element()));
      const package::Buffer *&first = pools[role];
      if (!first)
        first = buffer;
      if (first->element() != buffer->element() ||
          first->panel() != buffer->panel() ||
          first->along() != buffer->along())
        fail(package->name(), ": its programs disagree on the layout of \"",
             role, "\"");
    }
  }
  auto expect = [&](const std::string &role) {
    if (!pools.contains(role))
      fail(package->name(), ": no program has the input \"", role, "\"");
  };
  for (const Bound &bound : programs)
    for (const char *role : {"ids", "logits"})
      if (!bound.roles.contains(std::string_view(role)))
        fail(package->name(), ": program \"",
             bound.binding.program().name()->str(), "\" has no \"", role, "\"");
  for (int32_t layer : info.lightningLayers)
    expect(concat("state.", layer));
  for (int32_t layer : info.softmaxLayers) {
    expect(concat("key_cache.", layer));
    expect(concat("value_cache.", layer));
  }
}

void PackageEngine::allocatePools() {
  StepSymbols symbols = {};
  symbols[int64_t(StepSymbol::Slots)] = options.limits.slots;
  symbols[int64_t(StepSymbol::CacheRows)] = options.limits.cacheRows;
  for (const Bound &bound : programs) {
    for (const package::Buffer *buffer : *bound.binding.program().buffers()) {
      if (buffer->kind() != package::BufferKind::Input ||
          !isPool(roleOf(*buffer).kind) ||
          roles.contains(buffer->role()->string_view()))
        continue;
      int64_t bytes =
          bufferBytes(*buffer, roleShape(roleOf(*buffer).kind, info, symbols));
      roles.emplace(buffer->role()->str(), DeviceMemory(device, bytes));
    }
  }
}

void PackageEngine::loadWeights(const TensorSource &weights) {
  std::vector<WeightPiece> pieces = planWeights(**package, weights);
  std::vector<int64_t> offsets;
  int64_t total = 0;
  for (const package::Weight *weight : *(*package)->weights()) {
    offsets.push_back(total);
    total += alignUp(runtime::weightBytes(*weight));
  }
  weightMemory = DeviceMemory(device, total);
  for (int64_t offset : offsets)
    weightPlaces.push_back(weightMemory.data() + offset);
  std::mutex mutex;
  int64_t done = 0;
  device.fill({int64_t(pieces.size()),
               [&](int64_t i) {
                 return weightPlaces[pieces[i].weight] + pieces[i].offset;
               },
               [&](int64_t i) { return pieces[i].bytes; },
               [&](int64_t i, std::byte *out) {
                 readPiece(pieces[i], weights, out);
                 std::lock_guard lock(mutex);
                 done += pieces[i].bytes;
                 if (options.progress)
                   options.progress(done, total);
               }});
}

void PackageEngine::reserve(Bound &program, const StepSymbols &symbols) {
  auto grow = [&](DeviceMemory &memory, uint64_t bytes) {
    if (memory.data() && memory.bytes() >= bytes)
      return;
    // The old memory first: the two need not exist at once.
    memory = DeviceMemory();
    memory = DeviceMemory(device, alignUp(bytes));
    ++epoch;
  };
  grow(arena, program.binding.arenaBytes(symbols));
  for (const package::Buffer *buffer : *program.binding.program().buffers()) {
    if (buffer->kind() != package::BufferKind::Input)
      continue;
    RoleKind kind = roleOf(*buffer).kind;
    if (!isPool(kind))
      grow(roles[buffer->role()->str()],
           bufferBytes(*buffer, roleShape(kind, info, symbols)));
  }
}

void PackageEngine::bind(Bound &program, const StepSymbols &symbols) {
  program.graph.reset();
  program.runs = 0;
  reserve(program, symbols);
  const auto &buffers = *program.binding.program().buffers();
  program.binding.bind(
      symbols, arena.data(),
      [&](int64_t number, std::span<const int64_t> shape) -> std::byte * {
        const package::Buffer &buffer = *buffers.Get(number);
        std::vector<int64_t> expected(shape.begin(), shape.end());
        std::byte *place = program.constants[number].data();
        if (buffer.kind() == package::BufferKind::Weight) {
          const auto &weight = *(*package)->weights()->Get(buffer.weight());
          expected.assign(weight.shape()->begin(), weight.shape()->end());
          place = weightPlaces[buffer.weight()];
        } else if (buffer.kind() == package::BufferKind::Input) {
          expected = roleShape(roleOf(buffer).kind, info, symbols);
          place = roles.find(buffer.role()->string_view())->second.data();
        }
        if (!std::ranges::equal(expected, shape))
          fail("buffer ", number, ": expected the shape ", listText(expected),
               ", but got ", listText(shape));
        return place;
      });
  program.symbols = symbols;
  program.epoch = epoch;
}

void PackageEngine::upload(const Bound &program, const StepInputs &inputs) {
  const std::pair<const char *, const std::vector<int32_t> &> arrays[] = {
      {"ids", inputs.ids},       {"positions", inputs.positions},
      {"starts", inputs.starts}, {"slots", inputs.slots},
      {"past", inputs.past},     {"cache_rows", inputs.cacheRows},
      {"pages", inputs.pages},   {"logit_rows", inputs.logitRows}};
  for (const auto &[role, values] : arrays)
    if (program.roles.contains(std::string_view(role)))
      device.upload(roles.at(role).data(), std::as_bytes(std::span(values)));
  std::vector<int32_t> allFree;
  for (int64_t layer = 0; layer < info.layers; ++layer) {
    std::string role = concat("routing.", layer);
    if (!program.roles.contains(role))
      continue;
    if (inputs.routing.empty())
      allFree.resize(inputs.tokens() * info.expertsPerToken, -1);
    device.upload(roles.at(role).data(),
                  std::as_bytes(std::span(inputs.routing.empty()
                                              ? allFree
                                              : inputs.routing[layer])));
  }
}

void PackageEngine::poison(const Bound &program, const StepSymbols &symbols) {
  device.set(arena.data(), program.binding.arenaBytes(symbols), 0xff);
  for (auto &[role, memory] : roles)
    if (role == "logits" || role.starts_with("hidden.") ||
        role.starts_with("experts."))
      device.set(memory.data(), memory.bytes(), 0xff);
}

StepOutputs PackageEngine::outputs(const Bound &program,
                                   const StepSymbols &symbols) {
  auto view = [&]<typename T>(const std::string &role, RoleKind kind,
                              std::span<const T> &out) {
    std::vector<int64_t> shape = roleShape(kind, info, symbols);
    uint64_t bytes = shape[0] * shape[1] * sizeof(T);
    std::span<const std::byte> seen =
        device.view(roles.at(role).data(), bytes, staging[role]);
    out = std::span(reinterpret_cast<const T *>(seen.data()),
                    seen.size() / sizeof(T));
  };
  StepOutputs result;
  view("logits", RoleKind::Logits, result.logits);
  for (int64_t layer = 0; layer <= info.layers; ++layer)
    if (std::string role = concat("hidden.", layer);
        program.roles.contains(role))
      view(role, RoleKind::Hidden, result.hidden.emplace_back());
  for (int64_t layer = 0; layer < info.layers; ++layer)
    if (std::string role = concat("experts.", layer);
        program.roles.contains(role))
      view(role, RoleKind::Experts, result.experts.emplace_back());
  return result;
}

StepOutputs PackageEngine::run(Phase phase, const StepInputs &inputs) {
  checkStep(phase, inputs, info, options.limits);
  StepSymbols symbols = {inputs.tokens(),          inputs.sequences(),
                         inputs.outputs(),         options.limits.slots,
                         options.limits.cacheRows, inputs.pageColumns};
  Bound &program = programs[int(phase)];
  if (program.symbols != symbols || program.epoch != epoch)
    bind(program, symbols);
  upload(program, inputs);
  if (options.poison)
    poison(program, symbols);
  launch(program, phase);
  device.wait();
  return outputs(program, symbols);
}

void PackageEngine::launch(Bound &program, Phase phase) {
  std::span<const KernelLaunch> launches = program.binding.launches();
  if (options.profile || options.trace) {
    for (size_t i = 0; i < launches.size(); ++i)
      launchTimed(program.binding, i);
    return;
  }
  // The first step of a size may be its last: only the second records.
  if (options.graphs && phase == Phase::Decode && program.runs == 1)
    program.graph = device.record(*kernels, launches);
  program.runs += 1;
  if (program.graph) {
    device.replay(*program.graph);
    return;
  }
  for (const KernelLaunch &launch : launches)
    device.launch(*kernels, launch);
}

void PackageEngine::launchTimed(const ProgramBinding &binding, size_t number) {
  const KernelLaunch &launch = binding.launches()[number];
  kernelTimes.resize((*package)->kernels()->size());
  KernelTime &time = kernelTimes[launch.kernel];
  try {
    Trace::Clock::time_point begin = Trace::Clock::now();
    double seconds = device.timed(*kernels, launch);
    time.seconds += seconds;
    if (options.trace)
      options.trace->add(
          Trace::Row::Kernels, std::string(binding.label(number)), begin,
          seconds, (*package)->kernels()->Get(launch.kernel)->name()->str());
  } catch (const Error &error) {
    fail("kernel \"", (*package)->kernels()->Get(launch.kernel)->name()->str(),
         "\", extents ", listText(launch.extents), ", grid ",
         listText(launch.grid), ": ", error.what());
  }
  time.launches += 1;
}

std::vector<PackageEngine::KernelTime> PackageEngine::profile() const {
  std::vector<KernelTime> result = kernelTimes;
  for (size_t i = 0; i < result.size(); ++i)
    result[i].kernel = (*package)->kernels()->Get(i)->name()->str();
  std::ranges::sort(result, std::greater(), &KernelTime::seconds);
  return result;
}

int64_t PackageEngine::stateBytes() const {
  return info.heads * info.headDim * info.headDim * int64_t(sizeof(float));
}

DeviceMemory &PackageEngine::state(int64_t layer) {
  auto found = roles.find(concat("state.", layer));
  if (found == roles.end())
    fail("layer ", layer, " has no recurrent state");
  return found->second;
}

void PackageEngine::clearSlot(int64_t slot) {
  for (int32_t layer : info.lightningLayers)
    device.set(state(layer).data() + slot * stateBytes(), stateBytes(), 0);
}

std::vector<float> PackageEngine::readState(int64_t layer, int64_t slot) {
  std::vector<float> result(stateBytes() / sizeof(float));
  device.download(std::as_writable_bytes(std::span(result)),
                  state(layer).data() + slot * stateBytes());
  return result;
}

void PackageEngine::writeState(int64_t layer, int64_t slot,
                               std::span<const float> values) {
  if (int64_t(values.size_bytes()) != stateBytes())
    fail("expected a state of ", stateBytes(), " bytes, but got ",
         values.size_bytes());
  device.upload(state(layer).data() + slot * stateBytes(),
                std::as_bytes(values));
}

uint64_t PackageEngine::poolBytes() const {
  uint64_t bytes = 0;
  for (const auto &[role, memory] : roles)
    if (isPool(parseRole(role)->kind))
      bytes += memory.bytes();
  return bytes;
}

uint64_t PackageEngine::stepBytes() const {
  uint64_t bytes = arena.bytes();
  for (const auto &[role, memory] : roles)
    if (!isPool(parseRole(role)->kind))
      bytes += memory.bytes();
  return bytes;
}
