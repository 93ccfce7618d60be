#pragma once
// Text in columns for a terminal of 100, and numbers short enough for it.

#include <string>
#include <vector>

namespace lipschitzlr::experiment {

struct TextColumn {
  std::string group;  // neighbours of the same group share a heading; empty: none
  std::string head;
  bool left = false;
};

// Columns as wide as their widest cell, one space between, two between groups; every row has a cell per column.
std::string draw_table(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& rows);

std::string format_rate(double rate);        // at most seven characters: 8.3133, 4280.23, 189.35M
std::string format_percent(double percent);  // 92.80 %

}  // namespace lipschitzlr::experiment
