#include "lipschitzlr/run/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lipschitzlr::run {
namespace {

constexpr std::size_t kLabelWidth = 10;
constexpr double kDecades = 30;
constexpr double kRounding = 1e-9;  // of a mean of equal numbers
constexpr int kEighths = 8;

// The mean of the finite values that fall into each column; a gap where there is none.
std::vector<double> columns_of(const std::vector<double>& values, std::size_t columns) {
  std::vector<double> means;
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t begin = column * values.size() / columns;
    const std::size_t end = std::max(begin + 1, (column + 1) * values.size() / columns);
    double sum = 0;
    int count = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isfinite(values[i])) continue;
      sum += values[i];
      ++count;
    }
    means.push_back(count > 0 ? sum / count : NAN);
  }
  return means;
}

struct Scale {
  double least = INFINITY, most = -INFINITY;
  bool logarithmic = false;

  explicit Scale(const std::vector<double>& values) {
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    logarithmic = least > 0 && most > kDecades * least;
  }

  // Eighths of a line from the bottom: the least value has one, the largest all, a constant half of them.
  int eighths(double value, std::size_t lines) const {
    if (!std::isfinite(value)) return 0;
    const auto at = [&](double number) { return logarithmic ? std::log(number) : number; };
    const bool constant = most - least <= kRounding * std::max(std::abs(least), std::abs(most));
    const double share = constant ? 0.5 : (at(value) - at(least)) / (at(most) - at(least));
    return 1 + static_cast<int>(std::lround(share * static_cast<double>(lines * kEighths - 1)));
  }
};

std::string block(int eighths, bool unicode) {
  constexpr std::array blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array plain = {" ", ".", ".", ".", ":", ":", ":", "#", "#"};
  const auto level = static_cast<std::size_t>(std::clamp(eighths, 0, kEighths));
  return unicode ? blocks[level] : plain[level];
}

std::string label_of(double value) { return fmt::format("{:>{}.4g}", value, kLabelWidth); }

}  // namespace

std::vector<std::string> draw_plot(const std::vector<double>& x, const std::vector<double>& y,
                                   const PlotOptions& options) {
  const bool anything = std::any_of(y.begin(), y.end(), [](double value) { return std::isfinite(value); });
  if (!anything || options.width < kLabelWidth + 12 || options.height == 0) return {};
  const std::size_t columns = options.width - kLabelWidth - 2;
  const std::vector<double> values = columns_of(y, columns);
  const Scale scale(values);
  std::vector<std::string> lines = {options.title + (scale.logarithmic ? " (log scale)" : "")};
  for (std::size_t line = 0; line < options.height; ++line) {
    const bool first = line == 0, last = line + 1 == options.height;
    const auto below = static_cast<int>((options.height - 1 - line) * kEighths);
    std::string text = first ? label_of(scale.most) : last ? label_of(scale.least) : std::string(kLabelWidth, ' ');
    text += options.unicode ? " │" : " |";
    for (const double value : values) text += block(scale.eighths(value, options.height) - below, options.unicode);
    lines.push_back(text.substr(0, text.find_last_not_of(' ') + 1));
  }
  std::string floor = std::string(kLabelWidth + 1, ' ') + (options.unicode ? "└" : "+");
  for (std::size_t i = 0; i < columns; ++i) floor += options.unicode ? "─" : "-";
  lines.push_back(floor);
  const std::string begin = fmt::format("{:.6g}", x.front()), end = fmt::format("{} {:.6g}", options.x_label, x.back());
  lines.push_back(fmt::format("{}{}{:>{}}", std::string(kLabelWidth + 2, ' '), begin, end,
                              columns - std::min(columns, begin.size())));
  return lines;
}

}  // namespace lipschitzlr::run
