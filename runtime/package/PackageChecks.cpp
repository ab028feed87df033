//===- PackageChecks.cpp - What a package must satisfy --------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/package/PackageChecks.h"

#include "runtime/package/Element.h"
#include "runtime/package/Expression.h"
#include "runtime/support/Error.h"

#include <charconv>
#include <set>
#include <string>
#include <vector>

using namespace mmx;
using namespace mmx::runtime;

static constexpr uint64_t maxScratch = uint64_t(1) << 30;
static constexpr uint32_t maxExtents = 64;
static constexpr int64_t maxPanel = 4096;
/// Shared memory of a block that sm_90 allows at most.
static constexpr int64_t maxShared = 232448;

std::optional<Role> mmx::runtime::parseRole(std::string_view text) {
  static constexpr std::pair<std::string_view, RoleKind> plain[] = {
      {"ids", RoleKind::Ids},       {"positions", RoleKind::Positions},
      {"starts", RoleKind::Starts}, {"slots", RoleKind::Slots},
      {"past", RoleKind::Past},     {"cache_rows", RoleKind::CacheRows},
      {"pages", RoleKind::Pages},   {"logit_rows", RoleKind::LogitRows},
      {"logits", RoleKind::Logits}};
  static constexpr std::pair<std::string_view, RoleKind> layered[] = {
      {"state.", RoleKind::State},
      {"key_cache.", RoleKind::KeyCache},
      {"value_cache.", RoleKind::ValueCache},
      {"hidden.", RoleKind::Hidden},
      {"routing.", RoleKind::Routing},
      {"experts.", RoleKind::Experts}};
  for (auto [name, kind] : plain)
    if (text == name)
      return Role{kind, -1};
  for (auto [prefix, kind] : layered) {
    if (!text.starts_with(prefix))
      continue;
    int64_t layer = 0;
    const char *begin = text.data() + prefix.size();
    const char *end = text.data() + text.size();
    auto [last, error] = std::from_chars(begin, end, layer);
    if (error != std::errc() || last != end || layer < 0 || *begin == '-')
      return std::nullopt;
    return Role{kind, layer};
  }
  return std::nullopt;
}

/// Runs `check` and puts `where` before the message of an error.
template <typename Check> static void within(std::string where, Check check) {
  try {
    check();
  } catch (const Error &error) {
    fail(where, ": ", error.what());
  }
}

template <typename Vector>
static void forEach(const Vector &vector, const char *what, auto check) {
  int64_t number = 0;
  for (const auto *item : vector) {
    within(concat(what, " ", number), [&] { check(*item); });
    ++number;
  }
}

static void checkName(std::set<std::string_view> &names,
                      const flatbuffers::String &name) {
  if (!names.insert(name.string_view()).second)
    fail("the name \"", name.str(), "\" is given twice");
}

static void checkElement(package::Element element) {
  if (element < package::Element::MIN || element > package::Element::MAX)
    fail("unknown element type ", int(element));
}

static void checkExpressions(
    const flatbuffers::Vector<flatbuffers::Offset<package::Expression>> &list,
    const char *what, int64_t symbols) {
  forEach(list, what, [&](const package::Expression &expression) {
    Expression(expression).check(symbols);
  });
}

static void checkPanel(int64_t panel, int64_t along, int64_t rank) {
  if (panel < 0 || panel > maxPanel)
    fail("expected a panel of 0 to ", maxPanel, ", but got ", panel);
  if (panel > 0 && (along < 0 || along >= rank))
    fail("expected a panel along a dimension below ", rank, ", but got ",
         along);
}

static void checkRange(const char *what, int64_t value, int64_t first,
                       int64_t last) {
  if (value < first || value > last)
    fail("expected ", what, " from ", first, " to ", last, ", but got ", value);
}

static void checkLayers(const flatbuffers::Vector<int32_t> *list,
                        int64_t layers, std::set<int64_t> &seen) {
  if (!list)
    return;
  for (int32_t layer : *list) {
    checkRange("a layer", layer, 0, layers - 1);
    if (!seen.insert(layer).second)
      fail("layer ", layer, " is given twice");
  }
}

static void checkModel(const package::Model &model) {
  constexpr int64_t most = int64_t(1) << 30;
  checkRange("vocab", model.vocab(), 1, most);
  checkRange("hidden", model.hidden(), 1, most);
  checkRange("layers", model.layers(), 1, 1 << 20);
  checkRange("heads", model.heads(), 1, most);
  checkRange("kv_heads", model.kv_heads(), 1, most);
  checkRange("head_dim", model.head_dim(), 1, 1 << 20);
  checkRange("page", model.page(), 1, 1 << 20);
  checkRange("experts", model.experts(), 0, 1 << 20);
  checkRange("experts_per_token", model.experts_per_token(), 0,
             model.experts());
  checkRange("max_positions", model.max_positions(), 1, most);
  std::set<int64_t> seen;
  checkLayers(model.lightning_layers(), model.layers(), seen);
  checkLayers(model.softmax_layers(), model.layers(), seen);
  if (int64_t(seen.size()) != model.layers())
    fail("expected a kind for each of ", model.layers(), " layers, but got ",
         seen.size());
}

static void checkTensorMap(const package::TensorMap &map, int64_t extents) {
  checkElement(map.element());
  int64_t rank = map.dims()->size();
  checkRange("tensor map dimensions", rank, 1, 5);
  checkRange("strides", map.strides()->size(), rank - 1, rank - 1);
  checkRange("box dimensions", map.box()->size(), rank, rank);
  checkExpressions(*map.dims(), "dimension", extents);
  checkExpressions(*map.strides(), "stride", extents);
  for (uint32_t extent : *map.box())
    checkRange("a box extent", extent, 1, 256);
  uint32_t swizzle = map.swizzle();
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    fail("expected a swizzle of 0, 32, 64 or 128 bytes, but got ", swizzle);
  int64_t row = map.box()->Get(0) * elementSize(map.element());
  if (row % 16 != 0 || (swizzle != 0 && row > swizzle))
    fail("expected box rows of a multiple of 16 bytes",
         swizzle != 0 ? concat(", ", swizzle, " at most") : "", ", but got ",
         row);
}

static void checkGpuKernel(const package::GpuKernel &kernel, int64_t extents) {
  checkRange("threads", kernel.threads(), 1, 1024);
  checkRange("bytes of shared memory", kernel.shared(), 0, maxShared);
  if (kernel.cluster()) {
    checkRange("cluster dimensions", kernel.cluster()->size(), 3, 3);
    int64_t blocks = 1;
    for (uint32_t extent : *kernel.cluster()) {
      checkRange("a cluster extent", extent, 1, 16);
      blocks *= extent;
    }
    checkRange("blocks of a cluster", blocks, 1, 16);
  }
  if (kernel.tensor_maps())
    forEach(
        *kernel.tensor_maps(), "tensor map",
        [&](const package::TensorMap &map) { checkTensorMap(map, extents); });
}

static void checkKernel(const package::Kernel &kernel,
                        const package::Package &package) {
  int64_t objects = package.objects()->size();
  if (kernel.object() >= objects)
    fail("expected an object below ", objects, ", but got ", kernel.object());
  if (kernel.symbol()->size() == 0)
    fail("has an empty symbol");
  if (kernel.extents() > maxExtents)
    fail("expected at most ", maxExtents, " extents, but got ",
         kernel.extents());
  if (kernel.scratch() > maxScratch)
    fail("expected at most ", maxScratch, " bytes of scratch, but got ",
         kernel.scratch());
  checkRange("grid dimensions", kernel.grid()->size(), 1, 3);
  checkExpressions(*kernel.grid(), "grid dimension", kernel.extents());
  bool forCpu = package.target()->string_view() == "cpu";
  if (forCpu == bool(kernel.gpu()))
    fail(forCpu ? "is a kernel for GPUs in a package for \"cpu\""
                : "lacks what a launch on a GPU needs");
  if (kernel.gpu())
    checkGpuKernel(*kernel.gpu(), kernel.extents());
}

static void checkWeight(const package::Weight &weight) {
  checkElement(weight.element());
  std::span<const int64_t> shape = longs(*weight.shape());
  if (shape.empty() || !checkedProduct(shape))
    fail("has the shape ", listText(shape));
  checkPanel(weight.panel(), weight.along(), shape.size());
  int64_t sources = weight.sources()->size();
  if (sources == 0)
    fail("has no sources");
  if (sources > 1 && shape[0] != sources)
    fail("expected ", shape[0], " sources for the shape ", listText(shape),
         ", but got ", sources);
  if (sources > 1 && weight.panel() > 0 && weight.along() == 0)
    fail("has panels along the dimension its sources are stacked on");
  forEach(*weight.sources(), "source", [](const package::Source &source) {
    constexpr int64_t most = int64_t(1) << 40;
    checkRange("an index", source.index(), -1, most);
    checkRange("a first row", source.first(), 0, most);
    checkRange("rows", source.rows(), 0, most);
    if (source.first() > 0 && source.rows() == 0)
      fail("has a first row but no number of rows");
  });
}

static void checkConstant(const package::Buffer &buffer) {
  checkExpressions(*buffer.shape(), "shape dimension", 0);
  std::vector<int64_t> shape;
  for (const package::Expression *extent : *buffer.shape())
    shape.push_back(Expression(*extent).evaluate({}));
  std::optional<int64_t> count = checkedProduct(shape);
  int64_t got = buffer.data() ? buffer.data()->size() : 0;
  if (!count || *count * elementSize(buffer.element()) != got)
    fail("the shape ", listText(shape), " and ", got,
         " bytes of data do not agree");
}

static void checkBuffer(const package::Buffer &buffer,
                        const package::Package &package,
                        std::set<std::string_view> &roles) {
  checkElement(buffer.element());
  checkExpressions(*buffer.shape(), "shape dimension", stepSymbolCount);
  checkPanel(buffer.panel(), buffer.along(), buffer.shape()->size());
  switch (buffer.kind()) {
  case package::BufferKind::Input: {
    if (!buffer.role())
      fail("is an input without a role");
    std::optional<Role> role = parseRole(buffer.role()->string_view());
    if (!role)
      fail("has the unknown role \"", buffer.role()->str(), "\"");
    int64_t layers = package.model()->layers();
    checkRange("a layer", role->layer, -1,
               role->kind == RoleKind::Hidden ? layers : layers - 1);
    checkName(roles, *buffer.role());
    break;
  }
  case package::BufferKind::Weight: {
    int64_t weights = package.weights()->size();
    if (buffer.weight() >= weights)
      fail("expected a weight below ", weights, ", but got ", buffer.weight());
    if (package.weights()->Get(buffer.weight())->element() != buffer.element())
      fail("has another element type than its weight");
    break;
  }
  case package::BufferKind::Constant:
    checkConstant(buffer);
    break;
  case package::BufferKind::Temporary:
    if (!buffer.offset())
      fail("is a temporary without an offset");
    Expression(*buffer.offset()).check(stepSymbolCount);
    break;
  default:
    fail("unknown kind ", int(buffer.kind()));
  }
}

static void checkLaunch(const package::Launch &launch, int64_t buffers,
                        const package::Package &package) {
  int64_t kernels = package.kernels()->size();
  if (launch.kernel() >= kernels)
    fail("expected a kernel below ", kernels, ", but got ", launch.kernel());
  for (uint32_t buffer : *launch.buffers())
    if (buffer >= buffers)
      fail("expected a buffer below ", buffers, ", but got ", buffer);
  const package::Kernel &kernel = *package.kernels()->Get(launch.kernel());
  if (launch.extents()->size() != kernel.extents())
    fail("kernel \"", kernel.name()->str(), "\" expects ", kernel.extents(),
         " extents, but got ", launch.extents()->size());
  checkExpressions(*launch.extents(), "extent", stepSymbolCount);
  if (!kernel.gpu() || !kernel.gpu()->tensor_maps())
    return;
  for (const package::TensorMap *map : *kernel.gpu()->tensor_maps())
    if (map->view() >= launch.buffers()->size())
      fail("kernel \"", kernel.name()->str(), "\" has a tensor map of view ",
           map->view(), ", but the launch passes ", launch.buffers()->size(),
           " buffers");
}

static void checkProgram(const package::Program &program,
                         const package::Package &package) {
  std::set<std::string_view> roles;
  forEach(*program.buffers(), "buffer", [&](const package::Buffer &buffer) {
    checkBuffer(buffer, package, roles);
    if (buffer.kind() == package::BufferKind::Temporary && !program.arena())
      fail("is a temporary of a program without an arena");
  });
  if (program.arena())
    within("arena",
           [&] { Expression(*program.arena()).check(stepSymbolCount); });
  forEach(*program.launches(), "launch", [&](const package::Launch &launch) {
    checkLaunch(launch, program.buffers()->size(), package);
  });
}

void mmx::runtime::checkPackage(const package::Package &package) {
  constexpr uint32_t known = 1;
  if (package.version() != known)
    fail("expected package version ", known, ", but got ", package.version(),
         "; compile the model again");
  within("model", [&] { checkModel(*package.model()); });
  std::set<std::string_view> kernels, weights, programs, texts;
  forEach(*package.kernels(), "kernel", [&](const package::Kernel &kernel) {
    checkName(kernels, *kernel.name());
    checkKernel(kernel, package);
  });
  forEach(*package.weights(), "weight", [&](const package::Weight &weight) {
    checkName(weights, *weight.name());
    checkWeight(weight);
  });
  forEach(*package.programs(), "program", [&](const package::Program &program) {
    checkName(programs, *program.name());
    checkProgram(program, package);
  });
  if (package.texts())
    forEach(*package.texts(), "text file", [&](const package::TextFile &text) {
      checkName(texts, *text.name());
    });
}
