#include "report/chart_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace lipschitzlr::report {
namespace {

const char* name_of(Role role) {
  switch (role) {
    case Role::validation:
      return "validation";
    case Role::training:
      return "training";
    case Role::authors:
      return "authors";
    case Role::authors_training:
      return "authors training";  // two classes of the page
    case Role::other:
      break;
  }
  return "other";
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string numbers(const std::vector<double>& values) {
  std::string text = "[";
  for (const double value : values) {
    if (text.size() > 1) text += ',';
    text += std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
  }
  return text + "]";
}

std::string axis_json(const Axis& axis) {
  std::string text = fmt::format(R"({{"label":{},"logarithmic":{})", json_text(axis.label), axis.logarithmic);
  if (std::isfinite(axis.end)) text += fmt::format(R"(,"end":{})", axis.end);
  return text + "}";
}

std::string series_json(const Series& series) {
  return fmt::format(R"({{"label":{},"role":"{}","color":{},"x":{},"y":{}}})", json_text(series.label),
                     name_of(series.role), series.color, numbers(series.x), numbers(series.y));
}

}  // namespace

std::string charts_json(const Document& document) {
  std::string text;
  for (const ChartGroup& group : document.charts) {
    for (const Chart& chart : group.charts) {
      std::string series;
      for (const Series& one : chart.series) series += (series.empty() ? "" : ",") + series_json(one);
      text += fmt::format("{}\n{{\"id\":{},\"group\":{},\"title\":{},\"small\":{},\"x\":{},\"y\":{},\"series\":[{}]}}",
                          text.empty() ? "" : ",", json_text(chart.id), json_text(group.title), json_text(chart.title),
                          chart.small, axis_json(chart.x), axis_json(chart.y), series);
    }
  }
  return "[" + text + "\n]";
}

}  // namespace lipschitzlr::report
