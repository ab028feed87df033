//===- WeightLoader.cpp - Fills the weights of a package ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/WeightLoader.h"

#include "runtime/package/Element.h"
#include "runtime/support/Error.h"

#include <algorithm>
#include <cstring>
#include <span>

using namespace mmx;
using namespace mmx::runtime;

/// Elements of a piece, about: a megabyte or two.
static constexpr int64_t pieceElements = 1 << 19;

static std::vector<int64_t> shapeOf(const package::Weight &weight) {
  return {weight.shape()->begin(), weight.shape()->end()};
}

static int64_t product(std::span<const int64_t> shape) {
  return checkedProduct(shape).value();
}

/// The shape as stored: the extent `along` rounded up to whole panels.
static std::vector<int64_t> storedShape(const package::Weight &weight) {
  std::vector<int64_t> shape = shapeOf(weight);
  if (int64_t panel = weight.panel())
    shape[weight.along()] = (shape[weight.along()] + panel - 1) / panel * panel;
  return shape;
}

int64_t mmx::runtime::weightBytes(const package::Weight &weight) {
  std::optional<int64_t> count = checkedProduct(storedShape(weight));
  if (!count)
    fail("weight \"", weight.name()->str(), "\" is too large");
  return *count * elementSize(weight.element());
}

/// Checks `part`, the shape that the source must fill, against the tensor;
/// returns the element of the tensor that the part starts at.
static int64_t locate(const package::Source &source, const TensorInfo &tensor,
                      std::span<const int64_t> part) {
  std::vector<int64_t> left = tensor.shape;
  int64_t first = 0;
  if (source.index() >= 0) {
    if (left.empty() || source.index() >= left[0])
      fail("expected more than ", source.index(),
           " elements along the first dimension, but got the shape ",
           listText(tensor.shape));
    left.erase(left.begin());
    first = source.index() * product(left);
  }
  if (source.rows() > 0) {
    if (left.empty() || source.first() + source.rows() > left[0])
      fail("expected at least ", source.first() + source.rows(),
           " rows, but got the shape ", listText(tensor.shape));
    left[0] = source.rows();
    first += source.first() * product(std::span(left).subspan(1));
  }
  if (!std::ranges::equal(left, part))
    fail("expected the shape ", listText(part), ", but got ", listText(left),
         left == tensor.shape ? ""
                              : concat(" as part of ", listText(tensor.shape)));
  return first;
}

/// Appends the pieces that `source` fills: `part` of the weight, which starts
/// at byte `offset`.
static void planPart(const package::Weight &weight, WeightPiece piece,
                     std::span<const int64_t> part, int64_t along,
                     std::vector<WeightPiece> &pieces) {
  int64_t size = elementSize(weight.element()), total = product(part);
  if (weight.panel() == 0) {
    for (int64_t done = 0; done < total; done += piece.count) {
      piece.count = std::min(pieceElements, total - done);
      piece.bytes = piece.count * size;
      pieces.push_back(piece);
      piece.first += piece.count;
      piece.offset += piece.bytes;
    }
    return;
  }
  int64_t extent = part[along], panel = weight.panel();
  int64_t outer = product(part.first(along));
  piece.panel = panel;
  piece.inner = product(part.subspan(along + 1));
  int64_t step =
      std::max<int64_t>(1, pieceElements /
                               std::max<int64_t>(1, panel * piece.inner)) *
      panel;
  for (int64_t i = 0; i < outer; ++i) {
    for (int64_t row = 0; row < extent; row += step) {
      int64_t rows = std::min(step, extent - row);
      piece.count = rows * piece.inner;
      piece.bytes = (rows + panel - 1) / panel * panel * piece.inner * size;
      pieces.push_back(piece);
      piece.first += piece.count;
      piece.offset += piece.bytes;
    }
  }
}

/// Appends the pieces of weight number `number`.
static void planWeight(const package::Weight &weight, int64_t number,
                       const TensorSource &source,
                       std::vector<WeightPiece> &pieces) {
  std::vector<int64_t> shape = shapeOf(weight);
  std::span<const int64_t> part = shape;
  int64_t along = weight.along(), sources = weight.sources()->size();
  if (sources > 1) {
    part = part.subspan(1);
    along -= 1;
  }
  int64_t partBytes = weightBytes(weight) / sources;
  for (int64_t i = 0; i < sources; ++i) {
    const package::Source &from = *weight.sources()->Get(i);
    const TensorInfo *tensor = source.find(from.name()->string_view());
    if (!tensor)
      fail(source.describe(from.name()->string_view()), ": is missing");
    WeightPiece piece = {};
    piece.weight = number;
    piece.offset = i * partBytes;
    piece.tensor = tensor;
    piece.element = weight.element();
    try {
      piece.first = locate(from, *tensor, part);
    } catch (const Error &error) {
      fail(source.describe(tensor->name), ": ", error.what());
    }
    planPart(weight, piece, part, along, pieces);
  }
}

std::vector<WeightPiece>
mmx::runtime::planWeights(const package::Package &package,
                          const TensorSource &source) {
  std::vector<WeightPiece> pieces;
  int64_t number = 0;
  for (const package::Weight *weight : *package.weights())
    planWeight(*weight, number++, source, pieces);
  return pieces;
}

/// Brings rows of `inner` elements into panels: element (r, c) goes to
/// (r / panel, c, r % panel). The rest of the last panel stays as it is.
template <typename T>
static void fillPanels(const std::byte *rows, int64_t count, int64_t inner,
                       int64_t panel, std::byte *out) {
  auto *from = reinterpret_cast<const T *>(rows);
  auto *to = reinterpret_cast<T *>(out);
  for (int64_t begin = 0; begin < count; begin += panel) {
    int64_t height = std::min(panel, count - begin);
    for (int64_t c = 0; c < inner; ++c)
      for (int64_t r = 0; r < height; ++r)
        to[(begin * inner) + c * panel + r] = from[(begin + r) * inner + c];
  }
}

void mmx::runtime::readPiece(const WeightPiece &piece,
                             const TensorSource &source, std::byte *out) {
  if (piece.panel == 0) {
    source.read(*piece.tensor, piece.first, piece.count, piece.element, out);
  } else {
    int64_t size = elementSize(piece.element);
    std::vector<std::byte> rows(piece.count * size);
    source.read(*piece.tensor, piece.first, piece.count, piece.element,
                rows.data());
    std::memset(out, 0, piece.bytes);
    int64_t count = piece.inner == 0 ? 0 : piece.count / piece.inner;
    auto fill = size == 2 ? fillPanels<uint16_t> : fillPanels<uint32_t>;
    fill(rows.data(), count, piece.inner, piece.panel, out);
  }
  source.drop(*piece.tensor, piece.first, piece.count);
}

std::vector<int32_t> mmx::runtime::tokenlessIds(const TensorSource &source,
                                                int64_t vocab) {
  const TensorInfo *head = source.find("lm_head.weight");
  if (!head)
    head = source.find("model.embed_tokens.weight");
  if (!head || head->shape.size() != 2 || head->shape[0] != vocab)
    return {};
  int64_t width = head->shape[1];
  std::vector<int32_t> result;
  std::vector<float> row(width);
  for (int64_t id = 0; id < vocab; ++id) {
    // Nearly every row has something in its first elements.
    bool zero = true;
    for (int64_t done = 0; zero && done < width;) {
      int64_t count = std::min<int64_t>(done == 0 ? 16 : 4096, width - done);
      source.read(*head, id * width + done, count, package::Element::F32,
                  reinterpret_cast<std::byte *>(row.data()));
      zero = std::all_of(row.begin(), row.begin() + count,
                         [](float value) { return value == 0; });
      done += count;
    }
    if (zero)
      result.push_back(int32_t(id));
  }
  source.drop(*head, 0, vocab * width);
  return result;
}
