//===- Inspect.cpp - Prints a package -------------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "runtime/package/Element.h"
#include "runtime/package/Package.h"
#include "runtime/support/Error.h"
#include "runtime/weights/WeightLoader.h"

#include <filesystem>
#include <iostream>
#include <map>

using namespace mmx;
using namespace mmx::runtime;
using namespace mmx::tool;

/// An expression as a formula; `symbols` names its symbols.
static std::string formula(const package::Expression &expression,
                           std::span<const char *const> symbols) {
  static constexpr const char *operators[] = {" + ", " * ", " / ", " /^ ",
                                              " % "};
  std::vector<std::string> stack;
  const auto &code = *expression.code();
  for (uint32_t i = 0; i < code.size(); i += 2) {
    int64_t opcode = code.Get(i), operand = code.Get(i + 1);
    if (opcode == int64_t(package::Opcode::Constant)) {
      stack.push_back(std::to_string(operand));
    } else if (opcode == int64_t(package::Opcode::Symbol)) {
      stack.push_back(operand < int64_t(symbols.size()) ? symbols[operand]
                                                        : concat("n", operand));
    } else {
      std::string right = std::move(stack.back());
      stack.pop_back();
      std::string both = stack.back() +
                         operators[opcode - int64_t(package::Opcode::Add)] +
                         right;
      bool last = i + 2 == code.size();
      stack.back() = last ? both : "(" + both + ")";
    }
  }
  return stack.back();
}

template <typename Vector>
static std::string formulas(const Vector &list,
                            std::span<const char *const> symbols) {
  std::vector<std::string> texts;
  for (const package::Expression *expression : list)
    texts.push_back(formula(*expression, symbols));
  return listText(texts);
}

static constexpr const char *stepNames[] = {"tokens", "sequences", "outputs",
                                            "slots",  "rows",      "columns"};

static std::string layout(int64_t panel, int64_t along) {
  return panel > 0 ? concat(", panels of ", panel, " along ", along) : "";
}

static void printModel(const package::Package &package) {
  const package::Model &model = *package.model();
  std::cout << "producer    "
            << (package.producer() ? package.producer()->str() : "") << "\n"
            << "target      " << package.target()->str() << ", "
            << (package.dtype() ? package.dtype()->str() : "f32") << "\n";
  if (package.features() && package.features()->size() > 0) {
    std::cout << "features   ";
    for (const flatbuffers::String *feature : *package.features())
      std::cout << " " << feature->str();
    std::cout << "\n";
  }
  std::cout << "model       " << (model.type() ? model.type()->str() : "")
            << ", " << model.layers() << " layers ("
            << (model.softmax_layers() ? model.softmax_layers()->size() : 0)
            << " softmax), hidden " << model.hidden() << ", " << model.heads()
            << " heads of " << model.head_dim() << " (" << model.kv_heads()
            << " kv), " << model.experts() << " experts, vocab "
            << model.vocab() << ", " << model.parameters() << " parameters\n";
  uint64_t objectBytes = 0, ptxBytes = 0;
  for (const package::Object *object : *package.objects()) {
    objectBytes += object->data()->size();
    ptxBytes += object->ptx() ? object->ptx()->size() : 0;
  }
  int64_t weightBytes = 0;
  for (const package::Weight *weight : *package.weights())
    weightBytes += runtime::weightBytes(*weight);
  std::cout << "objects     " << package.objects()->size() << ", "
            << objectBytes << " bytes"
            << (ptxBytes > 0 ? concat(", ", ptxBytes, " bytes of PTX") : "")
            << "\n"
            << "weights     " << package.weights()->size() << ", "
            << weightBytes << " bytes\n";
  if (!package.texts())
    return;
  std::cout << "texts      ";
  for (const package::TextFile *text : *package.texts())
    std::cout << " " << text->name()->str() << " (" << text->data()->size()
              << " bytes)";
  std::cout << "\n";
}

/// What a launch on a GPU needs, after the scratch.
static std::string gpuText(const package::GpuKernel &kernel) {
  std::string text = concat(" a block, ", kernel.threads(), " threads, ",
                            kernel.shared(), " bytes shared");
  if (kernel.cluster())
    text += concat(", clusters of ", listText(*kernel.cluster()));
  if (kernel.tensor_maps() && kernel.tensor_maps()->size() > 0)
    text += concat(", ", kernel.tensor_maps()->size(), " tensor maps");
  if (kernel.registers() > 0)
    text += concat(", ", kernel.registers(), " registers");
  if (kernel.spills() > 0)
    text += concat(", ", kernel.spills(), " bytes spilled");
  return text;
}

/// Kernels with the number of launches in each program.
static void printKernels(const package::Package &package) {
  std::cout << "\nkernels     " << package.kernels()->size() << "\n";
  for (uint32_t i = 0; i < package.kernels()->size(); ++i) {
    const package::Kernel &kernel = *package.kernels()->Get(i);
    std::cout << "  " << kernel.name()->str() << "  grid "
              << formulas(*kernel.grid(), {}) << ", scratch "
              << kernel.scratch()
              << (kernel.gpu() ? gpuText(*kernel.gpu()) : "");
    for (const package::Program *program : *package.programs()) {
      int64_t launches = 0;
      for (const package::Launch *launch : *program->launches())
        launches += launch->kernel() == i;
      std::cout << ", " << program->name()->str() << " x" << launches;
    }
    std::cout << "\n";
  }
}

static std::string describe(const package::Buffer &buffer,
                            const package::Package &package) {
  std::string text = concat(formulas(*buffer.shape(), stepNames), " ",
                            package::EnumNameElement(buffer.element()),
                            layout(buffer.panel(), buffer.along()));
  switch (buffer.kind()) {
  case package::BufferKind::Input:
    return concat("input \"", buffer.role()->str(), "\" ", text);
  case package::BufferKind::Weight:
    return concat("weight ",
                  package.weights()->Get(buffer.weight())->name()->str(), " ",
                  text);
  case package::BufferKind::Constant:
    return "constant " + text;
  case package::BufferKind::Temporary:
    return concat("at ", formula(*buffer.offset(), stepNames), " ", text);
  }
  return text;
}

static void printPlan(const package::Package &package) {
  for (const package::Program *program : *package.programs()) {
    std::cout << "\nprogram " << program->name()->str() << "\n";
    if (program->arena())
      std::cout << "  arena " << formula(*program->arena(), stepNames) << "\n";
    for (uint32_t i = 0; i < program->buffers()->size(); ++i)
      std::cout << "  %" << i << " = "
                << describe(*program->buffers()->Get(i), package) << "\n";
    for (const package::Launch *launch : *program->launches()) {
      std::cout << "  "
                << package.kernels()->Get(launch->kernel())->name()->str()
                << "(";
      const char *separator = "";
      for (uint32_t buffer : *launch->buffers()) {
        std::cout << separator << "%" << buffer;
        separator = ", ";
      }
      std::cout << ") extents " << formulas(*launch->extents(), stepNames);
      if (launch->label())
        std::cout << "  // " << launch->label()->str();
      std::cout << "\n";
    }
  }
}

static void printWeights(const package::Package &package) {
  std::cout << "\nweights\n";
  for (const package::Weight *weight : *package.weights()) {
    std::cout << "  " << weight->name()->str() << " "
              << listText(*weight->shape()) << " "
              << package::EnumNameElement(weight->element())
              << layout(weight->panel(), weight->along()) << " from";
    const package::Source &first = *weight->sources()->Get(0);
    std::cout << " " << first.name()->str();
    if (first.index() >= 0)
      std::cout << "[" << first.index() << "]";
    if (first.rows() > 0)
      std::cout << "[" << first.first() << ":" << first.first() + first.rows()
                << "]";
    if (weight->sources()->size() > 1)
      std::cout << " and " << weight->sources()->size() - 1 << " more";
    std::cout << "\n";
  }
}

int mmx::tool::inspect(const InspectOptions &options) {
  if (std::filesystem::is_directory(options.package))
    fail(options.package, ": expected a package, but got a directory; "
                          "mmx-compile DIR -o model.mmx makes one");
  std::shared_ptr<const Package> package = Package::open(options.package);
  printModel(**package);
  printKernels(**package);
  for (const package::Program *program : *(*package)->programs())
    std::cout << "program     " << program->name()->str() << ": "
              << program->launches()->size() << " launches, "
              << program->buffers()->size() << " buffers\n";
  if (options.plan) {
    printWeights(**package);
    printPlan(**package);
  }
  return 0;
}
