#pragma once
// A curve as lines of text for a terminal: columns of blocks over a labelled frame. A pure function of its numbers; no
// escape codes.

#include <string>
#include <vector>

namespace lipschitzlr::run {

struct PlotOptions {
  std::string title;       // the scale is added when it is logarithmic
  std::string x_label;     // "epoch"
  std::size_t width = 72;  // of a line, in characters
  std::size_t height = 6;  // of the columns, in lines
  bool unicode = true;     // eighths of a block, otherwise . : #
};

// x grows; values that are no numbers leave a gap. Logarithmic when all values are above zero and the largest is more
// than 30 times the smallest. No lines when there is nothing to draw.
std::vector<std::string> draw_plot(const std::vector<double>& x, const std::vector<double>& y,
                                   const PlotOptions& options);

}  // namespace lipschitzlr::run
