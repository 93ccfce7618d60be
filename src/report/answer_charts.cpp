// Charts of what a fit says of its coefficients and of the rows held out for testing.

#include <fmt/format.h>

#include "report/chart_series.hpp"
#include "report/sections.hpp"

namespace lipschitzlr::report {
namespace {

using run::FitAnswers;

constexpr std::size_t kMostCurves = 12, kMostClassesShown = 30;

// "coefficients" of the only record, "coefficients: Newton" of one of several.
std::string title_of(const std::string& what, const std::string& label, bool several) {
  return several ? what + ": " + label : what;
}

Chart coefficient_chart(const FitAnswers& answers) {
  Chart chart;
  chart.kind = ChartKind::bars;
  chart.about =
      "The features with the largest effects: what one standard deviation of a feature changes in the prediction, or "
      "in "
      "the log-odds of a class.";
  chart.x.label = "effect";
  chart.y.label = "feature";
  Series series{"effect", Role::validation, 0, {}, {}};
  for (const FitAnswers::Effect& one : answers.effects) {
    series.x.push_back(static_cast<double>(chart.names.size()));
    series.y.push_back(one.effect);
    chart.names.push_back(one.name);
  }
  chart.series.push_back(std::move(series));
  return chart;
}

// From corner to corner, to compare with.
Series diagonal(const std::string& label) { return {label, Role::authors, 7, {0, 1}, {0, 1}}; }

Chart unit_square(const std::string& title, const std::string& about, const char* x, const char* y) {
  Chart chart;
  chart.title = title;
  chart.about = about;
  chart.x.label = x;
  chart.y.label = y;
  chart.x.end = 1;
  return chart;
}

Chart confusion_chart(const FitAnswers& answers) {
  Chart chart;
  chart.kind = ChartKind::matrix;
  chart.about =
      "Test rows by true class (rows) and predicted class (columns); the darker, the larger the share of the "
      "true class.";
  chart.x.label = "predicted class";
  chart.y.label = "true class";
  chart.names = answers.labels;
  chart.matrix = answers.confusion;
  return chart;
}

}  // namespace

std::vector<Chart> answer_charts(const std::vector<const run::Record*>& records,
                                 const std::vector<std::string>& labels) {
  const bool several = records.size() > 1;
  std::vector<Chart> charts;
  Chart roc = unit_square("ROC curve of the test rows", "One class against the others where there are more than two.",
                          "false positive rate", "true positive rate");
  Chart calibration =
      unit_square("Calibration on the test rows",
                  "Rows in ten bins of their probability: of the second of two classes, otherwise of the "
                  "predicted one.",
                  "predicted probability", "observed frequency");
  Chart histogram;
  histogram.kind = ChartKind::steps;
  histogram.title = "Errors of the test rows";
  histogram.about = "The middle 99 % of the errors; what lies outside is in the outermost bins.";
  histogram.x.label = "prediction - target";
  histogram.y.label = "rows";
  for (std::size_t i = 0; i < records.size(); ++i) {
    const FitAnswers& answers = records[i]->answers;
    const int color = static_cast<int>(i);
    if (!answers.effects.empty()) {
      charts.push_back(coefficient_chart(answers));
      charts.back().title = title_of("Coefficients", labels[i], several);
    }
    for (std::size_t c = 0; c < std::min(answers.roc.size(), kMostCurves); ++c) {
      const FitAnswers::Curve& curve = answers.roc[c];
      const bool by_class = answers.roc.size() > 1;
      const std::string label = !by_class ? labels[i] : several ? labels[i] + ": " + curve.label : curve.label;
      roc.series.push_back(
          make_series(label, Role::validation, by_class ? static_cast<int>(c) : color, curve.x, curve.y));
    }
    if (!answers.calibration.x.empty()) {
      calibration.series.push_back(
          make_series(labels[i], Role::validation, color, answers.calibration.x, answers.calibration.y));
    }
    if (!answers.errors.empty()) {
      Series series{labels[i], Role::validation, color, {}, {}};
      for (std::size_t bin = 0; bin <= answers.errors.size(); ++bin) {
        series.x.push_back(answers.first_error + answers.error_width * static_cast<double>(bin));
        series.y.push_back(answers.errors[std::min(bin, answers.errors.size() - 1)]);
      }
      histogram.series.push_back(std::move(series));
    }
    if (!answers.confusion.empty() && answers.labels.size() <= kMostClassesShown) {
      charts.push_back(confusion_chart(answers));
      charts.back().title = title_of("True and predicted classes", labels[i], several);
    }
  }
  if (!roc.series.empty()) roc.series.push_back(diagonal("chance"));
  if (!calibration.series.empty()) calibration.series.push_back(diagonal("perfect"));
  for (Chart* chart : {&roc, &calibration, &histogram}) {
    if (!chart->series.empty()) charts.push_back(std::move(*chart));
  }
  return charts;
}

}  // namespace lipschitzlr::report
