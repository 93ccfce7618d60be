#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/parts.hpp"
#include "report/series.hpp"
#include "report/words.hpp"

namespace lipschitzlr::report {
namespace {

using Runs = std::vector<const RunRecord*>;

// Before the first update there is no rate.
std::vector<double> rates_of(const RunRecord& run) {
  std::vector<double> rates = run.curve("rate");
  std::replace(rates.begin(), rates.end(), 0.0, kNoNumber);
  return rates;
}

bool varies(const std::vector<double>& rates) {
  return std::any_of(rates.begin(), rates.end(), [&](double rate) {
    return std::isfinite(rate) && std::isfinite(rates.back()) && rate != rates.back();
  });
}

// One line for every run; by counts the x axis, by value the y axis.
Chart chart_of(const Runs& runs, const std::vector<std::string>& labels, const std::string& column,
               const std::string& title, const std::string& y_label) {
  Chart chart;
  chart.title = title;
  chart.x.label = "measurements of the loss, one per epoch";
  chart.y.label = y_label;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    // The first measurement comes before the first update: it is number 1, as the paper counts.
    std::vector<double> counts = runs[i]->curve("epoch");
    for (double& count : counts) count += 1;
    chart.series.push_back(make_series(labels[i], Role::other, static_cast<int>(i), counts,
                                       column == "rate" ? rates_of(*runs[i]) : runs[i]->curve(column)));
  }
  chart.x.logarithmic = spans_decades(chart.series, &Series::x);
  chart.y.logarithmic = spans_decades(chart.series, &Series::y);
  return chart;
}

ChartGroup group_of(const Runs& runs) {
  const RunRecord& first = *runs.front();
  const std::vector<std::string> labels = labels_of(runs);
  ChartGroup group;
  const bool figure = first.data == "california";
  group.title = fmt::format("{}: {}", data_title(first.data), network_title(first.model));
  group.id = identifier("fit " + group.title);
  group.about = figure ? "The paper's figure 1 shows the loss of this data set over the iterations." : "";
  group.charts.push_back(chart_of(runs, labels, "loss",
                                  figure ? "Loss over iterations (figure 1)" : "Loss over iterations",
                                  "loss on the rows trained on"));
  group.charts.push_back(chart_of(runs, labels, "gradient_norm", "Norm of the gradient", "||gradient||"));
  if (std::any_of(runs.begin(), runs.end(), [](const RunRecord* run) { return varies(rates_of(*run)); })) {
    group.charts.push_back(chart_of(runs, labels, "rate", "Learning rate", "rate"));
  }
  for (Chart& chart : group.charts) chart.id = identifier(group.id + " " + chart.title);
  return group;
}

}  // namespace

void add_linear_charts(const Collection& collection, Document& document) {
  std::vector<Runs> groups;
  for (const RunRecord& run : collection.runs) {
    if (run.kind != RecordKind::linear || run.length() == 0) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Runs& runs) {
      return runs.front()->data == run.data && runs.front()->model == run.model;
    });
    if (same == groups.end()) {
      groups.push_back({&run});
    } else {
      same->push_back(&run);
    }
  }
  for (const Runs& runs : groups) document.charts.push_back(group_of(runs));
}

}  // namespace lipschitzlr::report
