//===- HeatMap.cpp - Shares as a picture ----------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeatMap.h"

#include <cmath>
#include <sstream>

using namespace mmx::tool;

static constexpr int cellWidth = 64, cellHeight = 28, left = 88, top = 64;

static std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

static void label(std::ostream &out, double x, double y, const char *anchor,
                  const std::string &text) {
  out << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor
      << "\">" << escaped(text) << "</text>\n";
}

std::string HeatMap::svg() const {
  int width = left + cellWidth * int(columns.size()) + 24;
  int height = top + cellHeight * int(rows.size()) + 48;
  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width
      << "\" height=\"" << height
      << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  label(out, width / 2.0, 24, "middle", title);
  label(out, left - 8, top - 12, "end", rowTitle);
  for (size_t row = 0; row < rows.size(); ++row)
    label(out, left - 8, top + cellHeight * (row + 0.5) + 4, "end", rows[row]);
  for (size_t column = 0; column < columns.size(); ++column) {
    double x = left + cellWidth * double(column);
    label(out, x + cellWidth / 2.0, top + cellHeight * rows.size() + 18,
          "middle", columns[column]);
    for (size_t row = 0; row < rows.size(); ++row) {
      double share = shares[column][row], y = top + cellHeight * double(row);
      out << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << cellWidth
          << "\" height=\"" << cellHeight << "\" stroke=\"white\" fill=\"hsl("
          << std::lround(share * 120) << ",60%,70%)\"/>\n";
      label(out, x + cellWidth / 2.0, y + cellHeight / 2.0 + 4, "middle",
            std::to_string(std::lround(share * 100)));
    }
  }
  label(out, left + cellWidth * columns.size() / 2.0, height - 10, "middle",
        columnTitle);
  out << "</svg>\n";
  return std::move(out).str();
}
