#include "report/series.hpp"

#include <algorithm>
#include <cmath>

namespace lipschitzlr::report {
namespace {

constexpr std::size_t kMostPoints = 600, kFirstPoints = 200;
constexpr double kDecades = 30;
constexpr std::size_t kMostOfAll = 60000, kWhole = 10;  // points; about 12 bytes each

// All of a short curve. Of a long one the first points, where most happens, then ever fewer, and the last.
std::size_t next_kept(std::size_t i, std::size_t count) {
  if (count <= kMostPoints || i < kFirstPoints || i + 1 == count) return i + 1;
  const double growth = std::pow(static_cast<double>(count) / kFirstPoints, 1.0 / (kMostPoints - kFirstPoints));
  const auto next = static_cast<std::size_t>(std::ceil(static_cast<double>(i) * growth));
  return std::min(std::max(next, i + 1), count - 1);
}

}  // namespace

Series make_series(const std::string& label, Role role, int color, const std::vector<double>& x,
                   const std::vector<double>& y) {
  Series series{label, role, color, {}, {}};
  const std::size_t count = std::min(x.size(), y.size());
  for (std::size_t i = 0; i < count; i = next_kept(i, count)) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    series.x.push_back(x[i]);
    series.y.push_back(y[i]);
  }
  return series;
}

void thin_out(std::vector<ChartGroup>& groups) {
  const auto each = [&](auto&& action) {
    for (ChartGroup& group : groups) {
      for (Chart& chart : group.charts) {
        for (Series& series : chart.series) action(series);
      }
    }
  };
  std::size_t total = 0;
  each([&](const Series& series) { total += series.x.size(); });
  if (total <= kMostOfAll) return;
  // What stays whole of every curve is not there to be shared out.
  std::size_t fixed = 0;
  each([&](const Series& series) { fixed += std::min(series.x.size(), kWhole + 1); });
  const std::size_t room = std::max(kMostOfAll, fixed + 1) - fixed;
  const std::size_t step = (total - fixed + room - 1) / room;
  each([&](Series& series) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (i >= kWhole && i + 1 < series.x.size() && (i - kWhole) % step != 0) continue;
      series.x[kept] = series.x[i];
      series.y[kept++] = series.y[i];
    }
    series.x.resize(kept);
    series.y.resize(kept);
  });
}

bool spans_decades(const std::vector<Series>& series, std::vector<double> Series::*axis) {
  double least = INFINITY, most = 0;
  for (const Series& one : series) {
    for (const double value : one.*axis) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  return least > 0 && most > kDecades * least;
}

std::string identifier(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    const bool plain = std::isalnum(code) != 0 && code < 128;
    if (plain) result += static_cast<char>(std::tolower(code));
    if (!plain && !result.empty() && result.back() != '-') result += '-';
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  return result.empty() ? "part" : result;
}

}  // namespace lipschitzlr::report
