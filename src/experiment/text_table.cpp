#include "lipschitzlr/experiment/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lipschitzlr::experiment {
namespace {

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string gap(const std::vector<TextColumn>& columns, std::size_t column) {
  if (column == 0) return "";
  const bool same_group = !columns[column].group.empty() && columns[column].group == columns[column - 1].group;
  return same_group ? " " : "  ";
}

// Each group's heading, centred between dashes over its columns.
std::string headings(const std::vector<TextColumn>& columns, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t first = 0, after; first < columns.size(); first = after) {
    std::size_t width = widths[first];
    for (after = first + 1; after < columns.size() && gap(columns, after).size() == 1; ++after) {
      width += 1 + widths[after];
    }
    const std::string& group = columns[first].group;
    line += gap(columns, first);
    line += group.empty() ? std::string(width, ' ') : fmt::format("{:-^{}}", fmt::format(" {} ", group), width);
  }
  return trimmed(line);
}

}  // namespace

std::string draw_table(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    widths.push_back(columns[j].head.size());
    for (const auto& row : rows) widths[j] = std::max(widths[j], row[j].size());
  }
  std::string text = headings(columns, widths);
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const std::string cell = cell_of(j), padding(widths[j] - cell.size(), ' ');
      line += gap(columns, j) + (columns[j].left ? cell + padding : padding + cell);
    }
    text += trimmed(line);
  };
  add_line([&](std::size_t j) { return columns[j].head; });
  for (const auto& row : rows) add_line([&](std::size_t j) { return row[j]; });
  return text;
}

std::string format_rate(double rate) {
  if (rate >= 1e6) return fmt::format("{:.5g}M", rate / 1e6);
  return rate >= 10 ? fmt::format("{:.6g}", rate) : fmt::format("{:.5g}", rate);
}

std::string format_percent(double percent) { return fmt::format("{:.2f} %", percent); }

}  // namespace lipschitzlr::experiment
