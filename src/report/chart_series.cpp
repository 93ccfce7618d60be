#include "report/chart_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace lipschitzlr::report {
namespace {

using Json = nlohmann::ordered_json;

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

const char* name_of(Role role) {
  constexpr const char* names[] = {"validation", "training", "authors", "authors training",
                                   "other"};  // classes of the page
  return names[static_cast<int>(role)];
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) {
    if (std::abs(value) < 1e6 && value == std::floor(value)) {
      list.push_back(static_cast<std::int64_t>(value));
    } else {
      list.push_back(std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr));
    }
  }
  return list;
}

const char* name_of(ChartKind kind) {
  constexpr const char* names[] = {"lines", "bars", "steps", "matrix"};
  return names[static_cast<int>(kind)];
}

Json axis_json(const Axis& axis) {
  Json json = {{"label", axis.label}, {"logarithmic", axis.logarithmic}};
  if (std::isfinite(axis.end)) json["end"] = axis.end;
  return json;
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

Json charts_json(const Document& document) {
  Json list = Json::array();
  for (const ChartGroup& group : document.charts) {
    for (const Chart& chart : group.charts) {
      Json series = Json::array();
      for (const Series& one : chart.series) {
        series.push_back({{"label", one.label},
                          {"role", name_of(one.role)},
                          {"color", one.color},
                          {"x", numbers(one.x)},
                          {"y", numbers(one.y)}});
      }
      Json& added = list.emplace_back(Json{{"id", chart.id},
                                           {"group", group.title},
                                           {"title", chart.title},
                                           {"kind", name_of(chart.kind)},
                                           {"small", chart.small},
                                           {"x", axis_json(chart.x)},
                                           {"y", axis_json(chart.y)},
                                           {"series", series}});
      if (!chart.names.empty()) added["names"] = chart.names;
      if (!chart.matrix.empty()) added["matrix"] = chart.matrix;
    }
  }
  return list;
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
