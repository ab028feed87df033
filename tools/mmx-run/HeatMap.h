//===- HeatMap.h - Shares as a picture --------------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_MMXRUN_HEATMAP_H
#define MMX_TOOLS_MMXRUN_HEATMAP_H

#include <string>
#include <vector>

namespace mmx::tool {

/// A grid of coloured cells. `shares[column][row]` lies in 0..1: red is 0,
/// green 1, and the cell says it in percent.
struct HeatMap {
  std::string title, columnTitle, rowTitle;
  std::vector<std::string> columns, rows;
  std::vector<std::vector<double>> shares;

  std::string svg() const;
};

} // namespace mmx::tool

#endif // MMX_TOOLS_MMXRUN_HEATMAP_H
